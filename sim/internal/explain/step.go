package explain

import (
	"fmt"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
)

// step is the time after an answer, with who did what then. A delay has no line in the history, and
// is named itself. What a user only reads makes no difference to a program. So the next step that
// may make one is named, and that the answer came before it.
func (o *observed) step(answer int) string {
	a := o.answers[answer]
	if a.Value > 0 {
		if kind, what, ok := strings.Cut(o.choice(answer).Delay(), ": "); ok {
			return fmt.Sprintf("the %s after %s (%s%s)", kind, history.Moment(o.before(answer)), what, o.sender(answer))
		}
	}
	where := ""
	for _, l := range o.history.Lines() {
		if l.Event < o.events[answer] {
			continue
		}
		e := &o.history.Events[l.Event]
		if unobserved(e) {
			where = "the step before "
			continue
		}
		what, _, _ := strings.Cut(strings.TrimSpace(l.Text), ";")
		return fmt.Sprintf("%s%s (%s %s)", where, history.Moment(e.At), e.Actor(), what)
	}
	return "the end of the run"
}

// choice is an answer as a story has it, with the name of the object that a request creates.
func (o *observed) choice(answer int) story.Choice {
	c := story.Choice{ID: o.answers[answer].ID(), Value: o.answers[answer].Value}
	if e := o.of(answer); e != nil {
		ref := e.Ref
		if ref.Name = ""; ref.String() == c.What {
			c.What = made(e).String()
		}
	}
	return c
}

// before is the time of the last event before an answer.
func (o *observed) before(answer int) history.Time {
	if n := o.events[answer]; n > 0 {
		return o.history.Events[n-1].At
	}
	return 0
}

// unobserved reports whether an event is a request of another actor than the programs that changed
// nothing.
func unobserved(e *history.Event) bool {
	return e.Kind == history.Request && e.Incarnation == 0 && (e.Verb == "get" || e.Verb == "list") && !e.Write()
}

// made is the object of a request, with the name that it got or asked for.
func made(e *history.Event) history.Ref {
	ref := e.Ref
	if ref.Name == "" {
		ref.Name = history.NameIn(e.Sent)
	}
	return ref
}

// sent is the condition that a request or its reply is not delayed. It says until when it was, or
// in which reconcile it was sent if it had not arrived at the end of the run. It reports false for
// other answers, and for requests of no reconcile.
func (o *observed) sent(answer int) (string, bool) {
	what, sender := without(o.choice(answer)), o.sender(answer)
	if e := o.of(answer); e != nil {
		return fmt.Sprintf("%s (until %s)", what, history.Moment(e.At)), true
	}
	return what + sender + " (it did not arrive before the violation)", sender != ""
}

// sender is the reconcile of a delayed request or reply that never arrived; "" if there is none.
func (o *observed) sender(answer int) string {
	a, actors := o.answers[answer], o.actors[answer]
	if a.Kind != story.Request && a.Kind != story.Reply || o.of(answer) != nil || len(actors) == 0 ||
		strings.HasPrefix(actors[0].Name, "at ") {
		return ""
	}
	return " in a reconcile of " + actors[0].Name
}

// of is the event of the request or of the reply that an answer is about: the next one like it in
// the same reconcile. It is nil for other answers, and if there is none.
func (o *observed) of(answer int) *history.Event {
	a, kind := o.answers[answer], history.Request
	if a.Kind == story.Reply {
		kind = history.Reply
	} else if a.Kind != story.Request {
		return nil
	}
	for i := o.events[answer]; i < len(o.history.Events) && len(o.actors[answer]) > 0; i++ {
		e := &o.history.Events[i]
		if e.Kind == kind && !e.Reconcile.None() && e.Actor() == o.actors[answer][0].Process &&
			e.Reconcile.Key.String() == o.actors[answer][0].Name && e.Verb == a.Verb {
			return e
		}
	}
	return nil
}
