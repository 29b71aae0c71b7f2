package apiserver

import (
	"fmt"
	"net/http"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// serveScale serves a scale subresource: a small view of the object whose replicas can be changed
// (apiextensions-apiserver's pkg/registry/customresource/etcd.go,
// pkg/registry/apps/deployment/storage/storage.go).
func serveScale(r *request, paths *object.ScalePaths) (*Response, error) {
	if r.info.Verb == "get" {
		o, err := r.stored()
		if err != nil {
			return nil, err
		}
		return r.scaleResponse(paths, o)
	}
	s, err := r.readScale(paths)
	if err != nil {
		return nil, err
	}
	replicas := s.scale.Spec.Replicas
	if replicas < 0 && r.kind.Builtin {
		return nil, apierrors.NewInvalid(object.ScaleKind.GroupKind(), s.scale.Name, field.ErrorList{field.Invalid(
			field.NewPath("spec", "replicas"), replicas, "must be greater than or equal to 0").WithOrigin("minimum")})
	}
	content := object.CopyJSON(s.old.In(r.ver).Document()).(map[string]any)
	if err := unstructured.SetNestedField(content, int64(replicas), paths.Spec...); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	draft, _, err := s.decoder().FromDocument(content, r.ver)
	if err != nil {
		return nil, err
	}
	draft.Meta.ResourceVersion = s.scale.ResourceVersion
	if s.scale.ResourceVersion == "" {
		draft.Meta.ResourceVersion = s.old.Meta.ResourceVersion
	}
	if s.applied {
		draft.SetFields(s.owners)
	} else {
		s.note(s.old).OwnScale(draft, s.scale, r.s.options.TrackFields)
	}
	stored, err := s.replace(draft, s.old, "")
	if err != nil {
		return nil, err
	}
	return r.scaleResponse(paths, stored)
}

// scaleWrite is a write through a scale subresource.
type scaleWrite struct {
	*write
	old   *object.Object
	scale *autoscalingv1.Scale
	// owners is the ownership of the object after an apply.
	owners []metav1.ManagedFieldsEntry
}

// readScale reads the scale in an update, or applies a patch to the present one.
func (r *request) readScale(paths *object.ScalePaths) (*scaleWrite, error) {
	var w *write
	var kind types.PatchType
	var err error
	if r.info.Verb == "update" {
		w, err = r.updateWrite()
	} else {
		w, kind, err = r.patchWrite()
	}
	if err != nil {
		return nil, err
	}
	s := &scaleWrite{write: w, scale: &autoscalingv1.Scale{}}
	if kind == "" {
		if err := s.readUpdate(); err != nil {
			return nil, err
		}
	}
	if s.old, err = r.stored(); err != nil {
		return nil, err
	}
	if err := w.checkUID(s.scale.UID, s.old); err != nil {
		return nil, err
	}
	switch kind {
	case "":
		return s, nil
	case types.ApplyYAMLPatchType:
		err = s.apply()
	default:
		err = s.patch(kind)
	}
	if err != nil {
		return nil, err
	}
	return s, s.check(paths)
}

// readUpdate reads the scale in the body of an update.
func (s *scaleWrite) readUpdate() error {
	if err := kjson.UnmarshalCaseSensitivePreserveInts(s.body, s.scale); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if got := s.scale.GroupVersionKind(); got.Kind != "" && got != object.ScaleKind {
		return apierrors.NewBadRequest(fmt.Sprintf(
			"%s in version %q cannot be handled as a Scale: converting (%s.%s) to (autoscaling.Scale): unknown "+
				"conversion",
			got.Kind, got.Version, got.Version, got.Kind))
	}
	if s.scale.Name != "" {
		return s.info.matchName(&s.scale.ObjectMeta)
	}
	return nil
}

// apply applies the configuration in the request to the present scale.
func (s *scaleWrite) apply() error {
	a := &application{write: s.write}
	err := a.read()
	if err != nil {
		return err
	}
	if s.scale, s.owners, err = s.ver.ApplyScale(s.old, a.configuration, a.applier()); err != nil {
		return err
	}
	s.write = s.asApplied()
	return a.checkStrict()
}

// patch applies the patch in the request to the present scale.
func (s *scaleWrite) patch(kind types.PatchType) error {
	raw, err := patchedScale(kind, s.body, object.Marshal(s.ver.Scale(s.old)))
	if err != nil {
		return err
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, s.scale); err != nil {
		return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
			field.Invalid(field.NewPath("patch"), string(raw), err.Error()),
		})
	}
	return nil
}

// check refuses a patched scale that is another object's, or that a custom object has no replicas
// for.
func (s *scaleWrite) check(paths *object.ScalePaths) error {
	if err := s.info.matchNameOnURL(s.scale.Name); err != nil {
		return err
	}
	if s.scale.UID != s.old.Meta.UID {
		at := schema.GroupResource{Group: s.kind.Group, Resource: s.kind.Plural + "/scale"}
		return apierrors.NewConflict(at, s.info.Name, fmt.Errorf(
			"Precondition failed: UID in precondition: %s, UID in object meta: %s", s.scale.UID,
			s.old.Meta.UID)) //nolint:staticcheck // the server's wording
	}
	if s.scale.Spec.Replicas == object.ReplicasNeverSet {
		return apierrors.NewBadRequest(fmt.Sprintf("the spec replicas field %q cannot be empty", paths.SpecName))
	}
	return nil
}

// patchedScale applies the patch in the request to a scale. A scale has no lists, so that a
// strategic patch of it is a merge patch.
func patchedScale(kind types.PatchType, body, raw []byte) ([]byte, error) {
	if kind == types.JSONPatchType {
		patch, err := jsonpatch.DecodePatch(body)
		if err != nil {
			text := strings.ReplaceAll(err.Error(), "jsonpatch.Patch", "[]handlers.jsonPatchOp")
			return nil, apierrors.NewBadRequest("error decoding patch: " + text)
		}
		if raw, err = patch.Apply(raw); err != nil {
			return nil, object.Unprocessable(err)
		}
		return raw, nil
	}
	var changes map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, &changes); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	raw, err := jsonpatch.MergePatch(raw, body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return raw, nil
}

func (r *request) scaleResponse(paths *object.ScalePaths, o *object.Object) (*Response, error) {
	scale := r.ver.Scale(o)
	if scale.Spec.Replicas == object.ReplicasNeverSet {
		// A write is answered all the same: the version that is stored may not know the field that
		// was set.
		if r.info.Verb == "get" {
			return nil, apierrors.NewInternalError(
				fmt.Errorf("the spec replicas field %q does not exist", paths.SpecName))
		}
		scale.Spec.Replicas = 0
	}
	return jsonResponse(http.StatusOK, object.Marshal(scale)), nil
}
