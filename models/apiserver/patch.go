package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
)

// maxPatchOperations is the limit of endpoints/handlers/patch.go.
const maxPatchOperations = 10000

// patch changes an object by a patch, as endpoints/handlers/patch.go does.
func (c *call) patch(sub string) (*Response, error) {
	kind := types.PatchType(mediaType(c.req.Header.Get("Content-Type")))
	if err := c.checkPatchType(kind); err != nil {
		return nil, err
	}
	if err := c.patchOptions(kind); err != nil {
		return nil, err
	}
	if err := c.readable(kind); err != nil {
		return nil, err
	}
	if kind == types.ApplyYAMLPatchType {
		return c.apply(sub)
	}
	old, exists := c.lookup(c.info.Name)
	if !exists {
		return nil, apierrors.NewNotFound(c.kind.groupResource(), c.info.Name)
	}
	from := old
	if !old.owned && bytes.Contains(c.req.Body, []byte("managedFields")) {
		// The patch may look at what has not been worked out yet.
		from = old.with(c.fieldsOf(old))
		from.json = from.encode()
	}
	draft, err := c.patched(kind, from)
	if err != nil {
		return nil, err
	}
	if err := c.matchNamespace(draft.meta); err != nil {
		return nil, err
	}
	if err := c.matchName(draft.meta); err != nil {
		return nil, err
	}
	if kind != types.StrategicMergePatchType {
		keepBytes(draft.typed, old.typed)
	}
	stored, err := c.replace(draft, old, sub)
	if err != nil {
		return nil, err
	}
	return c.objectResponse(http.StatusOK, stored), nil
}

// keepBytes gives free-form data that a merge patch or a JSON patch has left alone its bytes back, as both keep what they do
// not touch as it was written; a strategic patch and an apply write it anew. Who compares bytes sees it.
func keepBytes(draft, old runtime.Object) {
	r, ok := draft.(*appsv1.ControllerRevision)
	if !ok {
		return
	}
	before := old.(*appsv1.ControllerRevision).Data
	if reflect.DeepEqual(decoded(r.Data), decoded(before)) {
		r.Data = before
	}
}

func decoded(data runtime.RawExtension) (v any) {
	_ = json.Unmarshal(data.Raw, &v) // what an object holds has been read before
	return v
}

func (c *call) checkPatchType(kind types.PatchType) error {
	accepted := []string{string(types.JSONPatchType), string(types.MergePatchType), string(types.ApplyYAMLPatchType)}
	if c.kind.builtin != nil {
		accepted = append(accepted, string(types.StrategicMergePatchType))
	}
	if slices.Contains(accepted, string(kind)) {
		return nil
	}
	if kind == types.ApplyCBORPatchType {
		return notModelled("patches of type %s", kind)
	}
	if c.kind.builtin != nil {
		return errPatchType
	}
	return unsupportedMediaType(accepted...)
}

// readable refuses a body that is no document at all, before anything is looked up (validateAndTranscodePatch).
func (c *call) readable(kind types.PatchType) error {
	if kind == types.ApplyYAMLPatchType {
		if _, err := yaml.ToJSON(c.req.Body); err != nil {
			return apierrors.NewBadRequest(fmt.Sprintf("error encoding patch: %v", err))
		}
		return nil
	}
	if !json.Valid(c.req.Body) {
		return apierrors.NewBadRequest("invalid JSON patch")
	}
	return nil
}

// mediaType is a content type without its parameters.
func mediaType(header string) string {
	media, _, _ := strings.Cut(header, ";")
	return strings.TrimSpace(media)
}

// patched applies the patch in the request to an object and reads the result back.
func (c *call) patched(kind types.PatchType, old *object) (*object, error) {
	content, strict, err := c.applyPatch(kind, old)
	if err != nil {
		return nil, err
	}
	draft, more, err := c.fromDocument(content, c.ver)
	if err != nil {
		if _, ok := err.(apierrors.APIStatus); ok {
			return nil, err
		}
		return nil, c.invalidPatch(kind, old, err)
	}
	if strict = append(strict, more...); len(strict) > 0 {
		switch c.validation {
		case metav1.FieldValidationStrict:
			return nil, c.invalidPatch(kind, old, runtime.NewStrictDecodingError(strict))
		case metav1.FieldValidationWarn:
			c.warnAll(strict)
		}
	}
	return draft, nil
}

// applyPatch returns the patched document, which the caller may change.
func (c *call) applyPatch(kind types.PatchType, old *object) (map[string]any, []error, error) {
	switch kind {
	case types.JSONPatchType:
		return c.jsonPatched(old)
	case types.MergePatchType:
		return c.mergePatched(old)
	default:
		return c.strategicPatched(old)
	}
}

// invalidPatch is the refusal of a patch whose result cannot be read. It shows the patched document (for a strategic
// patch, the patch), made anew because reading it has changed it, and words the error as the JSON decoder does.
func (c *call) invalidPatch(kind types.PatchType, old *object, err error) error {
	var shown []byte
	original := old.as(view{ver: c.ver}).json
	if c.kind.builtin == nil {
		original = appendJSON(nil, c.inVersion(old))
	}
	switch kind {
	case types.StrategicMergePatchType:
		var changes map[string]any
		_ = kjson.UnmarshalCaseSensitivePreserveInts(c.req.Body, &changes)
		shown = fmt.Appendf(nil, "%+v", changes)
	case types.MergePatchType:
		shown, _ = jsonpatch.MergePatch(original, c.req.Body)
	default:
		if patch, err := jsonpatch.DecodePatch(c.req.Body); err == nil {
			shown, _ = patch.Apply(original)
		}
	}
	if !runtime.IsStrictDecodingError(err) && kind != types.StrategicMergePatchType {
		if _, _, again := c.decode(shown, c.ver); again != nil {
			err = again
		}
	}
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
		field.Invalid(field.NewPath("patch"), string(shown), err.Error()),
	})
}

// readPatch decodes a patch document and returns its repeated fields.
func (c *call) readPatch(into any) ([]error, error) {
	if c.validation == metav1.FieldValidationIgnore {
		return nil, kjson.UnmarshalCaseSensitivePreserveInts(c.req.Body, into)
	}
	return kjson.UnmarshalStrict(c.req.Body, into)
}

func (c *call) mergePatched(old *object) (map[string]any, []error, error) {
	var changes map[string]any
	strict, err := c.readPatch(&changes)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	if changes == nil {
		return nil, nil, apierrors.NewBadRequest(jsonpatch.ErrBadJSONPatch.Error())
	}
	merged := mergeJSON(c.inVersion(old), changes).(map[string]any)
	if c.kind.builtin == nil {
		// Pruning and defaulting change the document in place, and most of it is shared with the store.
		merged = copyJSON(merged).(map[string]any)
	}
	return merged, strict, nil
}

// patchOperation is one operation of a JSON patch, for finding unknown and repeated fields.
type patchOperation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

func (c *call) jsonPatched(old *object) (map[string]any, []error, error) {
	var operations []patchOperation
	strict, err := c.readPatch(&operations)
	if err != nil && c.validation != metav1.FieldValidationIgnore {
		// The name of the type is part of the message.
		text := strings.ReplaceAll(err.Error(), "apiserver.patchOperation", "handlers.jsonPatchOp")
		return nil, nil, apierrors.NewBadRequest("error decoding patch: " + text)
	}
	for i, e := range strict {
		strict[i] = fmt.Errorf("json patch %v", e)
	}
	patch, err := jsonpatch.DecodePatch(c.req.Body)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	if len(patch) > maxPatchOperations {
		return nil, nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"The allowed maximum operations in a JSON patch is %d, got %d", maxPatchOperations, len(patch)))
	}
	raw, err := patch.Apply(old.as(view{ver: c.ver}).json)
	if err != nil {
		return nil, nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	var content map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &content); err != nil {
		return nil, nil, apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
			field.Invalid(field.NewPath("patch"), string(raw), err.Error()),
		})
	}
	return content, strict, nil
}

func (c *call) strategicPatched(old *object) (map[string]any, []error, error) {
	var changes map[string]any
	strict, err := c.readPatch(&changes)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	original := copyJSON(c.inVersion(old)).(map[string]any)
	content, err := strategicpatch.StrategicMergeMapPatch(original, changes, c.ver.newObject())
	switch err {
	case nil:
		return content, strict, nil
	case mergepatch.ErrBadJSONDoc, mergepatch.ErrBadPatchFormatForPrimitiveList, mergepatch.ErrBadPatchFormatForRetainKeys,
		mergepatch.ErrBadPatchFormatForSetElementOrderList, mergepatch.ErrUnsupportedStrategicMergePatchFormat:
		return nil, nil, apierrors.NewBadRequest(err.Error())
	case mergepatch.ErrNoListOfLists, mergepatch.ErrPatchContentNotMatchRetainKeys:
		return nil, nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	default:
		return nil, nil, err
	}
}
