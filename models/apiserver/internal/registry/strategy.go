package registry

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// strategy holds the rules of one built-in kind: the strategy that kube-apiserver has for it under
// pkg/registry, reduced to what clients notice.
type strategy struct {
	// Unconditional allows updates without a resourceVersion.
	Unconditional bool
	// CreateOnUpdate makes an update of a missing object create it.
	CreateOnUpdate bool
	// generation says that metadata.generation follows the spec.
	generation bool
	// labelsCount says that generation follows the labels too, annotationsCount the annotations.
	labelsCount, annotationsCount bool
	// status says that the status is written through its subresource only.
	status bool
	// ReturnsDeleted says that a delete answers with the object instead of a Status.
	ReturnsDeleted bool
	// orphans says that dependents are orphaned unless the request says otherwise.
	orphans bool
	// noCollection says that owners of this kind have no dependents at all
	// (rest.GarbageCollectionDeleteStrategy).
	noCollection bool
	// Unmodelled are the subresources that a real server serves and the model refuses.
	Unmodelled []string

	// deprecation is a warning that is sent with every reply.
	deprecation string

	// validName checks a name; nil stands for a DNS subdomain.
	validName func(name string, prefix bool) []string
	// defaults fills what the versioned defaulting functions fill.
	defaults func(runtime.Object)
	// prepareCreate and prepareUpdate are the strategy's hooks before validation.
	prepareCreate func(Write, runtime.Object)
	prepareUpdate func(w Write, o, old runtime.Object)
	Validate      func(runtime.Object) field.ErrorList
	// validateNew checks what matters on creation only.
	validateNew func(runtime.Object) field.ErrorList
	// validateUpdate checks changes; validate has run as well.
	validateUpdate func(o, old runtime.Object) field.ErrorList
	// warnings are sent with the reply to a create or update.
	warnings func(runtime.Object) []string
	// DeleteWarning is sent when a deletion names no propagation policy.
	DeleteWarning string
	// canonicalize runs after validation.
	canonicalize func(runtime.Object)
	// validateStatus and validateFinalize check updates through those subresources.
	validateStatus, validateFinalize func(o, old runtime.Object) field.ErrorList
	// keepOnStatus restores what a status update must not change beyond the spec.
	keepOnStatus func(o, old runtime.Object)
	// grace is the grace period of a deletion in seconds; nil when the kind is deleted at once.
	grace func(o runtime.Object, asked *int64) *int64
}

// Write is what a strategy may know of the write that it prepares.
type Write struct {
	Now       metav1.Time
	DryRun    bool
	Allocated *Allocated
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

// selects adapts a function on one type to a selectable field.
func selects[T runtime.Object](f func(T) string) func(*object.Object) string {
	return func(o *object.Object) string { return f(o.Typed.(T)) }
}
