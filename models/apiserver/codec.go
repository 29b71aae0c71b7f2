package apiserver

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// decodeBody reads the object in a create or update request and fills its defaults.
func (c *call) decodeBody() (*object, error) {
	body := c.req.Body
	o, strict, err := c.decode(body, c.ver)
	if err != nil {
		return nil, c.decodeError(body, err)
	}
	if len(strict) > 0 {
		switch c.validation {
		case metav1.FieldValidationStrict:
			return nil, c.decodeError(body, runtime.NewStrictDecodingError(strict))
		case metav1.FieldValidationWarn:
			c.warnAll(strict)
		}
	}
	return o, nil
}

func (c *call) warnAll(errs []error) {
	for _, err := range errs {
		c.warn(err.Error())
	}
}

// typeOf reads the type of a body. The struct is anonymous because its text is part of a message.
func typeOf(body []byte) (apiVersion, kind string, err error) {
	find := struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}{}
	if err := json.Unmarshal(body, &find); err != nil {
		return "", "", fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	return find.APIVersion, find.Kind, nil
}

// decodeError words a decoding failure as endpoints/handlers/rest.go (transformDecodeError) does.
func (c *call) decodeError(body []byte, err error) error {
	if _, ok := err.(apierrors.APIStatus); ok {
		return err
	}
	apiVersion, kind, typeErr := typeOf(body)
	if typeErr == nil && c.kind.builtin != nil {
		// A built-in body may leave its type out.
		if kind == "" {
			kind = c.kind.kind
		}
		if apiVersion == "" {
			apiVersion = c.ver.apiVersion()
		}
	}
	if kind != "" && typeErr == nil {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v",
			kind, apiVersion[strings.LastIndex(apiVersion, "/")+1:], c.kind.kind, err))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)",
		c.kind.kind, err, summary(body)))
}

// summary shows the start of a body: as text when it looks like JSON, else in hexadecimal.
func summary(body []byte) string {
	const limit = 30
	short, more := body, ""
	if len(body) > limit {
		short, more = body[:limit], " ..."
	}
	switch {
	case len(body) == 0:
		return "<empty>"
	case body[0] == '{':
		return string(short) + more
	default:
		return hex.EncodeToString(short) + more
	}
}

// decode reads an object of that version. Unknown and repeated fields come back as strict errors, unless they are to be
// ignored.
func (c *call) decode(body []byte, ver *version) (o *object, strict []error, err error) {
	if ver.kind.builtin == nil {
		return c.decodeCustom(body, ver)
	}
	typed := ver.newObject()
	apiVersion, kind, err := typeOf(body)
	if err != nil {
		return nil, nil, err
	}
	if err := c.checkType(apiVersion, kind, ver); err != nil {
		return nil, nil, err
	}
	if c.validation == metav1.FieldValidationIgnore {
		err = kjson.UnmarshalCaseSensitivePreserveInts(body, typed)
	} else {
		strict, err = kjson.UnmarshalStrict(body, typed)
	}
	if err != nil {
		return nil, nil, err
	}
	return c.draftOf(typed, ver), strict, nil
}

// draftOf makes a draft in storage version from a decoded built-in object.
func (c *call) draftOf(typed runtime.Object, ver *version) *object {
	if ver.stored != nil {
		typed = ver.stored(typed)
	}
	storage := ver.kind.storage
	if defaults := storage.kind.builtin.defaults; defaults != nil {
		defaults(typed)
	}
	return &object{ver: storage, typed: typed, meta: metaOf(typed)}
}

// schemeName is how messages of a trimmed kube-apiserver build name its scheme.
const schemeName = `"pkg/runtime/scheme.go:111"`

// checkType refuses a body of another type.
func (c *call) checkType(apiVersion, kind string, ver *version) error {
	if kind == "" {
		kind = ver.kind.kind
	}
	if apiVersion == "" {
		apiVersion = ver.apiVersion()
	}
	if kind == ver.kind.kind && apiVersion == ver.apiVersion() {
		return nil
	}
	group, name, found := strings.Cut(apiVersion, "/")
	if !found {
		group, name = "", apiVersion
	}
	for _, other := range builtinKinds().order {
		if other.group == group && other.kind == kind && other.version(name) != nil {
			if kind == ver.kind.kind {
				return apierrors.NewBadRequest(fmt.Sprintf(
					"the API version in the data (%s) does not match the expected API version (%s)", apiVersion, ver.apiVersion()))
			}
			return fmt.Errorf("converting (%s.%s) to (%s.%s): unknown conversion", name, kind, internalPackage(ver.kind.group), ver.kind.kind)
		}
	}
	return fmt.Errorf("no kind %q is registered for version %q in scheme %s", kind, apiVersion, schemeName)
}

// internalPackage is the Go package that holds a group's internal types.
func internalPackage(group string) string {
	if group == "" {
		return "core"
	}
	name, _, _ := strings.Cut(group, ".")
	return name
}

func (c *call) checkCustomType(apiVersion string, content map[string]any, ver *version) error {
	if apiVersion == ver.apiVersion() {
		return nil
	}
	if strings.HasPrefix(apiVersion, ver.kind.group+"/") && c.validation == metav1.FieldValidationWarn {
		// No schema is known for that version, so everything is unknown.
		for _, name := range sortedKeys(content) {
			if name != "kind" && name != "apiVersion" && name != "metadata" {
				c.warn(fmt.Sprintf("unknown field %q", name))
			}
		}
	}
	return apierrors.NewBadRequest(fmt.Sprintf(
		"the API version in the data (%s) does not match the expected API version (%s)", apiVersion, ver.apiVersion()))
}

// decodeCustom reads a custom object: its metadata is typed, the rest is pruned and defaulted by its schema.
func (c *call) decodeCustom(body []byte, ver *version) (*object, []error, error) {
	var (
		content map[string]any
		strict  []error
		err     error
	)
	if c.validation == metav1.FieldValidationIgnore {
		err = kjson.UnmarshalCaseSensitivePreserveInts(body, &content)
	} else {
		strict, err = kjson.UnmarshalStrict(body, &content)
	}
	if err != nil {
		if _, _, typeErr := typeOf(body); typeErr != nil {
			err = typeErr
		}
		return nil, nil, err
	}
	if kind, _ := content["kind"].(string); kind == "" {
		return nil, nil, runtime.NewMissingKindErr(string(body))
	}
	apiVersion, _ := content["apiVersion"].(string)
	if err := c.checkCustomType(apiVersion, content, ver); err != nil {
		return nil, nil, err
	}
	o, unknown, err := c.customDraft(content, ver)
	return o, append(strict, unknown...), err
}

// customDraft makes a draft in the request's version from decoded content, which it takes over.
func (c *call) customDraft(content map[string]any, ver *version) (*object, []error, error) {
	o := &object{ver: ver}
	if o.sentKind, _ = content["kind"].(string); o.sentKind == "" {
		return nil, nil, runtime.NewMissingKindErr(string(appendJSON(nil, content)))
	}
	o.sentVersion, _ = content["apiVersion"].(string)
	meta, unknown, err := c.readMeta(content)
	if err != nil {
		return nil, nil, err
	}
	if len(meta.ManagedFields) == 0 {
		meta.ManagedFields = nil // metadata is written anew, which leaves an empty list out: it clears nothing here
	}
	content["kind"], content["apiVersion"] = ver.kind.kind, ver.apiVersion()
	more, err := ver.schema.coerce(content, c.validation != metav1.FieldValidationIgnore)
	if err != nil {
		return nil, nil, err
	}
	var strict []error
	for _, path := range append(unknown, more...) {
		strict = append(strict, fmt.Errorf("unknown field %q", path))
	}
	ver.schema.fillDefaults(content)
	delete(content, "kind")
	delete(content, "apiVersion")
	delete(content, "metadata")
	o.meta, o.rest = meta, content
	return o, strict, nil
}

// readMeta reads typed metadata out of decoded content and returns the paths of fields that metadata does not have.
func (c *call) readMeta(content map[string]any) (*metav1.ObjectMeta, []string, error) {
	value, found := content["metadata"]
	if !found || value == nil {
		return &metav1.ObjectMeta{}, nil, nil
	}
	fields, annotations := withoutAnnotations(value)
	raw, meta := appendJSON(nil, fields), &metav1.ObjectMeta{Annotations: annotations}
	if c.validation == metav1.FieldValidationIgnore {
		err := kjson.UnmarshalCaseSensitivePreserveInts(raw, meta)
		return meta, nil, err
	}
	strict, err := kjson.UnmarshalStrict(raw, meta)
	if err != nil {
		return nil, nil, err
	}
	var unknown []string
	for _, e := range strict {
		var f kjson.FieldError
		if errors.As(e, &f) {
			unknown = append(unknown, "metadata."+f.FieldPath())
		}
	}
	return meta, unknown, nil
}

// withoutAnnotations takes annotations that are what they should be, strings, out of metadata: they may be long, and need no
// decoder. Others stay in it, for the decoder to complain of.
func withoutAnnotations(metadata any) (fields any, annotations map[string]string) {
	all, _ := metadata.(map[string]any)
	said, _ := all["annotations"].(map[string]any)
	if len(said) == 0 {
		return metadata, nil
	}
	annotations = make(map[string]string, len(said))
	for key, value := range said {
		text, ok := value.(string)
		if !ok {
			return metadata, nil
		}
		annotations[key] = text
	}
	rest := maps.Clone(all)
	delete(rest, "annotations")
	return rest, annotations
}

// fromDocument makes a draft from a patched document, which it takes over.
func (c *call) fromDocument(content map[string]any, ver *version) (*object, []error, error) {
	if ver.kind.builtin == nil {
		return c.customDraft(content, ver)
	}
	typed := ver.newObject()
	apiVersion, _ := content["apiVersion"].(string)
	kind, _ := content["kind"].(string)
	if err := c.checkType(apiVersion, kind, ver); err != nil {
		return nil, nil, err
	}
	err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(content, typed, c.validation != metav1.FieldValidationIgnore)
	var strict []error
	if err != nil {
		s, ok := runtime.AsStrictDecodingError(err)
		if !ok {
			return nil, nil, err
		}
		strict = s.Errors()
	}
	return c.draftOf(typed, ver), strict, nil
}

// inVersion is the object as decoded JSON in the version of the request, for patches; deeper parts are shared.
func (c *call) inVersion(o *object) map[string]any {
	if c.ver != o.ver && c.ver.converted != nil {
		typed := c.ver.converted(o.typed)
		return (&object{ver: c.ver, typed: typed, meta: metaOf(typed)}).document()
	}
	return o.in(c.ver).document()
}

// convert encodes a stored object in another version of its kind.
func (v *version) convert(o *object) []byte {
	if v.converted != nil {
		typed := v.converted(o.typed)
		return (&object{ver: v, typed: typed, meta: metaOf(typed)}).encode()
	}
	return o.in(v).encode()
}
