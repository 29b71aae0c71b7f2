package apiserver

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// builtin is what the model knows about one built-in type beyond its names: the strategy that kube-apiserver has for it
// under pkg/registry, reduced to what clients notice.
type builtin struct {
	// unconditional allows updates without a resourceVersion, createOnUpdate makes an update of a missing object create it.
	unconditional, createOnUpdate bool
	// generation says that metadata.generation follows the spec.
	generation bool
	// labelsCount says that generation follows the labels too, annotationsCount that it follows the annotations.
	labelsCount, annotationsCount bool
	// status says that the status is written through its subresource only.
	status bool
	// returnsDeleted says that a delete answers with the object instead of a Status.
	returnsDeleted bool
	// orphans says that dependents are orphaned unless the request says otherwise; noCollection that owners of this type
	// have no dependents at all (rest.GarbageCollectionDeleteStrategy).
	orphans, noCollection bool
	// unmodelled are the subresources that a real server serves and the model refuses.
	unmodelled []string

	// deprecation is a warning that is sent with every reply.
	deprecation string

	// validName checks a name; nil stands for a DNS subdomain.
	validName func(name string, prefix bool) []string
	// defaults fills what the versioned defaulting functions fill.
	defaults func(runtime.Object)
	// prepareCreate and prepareUpdate are the strategy's hooks before validation.
	prepareCreate func(*call, runtime.Object)
	prepareUpdate func(c *call, o, old runtime.Object)
	validate      func(runtime.Object) field.ErrorList
	// validateNew checks what matters on creation only.
	validateNew func(runtime.Object) field.ErrorList
	// validateUpdate checks changes; validate has run as well.
	validateUpdate func(o, old runtime.Object) field.ErrorList
	// warnings are sent with the reply to a create or update.
	warnings func(runtime.Object) []string
	// deleteWarning is sent when a deletion names no propagation policy.
	deleteWarning string
	// canonicalize runs after validation.
	canonicalize func(runtime.Object)
	// validateStatus and validateFinalize check updates through those subresources.
	validateStatus, validateFinalize func(o, old runtime.Object) field.ErrorList
	// keepOnStatus restores what a status update must not change beyond the spec.
	keepOnStatus func(o, old runtime.Object)
	// prepareStatus completes a status update; the status has been replaced already.
	prepareStatus func(c *call, o, old runtime.Object)
	// grace is the grace period of a deletion in seconds; nil when the type is deleted at once.
	grace func(o runtime.Object, asked *int64) *int64
}

// on adapts a function on one type to the table's signature.
func on[T runtime.Object](f func(T)) func(runtime.Object) {
	return func(o runtime.Object) { f(o.(T)) }
}

// checks adapts a validation function on one type.
func checks[T runtime.Object](f func(T) field.ErrorList) func(runtime.Object) field.ErrorList {
	return func(o runtime.Object) field.ErrorList { return f(o.(T)) }
}

// compares adapts an update validation function on one type.
func compares[T runtime.Object](f func(o, old T) field.ErrorList) func(o, old runtime.Object) field.ErrorList {
	return func(o, old runtime.Object) field.ErrorList { return f(o.(T), old.(T)) }
}

// part is a top-level field of a built-in object, such as its Spec; the zero Value when the type has none.
func part(o runtime.Object, name string) reflect.Value {
	return reflect.ValueOf(o).Elem().FieldByName(name)
}

// copyPart makes a top-level field of o equal to that of old, or empty when old is nil.
func copyPart(o, old runtime.Object, name string) {
	to := part(o, name)
	if !to.IsValid() {
		return
	}
	if old == nil {
		to.SetZero()
		return
	}
	to.Set(part(old.DeepCopyObject(), name))
}
