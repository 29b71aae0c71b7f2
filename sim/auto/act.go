package auto

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
)

// longestDeletion is how long a user waits for an object to be gone before it is made again.
const longestDeletion = 5 * time.Minute

// make creates a subject. What the server refuses is tried again with less: without what was drawn,
// then with every field that its schema has.
func (u *users) make(i int) string {
	s := u.subjects[i]
	drawn, full := s.object(), s.object()
	for _, set := range u.drawn.settings[i] {
		f := s.fields[set.field]
		u.set(s, drawn, f, f.value(set.value))
	}
	for _, f := range s.fields {
		if s.sample == nil {
			u.set(s, full, f, f.value(1))
		}
	}
	var first error
	for _, o := range []*unstructured.Unstructured{drawn, s.object(), full} {
		err := u.apply(o)
		if err == nil {
			u.wanted[i] = o
			return short(text(o))
		}
		if first == nil {
			first = err
		}
	}
	if u.refusals[i]++; s.given && u.refusals[i] == 1 && u.refused == nil {
		u.refused = fmt.Errorf("%s: %w", s, first)
	}
	return refused
}

// set writes a value into an object, as the programs' own type keeps it. One that is false or empty
// is often lost there (omitempty): who writes none says the same, unless there is a default.
func (u *users) set(s *subject, o *unstructured.Unstructured, f field, value any) {
	f.put(s.schema, o.Object, value)
	if value == nil || f.schema == nil || f.schema.Default != nil {
		return
	}
	if kept, err := u.world.Kept(o); err == nil {
		f.put(s.schema, o.Object, f.get(kept))
	}
}

// refused is what a story says of a draw that the server did not take.
const refused = "refused by the server"

// apply applies a manifest, unless the programs' own type cannot hold it.
func (u *users) apply(o *unstructured.Unstructured) error {
	if _, err := u.world.Kept(o); err != nil {
		return err
	}
	return u.world.TryApply(o.DeepCopy())
}

// perform does what an action says, and says what it was; "" if it could not be done.
func (u *users) perform(a action) string {
	s := u.subjects[a.subject]
	have := u.wanted[a.subject]
	switch a.what {
	case restart:
		all := u.world.Processes()
		name := all[a.nth%len(all)]
		u.world.Stop(name)
		return "restart " + name
	case removeChild, editChild, unlabelChild, markChild:
		return u.disturbChild(a)
	case provide:
		return u.provide(a)
	case create:
		if have != nil {
			return ""
		}
		return fmt.Sprintf("create %s: %s", s, u.make(a.subject))
	}
	if have == nil {
		return ""
	}
	switch a.what {
	case change:
		return u.change(a, a.field)
	case scale:
		f, ok := s.replicas()
		if !ok {
			return ""
		}
		return u.change(a, slices.IndexFunc(s.fields, func(o field) bool { return o.String() == f.String() }))
	case changeBack:
		before := u.before[a.subject]
		if before == nil || u.apply(before) != nil {
			return ""
		}
		u.wanted[a.subject], u.before[a.subject] = before, nil
		return fmt.Sprintf("change %s back: %s", s, short(text(before)))
	case remove:
		return u.remove(a.subject)
	case recreate:
		return u.recreate(a.subject)
	case mark:
		return u.mark(a, have.DeepCopy(), s.String(), s.fields)
	case twice:
		return u.changeTwice(a)
	case removeAndRestart:
		return u.removeAndRestart(a)
	}
	return ""
}

// change changes one field of a subject, or takes it away.
func (u *users) change(a action, n int) string {
	s, have := u.subjects[a.subject], u.wanted[a.subject]
	if len(s.fields) == 0 {
		return ""
	}
	f := s.fields[n]
	var value any // one more than the variants takes the field away
	if a.value < variants {
		value = f.value(a.value)
	}
	o := have.DeepCopy()
	u.set(s, o, f, value)
	if text(o) == text(have) {
		return ""
	}
	if u.apply(o) != nil {
		return fmt.Sprintf("change %s of %s: %s", f, s, refused)
	}
	u.wanted[a.subject], u.before[a.subject] = o, have
	return fmt.Sprintf("change %s of %s to %s", f, s, short(jsonOf(value)))
}

func (u *users) remove(i int) string {
	if u.world.TryRemove(u.wanted[i].DeepCopy()) != nil {
		return fmt.Sprintf("delete %s: %s", u.subjects[i], refused)
	}
	delete(u.wanted, i)
	delete(u.before, i)
	return fmt.Sprintf("delete %s", u.subjects[i])
}

// recreate deletes a subject and makes it again as soon as it is gone.
func (u *users) recreate(i int) string {
	have := u.wanted[i]
	if said := u.remove(i); strings.HasSuffix(said, refused) {
		return said
	}
	for waited := time.Duration(0); waited < longestDeletion; waited += time.Second {
		if _, there := u.find(u.subjects[i]); !there {
			break
		}
		u.world.Sleep(time.Second)
	}
	if _, there := u.find(u.subjects[i]); there { // to apply it now would change what is going
		return fmt.Sprintf("delete %s, which is not gone in %v", u.subjects[i], longestDeletion)
	}
	if u.apply(have) != nil {
		return fmt.Sprintf("delete %s and create it again: %s", u.subjects[i], refused)
	}
	u.wanted[i] = have
	return fmt.Sprintf("delete %s and create it again", u.subjects[i])
}

func (u *users) find(s *subject) (history.Object, bool) {
	return u.world.History().Object(s.Group, s.Kind, s.namespace, s.name)
}

// children are the objects that a program under test has made, that name their controller, and that
// the program watches: it says that they are its business, and can learn of what others do to them.
func (u *users) children() (out []history.Object) {
	h := u.world.History()
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
func (u *users) disturbChild(a action) string {
	all := u.children()
	if len(all) == 0 {
		return ""
	}
	child := pick(all, a.nth)
	var o unstructured.Unstructured
	if o.UnmarshalJSON(child.JSON) != nil || o.GetDeletionTimestamp() != nil {
		return ""
	}
	name := nameless(child)
	switch a.what {
	case removeChild:
		if err := u.world.TryRemove(&o); err != nil {
			return fmt.Sprintf("delete %s: %s", name, refused)
		}
		return "delete " + name
	case unlabelChild:
		labels := o.GetLabels()
		if len(labels) == 0 {
			return ""
		}
		keys := slices.Sorted(maps.Keys(labels))
		key := keys[a.field%len(keys)]
		patch := map[string]any{"metadata": map[string]any{"labels": map[string]any{key: nil}}}
		return u.patchChild(&o, patch, fmt.Sprintf("remove the label %s of %s", key, name))
	}
	fields := fieldsIn(nil, o.Object, nil)
	if a.what == markChild {
		return u.mark(a, &o, name, nil)
	}
	if len(fields) == 0 {
		return ""
	}
	f := fields[a.field%len(fields)]
	f.secret = o.GetKind() == "Secret"
	patch := map[string]any{}
	f.put(nil, patch, f.value(a.value))
	return u.patchChild(&o, patch, fmt.Sprintf("change %s of %s to %s", f, name, short(jsonOf(f.value(a.value)))))
}

func (u *users) patchChild(o *unstructured.Unstructured, patch map[string]any, said string) string {
	err := u.world.Client().Patch(u.world.Context(), o, client.RawPatch(types.MergePatchType, []byte(jsonOf(patch))))
	if apierrors.IsNotFound(err) {
		return ""
	}
	if err != nil {
		return said + ": " + refused
	}
	return said
}

// text is what a manifest asks for, without its name.
func text(o *unstructured.Unstructured) string {
	content := o.DeepCopy().Object
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		delete(content, name)
	}
	return jsonOf(content)
}

func jsonOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

// longestText is how much of a manifest a story shows, in bytes.
const longestText = 120

func short(s string) string {
	if len(s) <= longestText {
		return s
	}
	return strings.ToValidUTF8(s[:longestText], "") + "…"
}
