package history

import (
	"fmt"
	"reflect"
	"strings"
)

// Get returns the current server-side object with this namespace and name as a T, and reports
// whether it exists:
//
//	backup, ok := history.Get[v1.Backup](h, "default", "a")
//
// Its kind is the name of the type, as in a runtime.Scheme. Types of k8s.io/api have their API
// group. Any other type has the group in which the cluster has objects of the kind. Get panics if
// several groups have such objects, or if the object cannot be decoded into a T. Use
// [History.Object] for the former, and for objects of other clusters.
func Get[T any](h *History, namespace, name string) (value T, ok bool) {
	kind := reflect.TypeFor[T]()
	group, ok := groupOf(h, kind)
	if !ok {
		return value, false
	}
	o, ok := h.Object(group, kind.Name(), namespace, name)
	if ok {
		decode(o, &value)
	}
	return value, ok
}

// List returns the current server-side objects of the type T, ordered by namespace and name:
//
//	claims := history.List[corev1.PersistentVolumeClaim](h)
//
// The kind is found as by [Get], and List panics like Get. [History.Objects] returns the objects of
// a group and kind.
func List[T any](h *History) []T {
	kind := reflect.TypeFor[T]()
	group, ok := groupOf(h, kind)
	if !ok {
		return nil
	}
	objects := h.Objects(group, kind.Name())
	list := make([]T, len(objects))
	for i, o := range objects {
		decode(o, &list[i])
	}
	return list
}

func decode[T any](o Object, into *T) {
	if err := o.fill(into); err != nil {
		panic(fmt.Sprintf("history: %s cannot be decoded into %T: %v", o, *into, err))
	}
}

// groupOf returns the API group of the objects whose kind is the name of the type t. It returns
// false if the cluster has no such objects.
func groupOf(h *History, t reflect.Type) (group string, found bool) {
	builtIn, isBuiltIn := strings.CutPrefix(t.PkgPath(), "k8s.io/api/")
	builtIn, _, _ = strings.Cut(builtIn, "/")
	if builtIn == "core" {
		builtIn = "" // the group has no name
	}
	for ref := range h.kinds {
		if ref.Cluster != "" || ref.Kind != t.Name() {
			continue
		}
		if short, _, _ := strings.Cut(ref.Group, "."); isBuiltIn && short != builtIn {
			continue
		}
		if found && ref.Group != group {
			panic(fmt.Sprintf("history: %s is a kind of the groups %q and %q: use History.Object or History.Objects,"+
				" which take the group", t.Name(), min(group, ref.Group), max(group, ref.Group)))
		}
		group, found = ref.Group, true
	}
	return group, found
}
