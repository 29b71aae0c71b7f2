package auto

import (
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Approvals gives keys of annotations and labels that the programs read, such as
// "example.com/approved" or "example.com/approved=true". Users set and remove them.
func Approvals(keys ...string) Option {
	return func(u *users) { u.marks = append(u.marks, keys...) }
}

// another manager writes what is its own: a label, an annotation or a field that the users'
// manifests do not have.
const (
	anotherManager = "another-manager"
	anothersKey    = "wavetank.example/other"
)

// mark sets or removes a label, an annotation or a field of an object, as another manager than the
// one that applies the users' manifests.
func (u *users) mark(a action, o *unstructured.Unstructured, name string, fields []field) string {
	if n := a.field % (len(fields) + 1); a.value == variants && n < len(fields) && fields[n].get(o.Object) == nil {
		patch, v := map[string]any{}, fields[n].value(a.field%variants)
		fields[n].put(nil, patch, v)
		return u.patchAsAnother(o, patch, fmt.Sprintf("another manager sets %s of %s to %s", fields[n], name,
			short(jsonOf(v))))
	}
	all := append(slices.Clone(u.marks), anothersKey)
	key, value := keyAndValue(all[(a.field+a.nth)%len(all)])
	where := []string{"annotations", "labels"}[a.value%2]
	said := fmt.Sprintf("another manager sets the %s %s of %s to %q", where[:len(where)-1], key, name, value)
	var v any = value
	if have, _, _ := unstructured.NestedString(o.Object, "metadata", where, key); have == value {
		v, said = nil, fmt.Sprintf("another manager removes the %s %s of %s", where[:len(where)-1], key, name)
	}
	return u.patchAsAnother(o, map[string]any{"metadata": map[string]any{where: map[string]any{key: v}}}, said)
}

func (u *users) patchAsAnother(o *unstructured.Unstructured, patch map[string]any, said string) string {
	err := u.world.Client().Patch(u.world.Context(), o, client.RawPatch(types.MergePatchType, []byte(jsonOf(patch))),
		client.FieldOwner(anotherManager))
	if apierrors.IsNotFound(err) {
		return ""
	}
	if err != nil {
		return said + ": " + refused
	}
	return said
}

// keyAndValue takes "key=value" apart. Without a value it is "true".
func keyAndValue(s string) (key, value string) {
	for i := range s {
		if s[i] == '=' {
			return s[:i], s[i+1:]
		}
	}
	return s, "true"
}

// changeTwice changes a subject in two steps with little or no time in between: another field
// follows, or the first one changes back. In a run that is compared with others it changes once:
// whether an operator acts on what was there in between is left to it.
func (u *users) changeTwice(a action) string {
	said := u.change(a, a.field)
	s := u.subjects[a.subject]
	before := u.before[a.subject]
	if said == "" || before == nil || !u.drawn.hurried {
		return said
	}
	u.world.Drew(a.label, said)
	u.pause(soon[a.nth%len(soon)])
	if a.nth%2 == 0 {
		if u.apply(before) != nil {
			return fmt.Sprintf("change %s back: %s", s, refused)
		}
		u.wanted[a.subject], u.before[a.subject] = before, nil
		return fmt.Sprintf("change %s back at once: %s", s, short(text(before)))
	}
	a.value = (a.value + 1) % variants
	return u.change(a, (a.field+a.nth)%len(s.fields))
}

func (u *users) pause(d time.Duration) {
	if d > 0 {
		u.world.Sleep(d)
	}
}

// removeAndRestart deletes a subject and restarts a program soon after.
func (u *users) removeAndRestart(a action) string {
	said := u.remove(a.subject)
	u.world.Drew(a.label, said)
	u.pause(soon[a.nth%len(soon)])
	all := u.world.Processes()
	name := all[a.nth%len(all)]
	u.world.Stop(name)
	return "restart " + name
}
