package auto

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wavetank/wavetank/sim/internal/world"
)

// longestDeletion is how long a user waits for an object to be gone before it is made again.
const longestDeletion = 5 * time.Minute

// refused is what a story says of a draw that the server did not take.
const refused = "refused by the server"

// author creates, changes and deletes subjects, and owns how refusals by the server are answered.
// Each method returns what was done, or "" if nothing was.
type author struct {
	world *world.World
	err   error // of the first given object that was refused
}

// make creates a subject. What the server refuses is tried again with less: without what was drawn,
// then with every field that its schema has.
func (a *author) make(s *subject) string {
	drawn, full := s.object(), s.object()
	for _, set := range s.settings {
		f := s.fields[set.field]
		a.set(s, drawn, f, f.value(set.value))
	}
	for _, f := range s.fields {
		if s.sample == nil {
			a.set(s, full, f, f.value(1))
		}
	}
	var first error
	for _, o := range []*unstructured.Unstructured{drawn, s.object(), full} {
		err := a.apply(o)
		if err == nil {
			s.wanted = o
			return short(text(o))
		}
		if first == nil {
			first = err
		}
	}
	if s.refusals++; s.given && s.refusals == 1 && a.err == nil {
		a.err = fmt.Errorf("%s: %w", s, first)
	}
	return refused
}

// set writes a value into an object, as the programs' own type keeps it. One that is false or empty
// is often lost there (omitempty): who writes none says the same, unless there is a default.
func (a *author) set(s *subject, o *unstructured.Unstructured, f field, value any) {
	f.put(s.schema, o.Object, value)
	if value == nil || f.schema == nil || f.schema.Default != nil {
		return
	}
	if kept, err := a.world.Kept(o); err == nil {
		f.put(s.schema, o.Object, f.get(kept))
	}
}

// apply applies a manifest, unless the programs' own type cannot hold it.
func (a *author) apply(o *unstructured.Unstructured) error {
	if _, err := a.world.Kept(o); err != nil {
		return err
	}
	return a.world.TryApply(o.DeepCopy())
}

// change changes the nth field of a subject to one of its values, or takes it away.
func (a *author) change(s *subject, nth, variant int) string {
	if len(s.fields) == 0 {
		return ""
	}
	f := s.fields[nth]
	var value any // one more than the variants takes the field away
	if variant < variants {
		value = f.value(variant)
	}
	have, o := s.wanted, s.wanted.DeepCopy()
	a.set(s, o, f, value)
	if text(o) == text(have) {
		return ""
	}
	if a.apply(o) != nil {
		return fmt.Sprintf("change %s of %s: %s", f, s, refused)
	}
	s.wanted, s.before = o, have
	return fmt.Sprintf("change %s of %s to %s", f, s, short(jsonOf(value)))
}

// changeBack takes back the last change of a subject.
func (a *author) changeBack(s *subject) error {
	if err := a.apply(s.before); err != nil {
		return err
	}
	s.wanted, s.before = s.before, nil
	return nil
}

// changeTwice changes a subject in two steps with little or no time in between: another field
// follows, or the first one changes back. In a run that is compared with others it changes once:
// whether an operator acts on what was there in between is left to it.
func (a *author) changeTwice(by action, hurried bool) string {
	s := by.subject
	said := a.change(s, by.field, by.value)
	if said == "" || s.before == nil || !hurried {
		return said
	}
	a.world.Drew(by.label, said)
	pause(a.world, soon[by.nth%len(soon)])
	if by.nth%2 == 0 {
		if a.changeBack(s) != nil {
			return fmt.Sprintf("change %s back: %s", s, refused)
		}
		return fmt.Sprintf("change %s back at once: %s", s, short(text(s.wanted)))
	}
	return a.change(s, (by.field+by.nth)%len(s.fields), (by.value+1)%variants)
}

func pause(w *world.World, d time.Duration) {
	if d > 0 {
		w.Sleep(d)
	}
}

func (a *author) remove(s *subject) string {
	if a.world.TryRemove(s.wanted.DeepCopy()) != nil {
		return fmt.Sprintf("delete %s: %s", s, refused)
	}
	s.wanted, s.before = nil, nil
	return fmt.Sprintf("delete %s", s)
}

// recreate deletes a subject and makes it again as soon as it is gone.
func (a *author) recreate(s *subject) string {
	have := s.wanted
	old, _ := a.world.History().Object(s.Group, s.Kind, s.namespace, s.name)
	if said := a.remove(s); strings.HasSuffix(said, refused) {
		return said
	}
	exists := func() bool {
		_, there := a.world.History().Object(s.Group, s.Kind, s.namespace, s.name)
		return there
	}
	for waited := time.Duration(0); waited < longestDeletion && exists(); waited += time.Second {
		a.world.Sleep(time.Second)
	}
	if exists() { // to apply it now would change what is going
		return fmt.Sprintf("delete %s, which is not gone in %v", s, longestDeletion)
	}
	// A child that is adopted keeps what others have written, and one that is made again does not.
	said := fmt.Sprintf("delete %s and create it again", s)
	for _, child := range changedChildren(a.world.History(), old.UID) {
		said += ", before its " + child + " is gone"
	}
	if a.apply(have) != nil {
		return said + ": " + refused
	}
	s.wanted = have
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
