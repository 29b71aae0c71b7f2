package registry

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func equalObjects(a, b any) bool { return equality.Semantic.DeepEqual(a, b) }

func immutable(name string) *field.Error {
	return field.Forbidden(field.NewPath(name), "field is immutable when `immutable` is set")
}

// segmentName says what is wrong with a name that need only fit into a path. The newer functions of
// package content are not in k8s.io 0.35.
var segmentName = path.ValidatePathSegmentName //nolint:staticcheck // see above

// change is a field before and after an update.
type change struct {
	name        string
	now, before any
}

// frozen refuses changes of fields below a path, or of top-level fields when that is nil.
func frozen(path *field.Path, changes ...change) (errs field.ErrorList) {
	for _, c := range changes {
		errs = append(errs, apivalidation.ValidateImmutableField(c.now, c.before, path.Child(c.name))...)
	}
	return errs
}

// sortedKeys are the keys of data in the order in which errors report them. ConfigMaps and Secrets
// are written often, so the list is made at once.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
