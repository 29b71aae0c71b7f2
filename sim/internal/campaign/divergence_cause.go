package campaign

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// likelyCause guesses, as a clause, why two runs of one choice sequence differ, from what they did
// around the first event that does. group is the clause without objects and incarnations, by which
// runs are grouped.
func likelyCause(a, b *history.History, at int) (likely, group string) {
	if at >= len(a.Events) || at >= len(b.Events) || a.Events[at].Index != at || b.Events[at].Index != at {
		const unknown = "something in the code under test does not come from its inputs"
		return unknown, unknown
	}
	x, y := &a.Events[at], &b.Events[at]
	name := x.Reconcile
	if name.None() || x.Actor() != y.Actor() && !y.Reconcile.None() {
		name = y.Reconcile
	}
	first, second := requests(a, x, name), requests(b, x, name)
	likely = "likely " + clause(x, y, first, second, x.Actor(), name.String())
	return likely, clause(x, y, first, second, x.Process, name.Controller)
}

// wokenByTimers is the process that sent a request in one of two runs, outside any reconcile, when
// nothing but time had passed, and that did something else in the other run; "" if none did.
func wokenByTimers(first, second *run.Result, at int) string {
	if a, b := first.History.Events, second.History.Events; at < len(a) && at < len(b) &&
		a[at].Kind == history.Request && b[at].Kind == history.Request &&
		a[at].Verb == b[at].Verb && a[at].Ref == b[at].Ref {
		return "" // they sent the same request
	}
	for _, r := range []*run.Result{first, second} {
		events := r.History.Events
		if at < len(events) && r.ByTimer[requestOf(r, at)] && events[at].Reconcile.None() {
			return events[at].Process
		}
	}
	return ""
}

// timersOf is the guess that timers of a process tie.
func timersOf(process string) string {
	return fmt.Sprintf("timers of %s that are due at the same instant, for example a ticker and a time-out: "+
		"Go's runtime chooses at random which fires first, and a select which it takes", process)
}

// clause is the guess for two events and for what the reconciles around them asked for. actor and
// reconcile are the names to use.
func clause(x, y *history.Event, first, second []string, actor, reconcile string) string {
	again := x.Kind == history.Request && y.Kind == history.Request && x.Ref == y.Ref && x.Verb == y.Verb
	switch {
	case x.Process == wire.ServerName && y.Process == wire.ServerName: // what it is answered is not ours
		return fmt.Sprintf("a map range or a random number in what the webhook at %s%s answers", x.Host, x.Path)
	case x.Process == run.User && y.Process == run.User && (x.Kind == history.Request || y.Kind == history.Request):
		return "a map range, a random number or a variable that outlives runs, in the scenario itself: " +
			"draw values with sim.Draw"
	case again && string(x.Sent) != string(y.Sent) && sameElements(x.Sent, y.Sent):
		return fmt.Sprintf("a map range in what %s sends: the same request, "+
			"and its body holds the same in another order", actor)
	case x.Actor() == y.Actor() && x.Reconcile.None() && y.Reconcile.None() && x.Kind == history.Request:
		return fmt.Sprintf("goroutines of %s, outside any reconcile, that race with each other", actor)
	case reconcile != "" && len(first) > 1 && !slices.Equal(first, second) && sameElements(first, second):
		return fmt.Sprintf("a map range that writes, or goroutines that race, in the reconcile %q: "+
			"both runs make the same requests, in another order", reconcile)
	case again && string(x.Sent) != string(y.Sent):
		return fmt.Sprintf("a random number (math/rand/v2, or a map range) in what %s sends: "+
			"the same request, with another body", actor)
	case reconcile != "" && len(first) > 0 && !slices.Equal(first, second):
		return fmt.Sprintf("a map range, a select or math/rand/v2 in the reconcile %q: "+
			"it makes other requests", reconcile)
	}
	return "a map range, a select over several channels, math/rand/v2 or goroutines that race, in " + actor
}

// requests are what one reconcile of an actor asked for, in order.
func requests(h *history.History, of *history.Event, name history.Reconcile) (out []string) {
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind == history.Request && e.Reconcile == name && e.Actor() == of.Actor() {
			words := []string{e.Verb, e.Ref.String(), e.Sub, e.Host, e.Path, string(e.Sent)}
			out = append(out, strings.Join(words, " "))
		}
	}
	return out
}

// same reports whether two lists hold the same, in whatever order.
func sameElements[T cmp.Ordered](a, b []T) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// requestOf is the event that says from where the request of an event was sent.
func requestOf(r *run.Result, at int) int {
	if e := r.History.Events; at < len(e) && e[at].Kind == history.Reply && e[at].Call >= 0 {
		return e[at].Call
	}
	return at
}
