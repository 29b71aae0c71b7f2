package world

import (
	"net/http"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// This file tells which differences between a script and a run at a real API server are no reason
// to end the run: steps of built-in controllers that have no cause there, watches that the server
// refuses, and deliveries to an incarnation that has ended earlier than in the script.

// absences owns which steps of a script need not come.
type absences struct {
	script  *history.History
	replies map[string]int // that will not come, because their requests were left out
}

// idle reports whether a step of the script is one of a built-in controller that has changed no
// object. A real server may give it no cause for such a step.
func (a *absences) idle(n int, want run.Step) bool {
	return want.Builtin != "" && !slices.ContainsFunc(a.script.Events, func(e history.Event) bool {
		return e.Step == n+1 && e.Write()
	})
}

// refused reports whether a step is a request for a watch or a list that the server refuses in the
// script, or the reply to one that was left out. client-go repeats such a request after a time that
// it draws itself.
func (a *absences) refused(n int, want run.Step) bool {
	return a.replies[want.What] > 0 || slices.ContainsFunc(a.script.Events, func(e history.Event) bool {
		return e.Step == n+1 && (e.Verb == "watch" || e.Verb == "list") && e.Code >= http.StatusBadRequest &&
			!e.Injected
	})
}

// ended reports whether a step is a delivery to an incarnation that has ended in the real run, and
// ends in the script. It can have no effect. A leader exits at a time of its own clock.
func (a *absences) ended(want run.Step, actual *history.History) bool {
	ends := func(h *history.History) bool {
		return slices.ContainsFunc(h.Events, func(e history.Event) bool {
			return (e.Kind == history.Crash || e.Kind == history.Stop && e.Outcome.Kind != history.OutcomeAsked) &&
				strings.HasPrefix(want.Actor, e.Actor()+" ")
		})
	}
	return strings.HasPrefix(want.What, "delivery of ") && ends(actual) && ends(a.script)
}

// leaveOut notes that a step does not come. The reply to a request that does not come does not come
// either.
func (a *absences) leaveOut(want run.Step) {
	if request, ok := strings.CutPrefix(want.What, "request of "); ok {
		a.replies["reply of "+request]++
	} else if a.replies[want.What] > 0 {
		a.replies[want.What]--
	}
}
