package apiserver

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var metadataPath = field.NewPath("metadata")

// validateCreate is the strategy's validation and, when that finds nothing, the common one
// (staging/src/k8s.io/apiserver/pkg/registry/rest/create.go, ValidateCreate).
func (c *call) validateCreate(draft *object) field.ErrorList {
	errs := c.strategyErrors(draft, nil)
	if len(errs) == 0 {
		errs = apivalidation.ValidateObjectMetaAccessor(draft.meta, c.kind.namespaced, pathSegment, metadataPath)
	}
	return errs
}

// validateUpdate is the common validation and then the strategy's
// (staging/src/k8s.io/apiserver/pkg/registry/rest/update.go, ValidateUpdate).
func (c *call) validateUpdate(draft, old *object, sub string) field.ErrorList {
	var errs field.ErrorList
	if draft.sameMeta = sameMeta(draft.meta, old.meta); !draft.sameMeta {
		errs = apivalidation.ValidateObjectMetaAccessor(draft.meta, c.kind.namespaced, pathSegment, metadataPath)
		errs = append(errs, apivalidation.ValidateObjectMetaAccessorUpdate(draft.meta, old.meta, metadataPath)...)
	}
	if sub == "status" {
		return append(errs, c.statusErrors(draft, old)...)
	}
	if sub == "finalize" {
		return append(errs, c.kind.builtin.validateFinalize(draft.typed, old.typed)...)
	}
	return append(errs, c.strategyErrors(draft, old)...)
}

func pathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// strategyErrors validates what is particular to the type; old is nil on creation.
func (c *call) strategyErrors(draft, old *object) field.ErrorList {
	b := c.kind.builtin
	if b == nil {
		return c.customErrors(draft, old, false)
	}
	var errs field.ErrorList
	if old == nil {
		name := b.validName
		if name == nil {
			name = apivalidation.NameIsDNSSubdomain
		}
		errs = apivalidation.ValidateObjectMeta(draft.meta, c.kind.namespaced, name, metadataPath)
		errs = append(errs, finalizerErrors(draft.meta.Finalizers, metadataPath.Child("finalizers"))...)
		if b.validateNew != nil {
			errs = append(errs, b.validateNew(draft.typed)...)
		}
	} else {
		errs = metaUpdateErrors(draft, old)
	}
	if b.validate != nil {
		errs = append(errs, b.validate(draft.typed)...)
	}
	if old != nil && b.validateUpdate != nil {
		errs = append(errs, b.validateUpdate(draft.typed, old.typed)...)
	}
	return errs
}

// metaUpdateErrors is what the strategies of built-in types check of metadata once more.
func metaUpdateErrors(draft, old *object) field.ErrorList {
	if draft.sameMeta {
		return nil
	}
	return append(apivalidation.ValidateObjectMetaUpdate(draft.meta, old.meta, metadataPath),
		finalizerErrors(draft.meta.Finalizers, metadataPath.Child("finalizers"))...)
}

// sameMeta says that an update leaves alone all metadata that validation looks at. What was valid when it was stored is
// valid still, so the many updates of spec or status alone are spared the checks.
func sameMeta(m, old *metav1.ObjectMeta) bool {
	return m.Name == old.Name && m.Namespace == old.Namespace && m.UID == old.UID && m.GenerateName == old.GenerateName &&
		m.CreationTimestamp.Equal(&old.CreationTimestamp) && m.DeletionTimestamp.Equal(old.DeletionTimestamp) &&
		equalNumber(m.DeletionGracePeriodSeconds, old.DeletionGracePeriodSeconds) &&
		maps.Equal(m.Labels, old.Labels) && maps.Equal(m.Annotations, old.Annotations) &&
		slices.Equal(m.Finalizers, old.Finalizers) && slices.EqualFunc(m.OwnerReferences, old.OwnerReferences, equalOwner) &&
		m.Generation >= old.Generation && m.ResourceVersion != "" &&
		// Managed fields change with every write, and are as the server writes them unless the client has its own word in them.
		len(metavalidation.ValidateManagedFields(m.ManagedFields, nil)) == 0
}

func equalNumber(a, b *int64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// finalizerErrors is the stricter rule that built-in types have for finalizers without a domain
// (pkg/apis/core/validation/validation.go, validateKubeFinalizerName).
func finalizerErrors(finalizers []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, f := range finalizers {
		if !strings.Contains(f, "/") && !standardFinalizer(f) {
			errs = append(errs, field.Invalid(path.Index(i), f, "name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}

func standardFinalizer(f string) bool {
	return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents || f == "kubernetes"
}

func (c *call) statusErrors(draft, old *object) field.ErrorList {
	if c.kind.builtin == nil {
		return c.customErrors(draft, old, true)
	}
	errs := metaUpdateErrors(draft, old)
	if v := c.kind.builtin.validateStatus; v != nil {
		errs = append(errs, v(draft.typed, old.typed)...)
	}
	return errs
}

// customErrors follows apiextensions-apiserver's pkg/registry/customresource/validator.go.
func (c *call) customErrors(draft, old *object, status bool) field.ErrorList {
	if errs := c.typeErrors(draft); len(errs) > 0 {
		return errs
	}
	op, oldMeta := operation.Create, (*metav1.ObjectMeta)(nil)
	if old != nil {
		op, oldMeta = operation.Update, old.meta
	}
	var errs field.ErrorList
	if !draft.sameMeta {
		errs = apivalidation.ValidateObjectMetaDeclaratively(context.Background(), op, draft.meta, oldMeta,
			c.kind.namespaced, apivalidation.NameIsDNSSubdomain, metadataPath, true)
	}
	scale := c.scaleErrors(draft, status)
	if old == nil {
		return c.ver.schema.validate(errs, c.whole(draft), scale)
	}
	content, before := c.whole(draft), c.whole(old)
	if c.ver.schema.lacks(content) {
		// What the root lacks is held against every update, even one that changes nothing: a real server never finds the
		// roots alike.
		before = shallowCopy(before)
		before["metadata"] = nil
	}
	return c.ver.schema.validateUpdate(errs, content, before, status, scale, c.warn)
}

// typeErrors refuses a custom object that claims to be of another type.
func (c *call) typeErrors(draft *object) field.ErrorList {
	var errs field.ErrorList
	if draft.sentKind != "" && draft.sentKind != c.kind.kind {
		errs = append(errs, field.Invalid(field.NewPath("kind"), draft.sentKind, "must be "+c.kind.kind))
	}
	if draft.sentKind != "" && draft.sentVersion != c.ver.apiVersion() {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), draft.sentVersion, "must be "+c.ver.apiVersion()))
	}
	return errs
}

// whole is the complete decoded object, for validators that look at metadata too; only the top level is fresh.
func (c *call) whole(o *object) map[string]any {
	if c.ver.schema.compile() == nil && !c.ver.schema.meta {
		return o.rest
	}
	return o.document()
}

// specChanged says whether an update changed what metadata.generation counts for built-in types.
func specChanged(o, old runtime.Object) bool {
	spec := part(o, "Spec")
	if !spec.IsValid() {
		return contentChanged(o, old)
	}
	return !equality.Semantic.DeepEqual(spec.Interface(), part(old, "Spec").Interface())
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

// warnFinalizers warns about unqualified finalizers of custom objects
// (apiextensions-apiserver's pkg/registry/customresource/strategy.go and validator.go).
func (c *call) warnFinalizers(meta, old *metav1.ObjectMeta) {
	if c.kind.builtin != nil || len(meta.Finalizers) == 0 {
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
			c.warn(fmt.Sprintf("metadata.finalizers: %q: %s", f, msg))
		}
		if strings.Contains(f, "/") || standardFinalizer(f) {
			continue
		}
		if strings.Contains(f, ".") {
			c.warn(fmt.Sprintf("metadata.finalizers: %q: prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers", f))
		} else {
			c.warn(fmt.Sprintf("metadata.finalizers: %q: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers", f))
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
