package registry

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

var metadataPath = field.NewPath("metadata")

// ValidateCreate is the strategy's validation and, when that finds nothing, the common one
// (staging/src/k8s.io/apiserver/pkg/registry/rest/create.go, ValidateCreate).
func (k *Kind) ValidateCreate(draft *object.Object) field.ErrorList {
	errs := k.strategyErrors(draft, nil, nil)
	if len(errs) == 0 {
		errs = apivalidation.ValidateObjectMetaAccessor(draft.Meta, k.Namespaced, segmentName, metadataPath)
	}
	return errs
}

// ValidateUpdate is the common validation and then the strategy's
// (staging/src/k8s.io/apiserver/pkg/registry/rest/update.go, ValidateUpdate).
func (k *Kind) ValidateUpdate(draft, old *object.Object, sub string, warn func(string)) field.ErrorList {
	var errs field.ErrorList
	if draft.SameMeta = sameMeta(draft.Meta, old.Meta); !draft.SameMeta {
		errs = apivalidation.ValidateObjectMetaAccessor(draft.Meta, k.Namespaced, segmentName, metadataPath)
		errs = append(errs, apivalidation.ValidateObjectMetaAccessorUpdate(draft.Meta, old.Meta, metadataPath)...)
	}
	if sub == "status" {
		return append(errs, k.statusErrors(draft, old, warn)...)
	}
	if sub == "finalize" {
		return append(errs, k.Strategy.validateFinalize(draft.Typed, old.Typed)...)
	}
	return append(errs, k.strategyErrors(draft, old, warn)...)
}

// strategyErrors validates what is particular to the type; old is nil on creation.
func (k *Kind) strategyErrors(draft, old *object.Object, warn func(string)) field.ErrorList {
	b := k.Strategy
	if b == nil {
		return k.customErrors(draft, old, false, warn)
	}
	var errs field.ErrorList
	if old == nil {
		name := b.validName
		if name == nil {
			name = apivalidation.NameIsDNSSubdomain
		}
		errs = apivalidation.ValidateObjectMeta(draft.Meta, k.Namespaced, name, metadataPath)
		errs = append(errs, finalizerErrors(draft.Meta.Finalizers, metadataPath.Child("finalizers"))...)
		if b.validateNew != nil {
			errs = append(errs, b.validateNew(draft.Typed)...)
		}
	} else {
		errs = metaUpdateErrors(draft, old)
	}
	if b.Validate != nil {
		errs = append(errs, b.Validate(draft.Typed)...)
	}
	if old != nil && b.validateUpdate != nil {
		errs = append(errs, b.validateUpdate(draft.Typed, old.Typed)...)
	}
	return errs
}

// metaUpdateErrors is what the strategies of built-in types check of metadata once more.
func metaUpdateErrors(draft, old *object.Object) field.ErrorList {
	if draft.SameMeta {
		return nil
	}
	return append(apivalidation.ValidateObjectMetaUpdate(draft.Meta, old.Meta, metadataPath),
		finalizerErrors(draft.Meta.Finalizers, metadataPath.Child("finalizers"))...)
}

// sameMeta says that an update leaves alone all metadata that validation looks at. What was valid
// when it was stored is valid still, so the many updates of spec or status alone are spared the
// checks.
func sameMeta(m, old *metav1.ObjectMeta) bool {
	return m.Name == old.Name && m.Namespace == old.Namespace && m.UID == old.UID &&
		m.GenerateName == old.GenerateName &&
		m.CreationTimestamp.Equal(&old.CreationTimestamp) && m.DeletionTimestamp.Equal(old.DeletionTimestamp) &&
		ptr.Equal(m.DeletionGracePeriodSeconds, old.DeletionGracePeriodSeconds) &&
		maps.Equal(m.Labels, old.Labels) && maps.Equal(m.Annotations, old.Annotations) &&
		slices.Equal(m.Finalizers, old.Finalizers) &&
		slices.EqualFunc(m.OwnerReferences, old.OwnerReferences, equalOwner) &&
		m.Generation >= old.Generation && m.ResourceVersion != "" &&
		// Managed fields change with every write, and are as the server writes them unless the
		// client has its own word in them.
		len(metavalidation.ValidateManagedFields(m.ManagedFields, nil)) == 0
}

// finalizerErrors is the stricter rule that built-in types have for finalizers without a domain
// (pkg/apis/core/validation/validation.go, validateKubeFinalizerName).
func finalizerErrors(finalizers []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, f := range finalizers {
		if !strings.Contains(f, "/") && !standardFinalizer(f) {
			errs = append(errs, field.Invalid(path.Index(i), f,
				"name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}

func standardFinalizer(f string) bool {
	return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents || f == "kubernetes"
}

func (k *Kind) statusErrors(draft, old *object.Object, warn func(string)) field.ErrorList {
	if k.Strategy == nil {
		return k.customErrors(draft, old, true, warn)
	}
	errs := metaUpdateErrors(draft, old)
	if v := k.Strategy.validateStatus; v != nil {
		errs = append(errs, v(draft.Typed, old.Typed)...)
	}
	return errs
}

// customErrors follows apiextensions-apiserver's pkg/registry/customresource/validator.go. From
// 0.37 on, that also checks metadata by declarative rules, which repeat what is checked here.
func (k *Kind) customErrors(draft, old *object.Object, status bool, warn func(string)) field.ErrorList {
	if errs := typeErrors(draft); len(errs) > 0 {
		return errs
	}
	var errs field.ErrorList
	switch {
	case draft.SameMeta:
	case old == nil:
		nameErrors := apivalidation.NameIsDNSSubdomain
		errs = apivalidation.ValidateObjectMeta(draft.Meta, k.Namespaced, nameErrors, metadataPath)
	default:
		errs = apivalidation.ValidateObjectMetaUpdate(draft.Meta, old.Meta, metadataPath)
	}
	scale, schema := scaleErrors(draft, status), draft.Version.Schema
	if old == nil {
		return schema.Validate(errs, draft.Whole(), scale)
	}
	content, before := draft.Whole(), old.Whole()
	if schema.MissesRequired(content) {
		// What the root lacks is held against every update, even one that changes nothing: a real
		// server never finds the roots alike.
		before = maps.Clone(before)
		before["metadata"] = nil
	}
	return schema.ValidateUpdate(errs, content, before, status, scale, warn)
}

// typeErrors refuses a custom object that claims to be of another type.
func typeErrors(draft *object.Object) field.ErrorList {
	var errs field.ErrorList
	if draft.SentKind != "" && draft.SentKind != draft.Version.Type.Kind {
		errs = append(errs, field.Invalid(field.NewPath("kind"), draft.SentKind, "must be "+draft.Version.Type.Kind))
	}
	if draft.SentKind != "" && draft.SentVersion != draft.Version.APIVersion() {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), draft.SentVersion,
			"must be "+draft.Version.APIVersion()))
	}
	return errs
}

// specChanged reports whether an update changed what metadata.generation counts for built-in types.
func specChanged(o, old runtime.Object) bool {
	spec := object.Part(o, "Spec")
	if !spec.IsValid() {
		return contentChanged(o, old)
	}
	return !equality.Semantic.DeepEqual(spec.Interface(), object.Part(old, "Spec").Interface())
}

// contentChanged compares everything but type, metadata and status.
func contentChanged(o, old runtime.Object) bool {
	a, b := reflect.ValueOf(o).Elem(), reflect.ValueOf(old).Elem()
	for i := range a.NumField() {
		switch a.Type().Field(i).Name {
		case "TypeMeta", "ObjectMeta", "Status":
			continue
		}
		if !equality.Semantic.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			return true
		}
	}
	return false
}

// WarnFinalizers warns about unqualified finalizers of custom objects
// (apiextensions-apiserver's pkg/registry/customresource/strategy.go and validator.go).
func (k *Kind) WarnFinalizers(meta, old *metav1.ObjectMeta, warn func(string)) {
	if k.Strategy != nil || len(meta.Finalizers) == 0 {
		return
	}
	var added []string
	for _, f := range meta.Finalizers {
		if (old == nil || !slices.Contains(old.Finalizers, f)) && !slices.Contains(added, f) {
			added = append(added, f)
		}
	}
	sort.Strings(added)
	for _, f := range added {
		for _, msg := range validation.IsQualifiedName(f) {
			warn(fmt.Sprintf("metadata.finalizers: %q: %s", f, msg))
		}
		if strings.Contains(f, "/") || standardFinalizer(f) {
			continue
		}
		if strings.Contains(f, ".") {
			warn(fmt.Sprintf("metadata.finalizers: %q: prefer a domain-qualified finalizer name including a path (/) "+
				"to avoid accidental conflicts with other finalizer writers", f))
		} else {
			warn(fmt.Sprintf("metadata.finalizers: %q: prefer a domain-qualified finalizer name to avoid accidental "+
				"conflicts with other finalizer writers", f))
		}
	}
}

// invalid is a field error for each message about a value.
func invalid(path *field.Path, value any, messages []string) (errs field.ErrorList) {
	for _, message := range messages {
		errs = append(errs, field.Invalid(path, value, message))
	}
	return errs
}

// scaleErrors checks what the scale subresource of a custom type relies on
// (apiextensions-apiserver's pkg/registry/customresource/validator.go).
func scaleErrors(o *object.Object, statusOnly bool) field.ErrorList {
	sub := o.Version.Subresource("scale")
	if sub == nil {
		return nil
	}
	var errs field.ErrorList
	if !statusOnly {
		errs = replicaErrors(o.Rest, sub.Scale.Spec, sub.Scale.SpecName)
	}
	errs = append(errs, replicaErrors(o.Rest, sub.Scale.Status, sub.Scale.StatusName)...)
	if sub.Scale.Selector == nil {
		return errs
	}
	if text, _, err := unstructured.NestedString(o.Rest, sub.Scale.Selector...); err != nil {
		errs = append(errs, field.Invalid(field.NewPath(sub.Scale.SelectorName), text, err.Error()))
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

// Invalid is the refusal of an object. Errors that read the same are reported once, as filtering
// does in staging/src/k8s.io/apimachinery/pkg/api/validate/errors.go
// (FilterCoveredHandwrittenErrors) for built-in types.
func (k *Kind) Invalid(draft *object.Object, errs field.ErrorList) error {
	name, gk := draft.Meta.Name, k.Storage.Type.GroupKind() // an event of either group is refused as a core one
	if draft.SentKind != "" {
		// A custom object is refused under the type that it claims to be of.
		gk.Kind, gk.Group = draft.SentKind, ""
		if group, _, found := strings.Cut(draft.SentVersion, "/"); found {
			gk.Group = group
		}
	}
	sortRuns(errs)
	if k.Strategy != nil {
		var kept field.ErrorList
		seen := map[string]bool{}
		for _, err := range errs {
			if text := err.Error(); !seen[text] {
				seen[text] = true
				kept = append(kept, err)
			}
		}
		errs = kept
	}
	return apierrors.NewInvalid(gk, name, errs)
}

// sortRuns orders neighbouring errors about the same field. The validation library reports labels
// and annotations in the random order of a map; a model must not.
func sortRuns(errs field.ErrorList) {
	for i := 0; i < len(errs); {
		j := i + 1
		for j < len(errs) && errs[j].Field == errs[i].Field {
			j++
		}
		run := errs[i:j]
		sort.SliceStable(run, func(a, b int) bool { return run[a].Error() < run[b].Error() })
		i = j
	}
}

// equalOwner compares two owner references by what they say.
func equalOwner(a, b metav1.OwnerReference) bool {
	return a.UID == b.UID && a.APIVersion == b.APIVersion && a.Kind == b.Kind && a.Name == b.Name &&
		ptr.Equal(a.Controller, b.Controller) && ptr.Equal(a.BlockOwnerDeletion, b.BlockOwnerDeletion)
}

// DedupeOwners drops repeated owner references and returns their UIDs.
func DedupeOwners(meta *metav1.ObjectMeta) (repeated []string) {
	var kept []metav1.OwnerReference
	for _, ref := range meta.OwnerReferences {
		if slices.ContainsFunc(kept, func(other metav1.OwnerReference) bool { return equalOwner(other, ref) }) {
			repeated = append(repeated, string(ref.UID))
			continue
		}
		kept = append(kept, ref)
	}
	if len(repeated) > 0 {
		meta.OwnerReferences = kept
	}
	return repeated
}
