package auto

import (
	"fmt"
	"slices"
	"time"

	"github.com/wavetank/wavetank/sim/internal/world"
)

// verb is what a user does.
type verb int

// The first verb is the default choice, so an action is removed by taking its choice away.
const (
	nothing verb = iota
	change
	changeBack
	remove
	recreate
	create
	restart
	applyAgain
	removeChild
	editChild
	unlabelChild
	scale
	provide
	mark
	markChild
	twice
	removeAndRestart
	verbs int = iota
)

// setting gives a field a value when an object is made.
type setting struct{ field, value int }

// action is one disturbance by a user, drawn before the world begins to move. Its subject, or the
// number of what it is done to, is the same in the run without faults.
type action struct {
	label   string
	what    verb
	subject *subject // nil where another number says what it is done to
	field   int
	value   int
	nth     int           // of the children, or of the processes
	early   time.Duration // it happens so long after the one before, without waiting for the world to settle
}

// known reports whether it is known without looking at the world what the action is done to.
func (a action) known() bool {
	switch a.what {
	case removeChild, editChild, unlabelChild, markChild, applyAgain, provide:
		return false
	}
	return true
}

// onObject reports whether the action is done to one object.
func (a action) onObject() bool {
	return a.what != nothing && a.what != restart && a.what != removeAndRestart && a.what != applyAgain
}

// plan is everything that users do in one run.
type plan struct {
	first    []*subject // that are created first, in order
	late     *subject   // the last of them; it may have been there and be gone meanwhile; nil for none
	actions  []action
	hurried  bool // some actions do not wait for the world to settle
	restarts bool // every program is restarted while all objects are being deleted
	ready    bool // what programs look for is there from the start
}

// What a plan has at most.
const (
	mostSettings = 3
	mostActions  = 8
	mostChildren = 12 // numbers that stand for children
)

// soon are the times between two steps of one action.
var soon = []time.Duration{0, time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, time.Second}

// earlier are the times after which an action happens that does not wait.
var earlier = []time.Duration{0, 20 * time.Millisecond, 200 * time.Millisecond, 2 * time.Second}

// drawPlan draws what users do, with at most so many actions. Each object and each action has a
// label of its own. The default choice of each sets nothing and does nothing, so shrinking takes
// them away one by one. waits reports that programs look for what users create.
func drawPlan(w *world.World, subjects []*subject, most int, waits bool) (p plan) {
	for _, s := range subjects {
		s.settings = drawSettings(w, s)
		if s.given {
			p.first = append(p.first, s)
		}
	}
	p.hurried = w.Choose("pace", "actions wait", 2, 3) == 1
	if waits { // a hasty run does not wait until a program has looked for something
		p.ready = w.Choose("prerequisites", "are there from the start", 2, 2) == 1 || p.hurried
	}
	p.restarts = w.Choose("end", "restart while all is deleted", 2, 3) == 1
	p.drawLate(w, subjects)
	for i := range most {
		a := action{label: fmt.Sprintf("action %d", i+1)}
		draw := func(what string, n, odds int) int { return w.Choose(a.label, what, n, odds) }
		a.what = verb(draw("what", verbs, 2))
		switch a.what {
		case nothing, applyAgain:
		case restart:
			a.nth = draw("which", mostChildren, 0)
		case removeChild, editChild, unlabelChild, markChild, provide:
			a.nth, a.field = draw("which", mostChildren, 0), draw("field", mostChildren, 0)
			a.value = draw("value", variants, 0)
		default:
			a.subject = subjects[draw("object", len(subjects), 0)]
			a.field = draw("field", max(len(a.subject.fields), 1), 0)
			a.value = draw("value", variants+1, 0)
			if a.what == removeAndRestart || a.what == twice {
				a.nth = draw("then", mostChildren, 0)
			}
		}
		if p.hurried && a.what != nothing {
			a.early = earlier[draw("how early", len(earlier), 0)]
		}
		p.actions = append(p.actions, a)
	}
	if most > 0 {
		p.actions = append(p.actions, lastEdit(w, subjects, waits))
	}
	return p
}

// drawLate draws the object that comes last of those that are there first: an operator meets what
// needs an object before the object itself.
func (p *plan) drawLate(w *world.World, subjects []*subject) {
	var early []*subject
	for _, s := range subjects {
		if s.given || s.wanted != nil {
			early = append(early, s)
		}
	}
	if n := w.Choose("begin", "which comes late", len(early)+1, 3); n > 0 && len(early) > 1 {
		p.late = early[n-1]
		p.first = append(slices.DeleteFunc(p.first, func(s *subject) bool { return s == p.late }), p.late)
	}
}

// lastEdit changes an object when nothing else follows before the programs restart: what a program
// does not do because an event escapes it, another event would have it do. The last of the objects
// stands for those that programs look for.
func lastEdit(w *world.World, subjects []*subject, waits bool) action {
	a, n := action{label: "last action"}, len(subjects)
	if waits {
		n++
	}
	if w.Choose(a.label, "what", 2, 2) == 0 {
		return a
	}
	if i := w.Choose(a.label, "object", n, 0); i < len(subjects) {
		a.what, a.subject = change, subjects[i]
		a.field = w.Choose(a.label, "field", max(len(a.subject.fields), 1), 0)
	} else {
		a.what, a.nth = provide, w.Choose(a.label, "which", mostChildren, 0)
		a.field = 1 + w.Choose(a.label, "field", mostChildren, 0) // at 0 it would be deleted
	}
	a.value = w.Choose(a.label, "value", variants, 0)
	return a
}

// drawSettings draws what is set in an object when it is made, besides what it must have.
func drawSettings(w *world.World, s *subject) (out []setting) {
	label := "object " + s.String()
	for i := range mostSettings {
		what := func(part string) string { return fmt.Sprintf("%s %d", part, i+1) }
		if f := w.Choose(label, what("field"), len(s.fields)+1, 2); f > 0 {
			out = append(out, setting{f - 1, w.Choose(label, what("value"), variants, 0)})
		}
	}
	return out
}

// nextIsEarly is how long after the action before it the next one happens; 0 if it waits for the
// world to settle.
func (p *plan) nextIsEarly(from int) time.Duration {
	for _, a := range p.actions[from:] {
		if a.what != nothing {
			return a.early
		}
	}
	return 0
}
