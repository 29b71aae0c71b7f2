package object

import (
	"encoding/json"
	"errors"
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
	kjson "sigs.k8s.io/json"
)

// Patch is a patch of objects, as a request sends it.
type Patch struct {
	Decoder
	Kind types.PatchType
	Body []byte
	// Version is the version that the patch is written for.
	Version *Version
}

// maxPatchOperations is the limit of endpoints/handlers/patch.go.
const maxPatchOperations = 10000

// KeepBytes keeps the bytes of free-form data that a merge patch or a JSON patch has left alone.
// Both keep untouched data as it was written. A strategic patch and an apply encode it again, and a
// client that compares bytes sees the difference.
func KeepBytes(draft, old runtime.Object) {
	r, ok := draft.(*appsv1.ControllerRevision)
	if !ok {
		return
	}
	before := old.(*appsv1.ControllerRevision).Data
	if reflect.DeepEqual(rawValue(r.Data), rawValue(before)) {
		r.Data = before
	}
}

func rawValue(data runtime.RawExtension) (v any) {
	_ = json.Unmarshal(data.Raw, &v) // what an object holds has been read before
	return v
}

// MediaType is a content type without its parameters.
func MediaType(header string) string {
	media, _, _ := strings.Cut(header, ";")
	return strings.TrimSpace(media)
}

// Apply applies the patch to an object and reads the result back.
func (p *Patch) Apply(old *Object) (*Object, error) {
	content, strict, err := p.document(old)
	if err != nil {
		return nil, err
	}
	draft, more, err := p.FromDocument(content, p.Version)
	if err != nil {
		if _, ok := err.(apierrors.APIStatus); ok {
			return nil, err
		}
		return nil, p.invalid(old, err)
	}
	if strict = append(strict, more...); len(strict) > 0 {
		switch p.Validation {
		case metav1.FieldValidationStrict:
			return nil, p.invalid(old, runtime.NewStrictDecodingError(strict))
		case metav1.FieldValidationWarn:
			p.WarnAll(strict)
		}
	}
	return draft, nil
}

// document returns the patched document, of which the caller may change the top level.
func (p *Patch) document(old *Object) (map[string]any, []error, error) {
	switch p.Kind {
	case types.JSONPatchType:
		return p.jsonPatched(old)
	case types.MergePatchType:
		return p.mergePatched(old)
	default:
		return p.strategicPatched(old)
	}
}

// invalid is the refusal of a patch whose result cannot be read. It shows the patched document, or
// the patch itself if that is a strategic one. The document is built again, because reading it has
// changed it. The error is worded as the JSON decoder words it.
func (p *Patch) invalid(old *Object, err error) error {
	var shown []byte
	original := old.As(View{Version: p.Version}).JSON
	if !p.Version.Type.Builtin {
		original = appendJSON(nil, p.Version.Document(old))
	}
	switch p.Kind {
	case types.StrategicMergePatchType:
		var changes map[string]any
		_ = kjson.UnmarshalCaseSensitivePreserveInts(p.Body, &changes)
		shown = fmt.Appendf(nil, "%+v", changes)
	case types.MergePatchType:
		shown, _ = jsonpatch.MergePatch(original, p.Body)
	default:
		if decoded, err := jsonpatch.DecodePatch(p.Body); err == nil {
			shown, _ = decoded.Apply(original)
		}
	}
	if !runtime.IsStrictDecodingError(err) && p.Kind != types.StrategicMergePatchType {
		if _, _, again := p.Decode(shown, p.Version); again != nil {
			err = again
		}
	}
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
		field.Invalid(field.NewPath("patch"), string(shown), err.Error()),
	})
}

// read decodes a patch document and returns its repeated fields.
func (p *Patch) read(into any) ([]error, error) {
	if p.ignores() {
		return nil, kjson.UnmarshalCaseSensitivePreserveInts(p.Body, into)
	}
	return kjson.UnmarshalStrict(p.Body, into)
}

func (p *Patch) mergePatched(old *Object) (map[string]any, []error, error) {
	var changes map[string]any
	strict, err := p.read(&changes)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	if changes == nil {
		return nil, nil, apierrors.NewBadRequest(jsonpatch.ErrBadJSONPatch.Error())
	}
	document := p.Version.Document
	if meta := patchedMeta(old.Meta, changes); meta != nil && !p.Version.Type.Builtin {
		delete(changes, "metadata")
		document = func(o *Object) map[string]any { return p.Version.shown(o).document(meta) }
	}
	return mergeJSON(document(old), changes).(map[string]any), strict, nil
}

// patchedMeta returns the metadata after a merge patch that changes at most its revision; nil for
// other patches. Reading metadata back from a document takes a sixth of a small patch. As there,
// times have no fractions of seconds.
func patchedMeta(m *metav1.ObjectMeta, patch map[string]any) *metav1.ObjectMeta {
	out := m.DeepCopy()
	if change, has := patch["metadata"]; has {
		members, _ := change.(map[string]any)
		revision, ok := members["resourceVersion"].(string)
		if !ok || len(members) > 1 {
			return nil
		}
		out.ResourceVersion = revision
	}
	for i := range out.ManagedFields {
		if t := out.ManagedFields[i].Time; t != nil && t.IsZero() {
			return nil
		} else if t != nil {
			*t = t.Rfc3339Copy()
		}
	}
	if out.DeletionTimestamp != nil {
		*out.DeletionTimestamp = out.DeletionTimestamp.Rfc3339Copy()
	}
	out.CreationTimestamp = out.CreationTimestamp.Rfc3339Copy()
	return out
}

// patchOperation is one operation of a JSON patch, for finding unknown and repeated fields.
type patchOperation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

func (p *Patch) jsonPatched(old *Object) (map[string]any, []error, error) {
	var operations []patchOperation
	strict, err := p.read(&operations)
	if err != nil && !p.ignores() {
		// The name of the type is part of the message.
		text := strings.ReplaceAll(err.Error(), "object.patchOperation", "handlers.jsonPatchOp")
		return nil, nil, apierrors.NewBadRequest("error decoding patch: " + text)
	}
	for i, e := range strict {
		strict[i] = fmt.Errorf("json patch %w", e)
	}
	decoded, err := jsonpatch.DecodePatch(p.Body)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	if len(decoded) > maxPatchOperations {
		return nil, nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"The allowed maximum operations in a JSON patch is %d, got %d", maxPatchOperations, len(decoded)))
	}
	raw, err := decoded.Apply(old.As(View{Version: p.Version}).JSON)
	if err != nil {
		return nil, nil, Unprocessable(err)
	}
	var content map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &content); err != nil {
		return nil, nil, apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
			field.Invalid(field.NewPath("patch"), string(raw), err.Error()),
		})
	}
	return content, strict, nil
}

func (p *Patch) strategicPatched(old *Object) (map[string]any, []error, error) {
	var changes map[string]any
	strict, err := p.read(&changes)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	original := CopyJSON(p.Version.Document(old)).(map[string]any)
	content, err := strategicpatch.StrategicMergeMapPatch(original, changes, p.Version.New())
	is := func(errs ...error) bool {
		return slices.ContainsFunc(errs, func(e error) bool { return errors.Is(err, e) })
	}
	switch {
	case err == nil:
		return content, strict, nil
	case is(mergepatch.ErrBadJSONDoc, mergepatch.ErrBadPatchFormatForPrimitiveList,
		mergepatch.ErrBadPatchFormatForRetainKeys,
		mergepatch.ErrBadPatchFormatForSetElementOrderList, mergepatch.ErrUnsupportedStrategicMergePatchFormat):
		return nil, nil, apierrors.NewBadRequest(err.Error())
	case is(mergepatch.ErrNoListOfLists, mergepatch.ErrPatchContentNotMatchRetainKeys):
		return nil, nil, Unprocessable(err)
	default:
		return nil, nil, err
	}
}

// Unprocessable is the refusal of a patch that cannot be applied.
func Unprocessable(err error) error {
	return apierrors.NewGenericServerResponse(
		http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
}
