package auto

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/world"
)

// outsider is a writer that owns none of the objects that it changes: the children of programs, and
// fields of objects that another manager applies.
type outsider struct {
	world *world.World
	marks []string // keys of annotations and labels that the programs read
}

// children are the objects that a program under test has made, that name their controller, and that
// the program watches: it says that they are its business, and can learn of what others do to them.
func children(h *history.History) (out []history.Object) {
	made := map[string]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		for _, c := range e.Changes {
			if c.Type == "ADDED" && e.Incarnation > 0 {
				made[c.UID] = true
			}
		}
	}
	for _, o := range h.Live(func(r history.Ref) bool { return !r.Chatter() }) {
		if made[o.UID] && controlled(o) && watched(h, o.Ref.Group, o.Ref.Kind) {
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(a, b history.Object) int { return strings.Compare(nameless(a), nameless(b)) })
	return out
}

// changedChildren are the living objects of an owner that others than programs have changed.
func changedChildren(h *history.History, owner string) (out []string) {
	changed := map[string]bool{}
	for i := range h.Events {
		for _, c := range h.Events[i].Changes {
			changed[c.UID] = changed[c.UID] || c.Type == "MODIFIED" && h.Events[i].Process == run.User
		}
	}
	for _, o := range h.Live(func(r history.Ref) bool { return !r.Chatter() }) {
		var m unstructured.Unstructured
		if changed[o.UID] && m.UnmarshalJSON(o.JSON) == nil && slices.ContainsFunc(m.GetOwnerReferences(),
			func(r metav1.OwnerReference) bool { return string(r.UID) == owner }) {
			out = append(out, nameless(o))
		}
	}
	return out
}

// pick is the nth child. Kinds take turns: one with many objects does not hide another.
func pick(all []history.Object, n int) history.Object {
	var kinds []string
	for _, o := range all {
		if !slices.Contains(kinds, o.Ref.Kind) {
			kinds = append(kinds, o.Ref.Kind)
		}
	}
	of := slices.DeleteFunc(slices.Clone(all), func(o history.Object) bool { return o.Ref.Kind != kinds[n%len(kinds)] })
	return of[n/len(kinds)%len(of)]
}

// controlled reports whether an object names its controller.
func controlled(o history.Object) bool {
	var m unstructured.Unstructured
	return m.UnmarshalJSON(o.JSON) == nil && metav1.GetControllerOf(&m) != nil
}

// nameless names an object without what the server has drawn.
func nameless(o history.Object) string {
	var m unstructured.Unstructured
	if m.UnmarshalJSON(o.JSON) == nil && m.GetGenerateName() != "" {
		return o.Ref.Kind + " " + o.Ref.Namespace + "/" + m.GetGenerateName() + "…"
	}
	return o.Ref.Kind + " " + o.Ref.Namespace + "/" + o.Ref.Name
}

// disturbChild deletes a child, changes one of its fields, or removes one of its labels.
func (o *outsider) disturbChild(a action) string {
	all := children(o.world.History())
	if len(all) == 0 {
		return ""
	}
	child := pick(all, a.nth)
	var obj unstructured.Unstructured
	if obj.UnmarshalJSON(child.JSON) != nil || obj.GetDeletionTimestamp() != nil {
		return ""
	}
	name := nameless(child)
	switch a.what {
	case removeChild:
		if err := o.world.TryRemove(&obj); err != nil {
			return fmt.Sprintf("delete %s: %s", name, refused)
		}
		return "delete " + name
	case unlabelChild:
		labels := obj.GetLabels()
		if len(labels) == 0 {
			return ""
		}
		keys := slices.Sorted(maps.Keys(labels))
		key := keys[a.field%len(keys)]
		change := map[string]any{"metadata": map[string]any{"labels": map[string]any{key: nil}}}
		return patch(o.world, &obj, change, fmt.Sprintf("remove the label %s of %s", key, name))
	}
	fields := fieldsIn(nil, obj.Object, nil)
	if a.what == markChild {
		return o.mark(a, &obj, name, nil)
	}
	if len(fields) == 0 {
		return ""
	}
	f := fields[a.field%len(fields)]
	f.secret = obj.GetKind() == "Secret"
	change := map[string]any{}
	f.put(nil, change, f.value(a.value))
	return patch(o.world, &obj, change, fmt.Sprintf("change %s of %s to %s", f, name, short(jsonOf(f.value(a.value)))))
}

// patch merges a change into an object, and returns what was said of it; "" if the object is gone.
func patch(w *world.World, o *unstructured.Unstructured, change map[string]any, said string,
	opts ...client.PatchOption) string {
	err := w.Client().Patch(w.Context(), o, client.RawPatch(types.MergePatchType, []byte(jsonOf(change))), opts...)
	if apierrors.IsNotFound(err) {
		return ""
	}
	if err != nil {
		return said + ": " + refused
	}
	return said
}
