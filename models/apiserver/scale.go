package apiserver

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

// scalePaths say where a type keeps what its scale subresource shows.
type scalePaths struct {
	spec, status, selector []string
	// names are the paths as their definition wrote them, for messages.
	specName, statusName, selectorName string
}

// builtinScale is where every built-in workload keeps its scale; the selector is read from spec.selector.
var builtinScale = &scalePaths{
	spec: []string{"spec", "replicas"}, status: []string{"status", "replicas"},
	specName: ".spec.replicas", statusName: ".status.replicas",
}

func customScale(in *apiextensionsv1.CustomResourceSubresourceScale) *scalePaths {
	split := func(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
	out := &scalePaths{
		spec: split(in.SpecReplicasPath), specName: in.SpecReplicasPath,
		status: split(in.StatusReplicasPath), statusName: in.StatusReplicasPath,
	}
	if in.LabelSelectorPath != nil && *in.LabelSelectorPath != "" {
		out.selector, out.selectorName = split(*in.LabelSelectorPath), *in.LabelSelectorPath
	}
	return out
}

// handleScale serves a scale subresource: a small view of the object whose replicas can be changed
// (apiextensions-apiserver's pkg/registry/customresource/etcd.go, pkg/registry/apps/deployment/storage/storage.go).
func (c *call) handleScale(sub *subresource) (*Response, error) {
	if c.info.Verb == "get" {
		o, exists := c.lookup(c.info.Name)
		if !exists {
			return nil, apierrors.NewNotFound(c.kind.groupResource(), c.info.Name)
		}
		return c.scaleResponse(sub.scale, o)
	}
	old, scale, err := c.readScale(sub)
	if err != nil {
		return nil, err
	}
	if scale.Spec.Replicas < 0 && c.kind.builtin != nil {
		return nil, apierrors.NewInvalid(scaleKind.GroupKind(), scale.Name, field.ErrorList{field.Invalid(
			field.NewPath("spec", "replicas"), scale.Spec.Replicas, "must be greater than or equal to 0").WithOrigin("minimum")})
	}
	content := copyJSON(old.in(c.ver).document()).(map[string]any)
	if err := unstructured.SetNestedField(content, int64(scale.Spec.Replicas), sub.scale.spec...); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	draft, _, err := c.fromDocument(content, c.ver)
	if err != nil {
		return nil, err
	}
	draft.meta.ResourceVersion = scale.ResourceVersion
	if scale.ResourceVersion == "" {
		draft.meta.ResourceVersion = old.meta.ResourceVersion
	}
	c.ownScale(draft, old, scale)
	stored, err := c.replace(draft, old, "")
	if err != nil {
		return nil, err
	}
	return c.scaleResponse(sub.scale, stored)
}

// readScale reads the scale in an update, or applies a patch to the present one.
func (c *call) readScale(sub *subresource) (*object, *autoscalingv1.Scale, error) {
	var err error
	kind := types.PatchType("")
	if c.info.Verb == "update" {
		err = c.updateOptions()
		if err == nil {
			err = c.readBody()
		}
	} else {
		kind = types.PatchType(mediaType(c.req.Header.Get("Content-Type")))
		if err = c.checkPatchType(kind); err == nil {
			err = c.patchOptions(kind)
		}
		if err == nil {
			err = c.readable(kind)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	old, exists := c.lookup(c.info.Name)
	scale := &autoscalingv1.Scale{}
	if kind == "" {
		if err := kjson.UnmarshalCaseSensitivePreserveInts(c.req.Body, scale); err != nil {
			return nil, nil, apierrors.NewBadRequest(err.Error())
		}
		if got := scale.GroupVersionKind(); got.Kind != "" && got != scaleKind {
			return nil, nil, apierrors.NewBadRequest(fmt.Sprintf(
				"%s in version %q cannot be handled as a Scale: converting (%s.%s) to (autoscaling.Scale): unknown conversion",
				got.Kind, got.Version, got.Version, got.Kind))
		}
		if scale.Name != "" && scale.Name != c.info.Name {
			return nil, nil, apierrors.NewBadRequest(fmt.Sprintf(
				"the name of the object (%s) does not match the name on the URL (%s)", scale.Name, c.info.Name))
		}
	}
	if !exists {
		return nil, nil, apierrors.NewNotFound(c.kind.groupResource(), c.info.Name)
	}
	if err := c.checkUID(scale.UID, old); err != nil {
		return nil, nil, err
	}
	switch kind {
	case "":
		return old, scale, nil
	case types.ApplyYAMLPatchType:
		if scale, err = c.applyScale(old); err != nil {
			return nil, nil, err
		}
		return old, scale, c.checkScale(sub.scale, scale, old)
	}
	present := c.scaleView(sub.scale, old)
	raw, err := json.Marshal(present)
	if err != nil {
		return nil, nil, apierrors.NewInternalError(err)
	}
	if raw, err = c.patchedScale(kind, raw); err != nil {
		return nil, nil, err
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, scale); err != nil {
		return nil, nil, apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), string(raw), err.Error())})
	}
	return old, scale, c.checkScale(sub.scale, scale, old)
}

// checkScale refuses a patched scale that is another object's, or that a custom object has no replicas for.
func (c *call) checkScale(paths *scalePaths, scale *autoscalingv1.Scale, old *object) error {
	if scale.Name != c.info.Name {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", scale.Name, c.info.Name))
	}
	if scale.UID != old.meta.UID {
		at := schema.GroupResource{Group: c.kind.group, Resource: c.kind.plural + "/scale"}
		return apierrors.NewConflict(at, c.info.Name, fmt.Errorf(
			"Precondition failed: UID in precondition: %s, UID in object meta: %s", scale.UID, old.meta.UID)) //nolint:staticcheck // the server's wording
	}
	if scale.Spec.Replicas == replicasNeverSet {
		return apierrors.NewBadRequest(fmt.Sprintf("the spec replicas field %q cannot be empty", paths.specName))
	}
	return nil
}

// patchedScale applies the patch in the request to a scale. A scale has no lists, so that a strategic patch of it is a
// merge patch.
func (c *call) patchedScale(kind types.PatchType, raw []byte) ([]byte, error) {
	if kind == types.JSONPatchType {
		patch, err := jsonpatch.DecodePatch(c.req.Body)
		if err != nil {
			text := strings.ReplaceAll(err.Error(), "jsonpatch.Patch", "[]handlers.jsonPatchOp")
			return nil, apierrors.NewBadRequest("error decoding patch: " + text)
		}
		if raw, err = patch.Apply(raw); err != nil {
			return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
		}
		return raw, nil
	}
	var changes map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(c.req.Body, &changes); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	raw, err := jsonpatch.MergePatch(raw, c.req.Body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return raw, nil
}

// replicasNeverSet stands for the replicas of a custom object that has none
// (apiextensions-apiserver's pkg/registry/customresource/etcd.go).
const replicasNeverSet = math.MinInt32

// scaleView is what an update starts from.
func (c *call) scaleView(paths *scalePaths, o *object) *autoscalingv1.Scale {
	o = o.in(c.ver)
	content := o.content()
	replicas, found, _ := unstructured.NestedInt64(content, paths.spec...)
	if !found && o.typed == nil {
		replicas = replicasNeverSet
	}
	status, _, _ := unstructured.NestedInt64(content, paths.status...)
	scale := &autoscalingv1.Scale{
		TypeMeta: metav1.TypeMeta{Kind: scaleKind.Kind, APIVersion: scaleKind.GroupVersion().String()},
		ObjectMeta: metav1.ObjectMeta{
			Name: o.meta.Name, Namespace: o.meta.Namespace, UID: o.meta.UID,
			ResourceVersion: o.meta.ResourceVersion, CreationTimestamp: o.meta.CreationTimestamp,
		},
		Spec:   autoscalingv1.ScaleSpec{Replicas: int32(replicas)},
		Status: autoscalingv1.ScaleStatus{Replicas: int32(status)},
	}
	scale.Status.Selector = scaleSelector(paths, o, content)
	return scale
}

func scaleSelector(paths *scalePaths, o *object, content map[string]any) string {
	if paths.selector != nil {
		text, _, _ := unstructured.NestedString(content, paths.selector...)
		return text
	}
	if o.typed == nil {
		return ""
	}
	switch selector := part(o.typed, "Spec").FieldByName("Selector").Interface().(type) {
	case *metav1.LabelSelector:
		parsed, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil {
			return ""
		}
		return parsed.String()
	case map[string]string:
		return metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: selector})
	}
	return ""
}

func (c *call) scaleResponse(paths *scalePaths, o *object) (*Response, error) {
	scale := c.scaleView(paths, o)
	if scale.Spec.Replicas == replicasNeverSet {
		// A write is answered all the same: the version that is stored may not know the field that was set.
		if c.info.Verb == "get" {
			return nil, apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", paths.specName))
		}
		scale.Spec.Replicas = 0
	}
	raw, err := json.Marshal(scale)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return jsonResponse(http.StatusOK, raw), nil
}

// scaleErrors checks what the scale subresource of a custom type relies on
// (apiextensions-apiserver's pkg/registry/customresource/validator.go).
func (c *call) scaleErrors(o *object, statusOnly bool) field.ErrorList {
	sub := c.ver.subresource("scale")
	if sub == nil {
		return nil
	}
	var errs field.ErrorList
	if !statusOnly {
		errs = replicaErrors(o.rest, sub.scale.spec, sub.scale.specName)
	}
	errs = append(errs, replicaErrors(o.rest, sub.scale.status, sub.scale.statusName)...)
	if sub.scale.selector == nil {
		return errs
	}
	if text, _, err := unstructured.NestedString(o.rest, sub.scale.selector...); err != nil {
		errs = append(errs, field.Invalid(field.NewPath(sub.scale.selectorName), text, err.Error()))
	}
	return errs
}

func replicaErrors(content map[string]any, path []string, name string) field.ErrorList {
	n, _, err := unstructured.NestedInt64(content, path...)
	var detail string
	switch {
	case err != nil:
		detail = err.Error()
	case n < 0:
		detail = "should be a non-negative integer"
	case n > math.MaxInt32:
		detail = fmt.Sprintf("should be less than or equal to %v", math.MaxInt32)
	default:
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(name), n, detail)}
}
