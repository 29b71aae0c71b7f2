package object

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// Decoder reads objects.
type Decoder struct {
	// Validation is what to do about unknown and repeated fields: Ignore, Warn or Strict.
	Validation string
	// Known reports whether a built-in type is served; nil for none.
	Known func(group, version, kind string) bool
	Warn  func(text string)
}

func (d Decoder) ignores() bool { return d.Validation == metav1.FieldValidationIgnore }

// WarnAll turns errors into warnings.
func (d Decoder) WarnAll(errs []error) {
	for _, err := range errs {
		d.Warn(err.Error())
	}
}

// TypeOf reads the type of a body. The struct is anonymous because its text is part of a message.
func TypeOf(body []byte) (apiVersion, kind string, err error) {
	find := struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}{}
	if err := json.Unmarshal(body, &find); err != nil {
		return "", "", fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	return find.APIVersion, find.Kind, nil
}

// Decode reads an object of that version. Unknown and repeated fields come back as strict errors,
// unless they are to be ignored.
func (d Decoder) Decode(body []byte, ver *Version) (o *Object, strict []error, err error) {
	if !ver.Type.Builtin {
		return d.decodeCustom(body, ver)
	}
	if bytes.HasPrefix(body, []byte(ver.Prefix)) {
		// Clients in Go write the type first. Reading it from a whole body takes half of the time.
		typed, strict, err := d.decodeTyped(body, ver)
		if err == nil && typed.GetObjectKind().GroupVersionKind() == ver.GVK() {
			return DraftOf(typed, ver), strict, nil
		}
	}
	apiVersion, kind, err := TypeOf(body)
	if err != nil {
		return nil, nil, err
	}
	if err := d.checkType(apiVersion, kind, ver); err != nil {
		return nil, nil, err
	}
	typed, strict, err := d.decodeTyped(body, ver)
	if err != nil {
		return nil, nil, err
	}
	return DraftOf(typed, ver), strict, nil
}

func (d Decoder) decodeTyped(body []byte, ver *Version) (typed runtime.Object, strict []error, err error) {
	typed = ver.New()
	if d.ignores() {
		err = kjson.UnmarshalCaseSensitivePreserveInts(body, typed)
	} else {
		strict, err = kjson.UnmarshalStrict(body, typed)
	}
	return typed, strict, err
}

// DraftOf makes a draft in storage version from a decoded built-in object.
func DraftOf(typed runtime.Object, ver *Version) *Object {
	if ver.ToStored != nil {
		typed = ver.ToStored(typed)
	}
	storage := ver.Type.Storage
	if defaults := storage.Type.Defaults; defaults != nil {
		defaults(typed)
	}
	return &Object{Version: storage, Typed: typed, Meta: MetaOf(typed)}
}

// otherVersion refuses data of another version than the one that the request names.
func otherVersion(apiVersion string, ver *Version) error {
	return apierrors.NewBadRequest(fmt.Sprintf(
		"the API version in the data (%s) does not match the expected API version (%s)", apiVersion, ver.APIVersion()))
}

// NoKindError refuses data of an unknown type. The message names the scheme as a trimmed
// kube-apiserver build does.
func NoKindError(kind, apiVersion string) error {
	return fmt.Errorf("no kind %q is registered for version %q in scheme %s",
		kind, apiVersion, `"pkg/runtime/scheme.go:111"`)
}

// checkType refuses a body of another type.
func (d Decoder) checkType(apiVersion, kind string, ver *Version) error {
	if kind == "" {
		kind = ver.Type.Kind
	}
	if apiVersion == "" {
		apiVersion = ver.APIVersion()
	}
	if kind == ver.Type.Kind && apiVersion == ver.APIVersion() {
		return nil
	}
	group, name, found := strings.Cut(apiVersion, "/")
	if !found {
		group, name = "", apiVersion
	}
	switch known := d.Known != nil && d.Known(group, name, kind); {
	case !known:
		return NoKindError(kind, apiVersion)
	case kind == ver.Type.Kind:
		return otherVersion(apiVersion, ver)
	}
	return fmt.Errorf("converting (%s.%s) to (%s.%s): unknown conversion",
		name, kind, InternalPackage(ver.Type.Group), ver.Type.Kind)
}

// InternalPackage is the Go package that holds a group's internal types.
func InternalPackage(group string) string {
	if group == "" {
		return "core"
	}
	name, _, _ := strings.Cut(group, ".")
	return name
}

func (d Decoder) checkCustomType(apiVersion string, content map[string]any, ver *Version) error {
	if apiVersion == ver.APIVersion() {
		return nil
	}
	if strings.HasPrefix(apiVersion, ver.Type.Group+"/") && d.Validation == metav1.FieldValidationWarn {
		// No schema is known for that version, so everything is unknown.
		for _, name := range slices.Sorted(maps.Keys(content)) {
			if name != "kind" && name != "apiVersion" && name != "metadata" {
				d.Warn(fmt.Sprintf("unknown field %q", name))
			}
		}
	}
	return otherVersion(apiVersion, ver)
}

// decodeCustom reads a custom object: its metadata is typed, the rest is pruned and defaulted by
// its schema.
func (d Decoder) decodeCustom(body []byte, ver *Version) (*Object, []error, error) {
	var (
		content map[string]any
		strict  []error
		err     error
	)
	if d.ignores() {
		err = kjson.UnmarshalCaseSensitivePreserveInts(body, &content)
	} else {
		strict, err = kjson.UnmarshalStrict(body, &content)
	}
	if err != nil {
		if _, _, typeErr := TypeOf(body); typeErr != nil {
			err = typeErr
		}
		return nil, nil, err
	}
	if kind, _ := content["kind"].(string); kind == "" {
		return nil, nil, runtime.NewMissingKindErr(string(body))
	}
	apiVersion, _ := content["apiVersion"].(string)
	if err := d.checkCustomType(apiVersion, content, ver); err != nil {
		return nil, nil, err
	}
	o, unknown, err := d.customDraft(content, ver)
	return o, append(strict, unknown...), err
}

// customDraft makes a draft in the request's version from decoded content, of which it takes over
// the top level.
func (d Decoder) customDraft(content map[string]any, ver *Version) (*Object, []error, error) {
	o := &Object{Version: ver}
	if o.SentKind, _ = content["kind"].(string); o.SentKind == "" {
		return nil, nil, runtime.NewMissingKindErr(string(appendJSON(nil, content)))
	}
	o.SentVersion, _ = content["apiVersion"].(string)
	meta, unknown, err := d.readMeta(content)
	if err != nil {
		return nil, nil, err
	}
	if len(meta.ManagedFields) == 0 {
		meta.ManagedFields = nil // metadata is encoded again without the empty list, which clears nothing here
	}
	content["kind"], content["apiVersion"] = ver.Type.Kind, ver.APIVersion()
	content, more, err := ver.Schema.settle(content, !d.ignores())
	if err != nil {
		return nil, nil, err
	}
	var strict []error
	for _, path := range append(unknown, more...) {
		strict = append(strict, fmt.Errorf("unknown field %q", path))
	}
	delete(content, "kind")
	delete(content, "apiVersion")
	delete(content, "metadata")
	o.Meta, o.Rest = meta, content
	return o, strict, nil
}

// readMeta reads typed metadata out of decoded content and returns the paths of fields that
// metadata does not have.
func (d Decoder) readMeta(content map[string]any) (*metav1.ObjectMeta, []string, error) {
	value, found := content["metadata"]
	if !found || value == nil {
		return &metav1.ObjectMeta{}, nil, nil
	}
	if meta, ok := value.(*metav1.ObjectMeta); ok { // see patchedMeta
		return meta, nil, nil
	}
	fields, annotations := withoutAnnotations(value)
	raw, meta := appendJSON(nil, fields), &metav1.ObjectMeta{Annotations: annotations}
	if d.ignores() {
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

// withoutAnnotations takes annotations that are what they should be, strings, out of metadata: they
// may be long, and need no decoder. Others stay in it, for the decoder to complain of.
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

// FromDocument makes a draft from a patched document, of which it takes over the top level.
func (d Decoder) FromDocument(content map[string]any, ver *Version) (*Object, []error, error) {
	if !ver.Type.Builtin {
		return d.customDraft(content, ver)
	}
	typed := ver.New()
	apiVersion, _ := content["apiVersion"].(string)
	kind, _ := content["kind"].(string)
	if err := d.checkType(apiVersion, kind, ver); err != nil {
		return nil, nil, err
	}
	err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(content, typed, !d.ignores())
	var strict []error
	if err != nil {
		s, ok := runtime.AsStrictDecodingError(err)
		if !ok {
			return nil, nil, err
		}
		strict = s.Errors()
	}
	return DraftOf(typed, ver), strict, nil
}
