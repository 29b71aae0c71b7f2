package auto

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Approvals gives keys of annotations and labels that the programs read, such as
// "example.com/approved" or "example.com/approved=true". Users set and remove them.
func Approvals(keys ...string) Option {
	return func(s *settings) { s.marks = append(s.marks, keys...) }
}

// another manager writes what is its own: a label, an annotation or a field that the users'
// manifests do not have.
const (
	anotherManager = "another-manager"
	anothersKey    = "wavetank.example/other"
)

// mark sets or removes a label, an annotation or a field of an object, as another manager than the
// one that applies the users' manifests.
func (o *outsider) mark(a action, obj *unstructured.Unstructured, name string, fields []field) string {
	if n := a.field % (len(fields) + 1); a.value == variants && n < len(fields) && fields[n].get(obj.Object) == nil {
		change, v := map[string]any{}, fields[n].value(a.field%variants)
		fields[n].put(nil, change, v)
		return patch(o.world, obj, change, fmt.Sprintf("another manager sets %s of %s to %s", fields[n], name,
			short(jsonOf(v))), client.FieldOwner(anotherManager))
	}
	all := append(slices.Clone(o.marks), anothersKey)
	key, value := keyAndValue(all[(a.field+a.nth)%len(all)])
	where := []string{"annotations", "labels"}[a.value%2]
	said := fmt.Sprintf("another manager sets the %s %s of %s to %q", where[:len(where)-1], key, name, value)
	var v any = value
	if have, _, _ := unstructured.NestedString(obj.Object, "metadata", where, key); have == value {
		v, said = nil, fmt.Sprintf("another manager removes the %s %s of %s", where[:len(where)-1], key, name)
	}
	change := map[string]any{"metadata": map[string]any{where: map[string]any{key: v}}}
	return patch(o.world, obj, change, said, client.FieldOwner(anotherManager))
}

// keyAndValue takes "key=value" apart. Without a value it is "true".
func keyAndValue(s string) (key, value string) {
	if key, value, found := strings.Cut(s, "="); found {
		return key, value
	}
	return s, "true"
}
