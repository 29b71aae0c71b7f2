package world

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/result"
)

// This file tells which differences between a script and a run at a real API server are no reason
// to end the run: steps of built-in controllers that have no cause there, watches that the server
// refuses, and other names, if a program computes them from names that the server generates.

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

// leaveOut notes that a step does not come. The reply to a request that does not come does not come
// either.
func (a *absences) leaveOut(want run.Step) {
	if request, ok := strings.CutPrefix(want.What, "request of "); ok {
		a.replies["reply of "+request]++
	} else if a.replies[want.What] > 0 {
		a.replies[want.What]--
	}
}

// shortWatch is the age below which client-go takes the end of a watch for an error.
const shortWatch = 1100 * time.Millisecond

// tooSoon is how long a run that does not wait must wait with a step: a watch that times out must
// not be too young.
func (r *real) tooSoon(what string) time.Duration {
	switch {
	case r.Paced:
	case strings.HasPrefix(what, "reply of watch "):
		r.watched = time.Now()
	case strings.HasPrefix(what, "time-out of "):
		return shortWatch - time.Since(r.watched)
	}
	return 0
}

// quiet lets time pass after the last step, because the story violates its property only then. The
// run gives up if the program does something that the story does not have.
func (r *real) quiet() {
	began := r.core.sched.Now()
	passed := func() time.Duration { return r.core.sched.Now() - began }
	for next := time.Second; passed() < r.Quiet; {
		r.core.sched.Quiesce()
		if slices.ContainsFunc(r.core.sched.Pending(), func(a *sched.Action) bool { return !a.Idle && !a.Chatter }) {
			return
		}
		if r.Paced {
			r.wait(min(next, r.Quiet) - passed())
		} else {
			r.core.sched.SetNow(began + min(next, r.Quiet))
		}
		if passed() >= min(next, r.Quiet) {
			r.core.note(history.Event{Kind: history.Settled})
			r.core.judgeAll(result.Always)
			next *= 2
		}
	}
}

// computed finds the action of a step that is about another name than the story's, if neither name
// was there before: a program may compute names from UIDs or from its clock, and look for them
// before it creates the object. The two names are the same from then on.
func (r *real) computed(pending []*sched.Action, n int) *sched.Action {
	want := r.Script.Steps[n]
	for _, a := range pending {
		name, scripted := otherName(r.words(a), want.What)
		if name == "" || r.course.InScript(a.Actor.String()) != want.Actor ||
			anyNames(r.Script.Steps, name) || anyNames(r.Script.Steps[:n], scripted) {
			continue
		}
		r.course.Names[name] = scripted
		return a
	}
	return nil
}

// otherName returns the names of two requests that differ in these alone, which are those of their
// objects or of their namespaces; "" for other requests.
func otherName(real, scripted string) (a, b string) {
	x, y := request.FindStringSubmatch(real), request.FindStringSubmatch(scripted)
	switch {
	case x == nil || y == nil || x[1] != y[1] || x[4] != y[4]:
		return "", ""
	case x[2] == y[2] && x[3] != y[3]:
		return x[3], y[3]
	case x[2] != y[2] && x[3] == y[3]:
		return x[2], y[2]
	}
	return "", ""
}

// request matches a request about an object or a namespace with a name.
var request = regexp.MustCompile(`^(request of [a-z]+ [A-Za-z]+) (?:([^ /]*)/)?([^ /]*)((?:/[a-z]+)? by .*)$`)

// anyNames reports whether the description of one of the steps contains name.
func anyNames(steps []run.Step, name string) bool {
	return slices.ContainsFunc(steps, func(s run.Step) bool { return strings.Contains(s.What, name) })
}
