package world

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/result"
)

// This file holds what differs at a real API server: steps of built-in controllers that have no
// cause there, watches that need not be renewed, and names that a program computes from those which
// the server generates.

// idle reports whether a step of the script is one of a built-in controller that has changed no
// object. A real server may give it no cause for such a step.
func (r *real) idle(n int, want run.Step) bool {
	return want.Builtin != "" && !slices.ContainsFunc(r.History.Events, func(e history.Event) bool {
		return e.Step == n+1 && e.Write()
	})
}

// renewed reports whether a step belongs to the renewal of a watch that times out: its end, the
// request for the next one, and the reply. A run that does not wait leaves such steps out, because
// client-go puts off the renewal of a watch that has lasted less than a second.
func (r *real) renewed(what string) bool {
	if m := timeout.FindStringSubmatch(what); m != nil {
		if r.renewals == nil {
			r.renewals = map[string]int{}
		}
		r.renewals[m[1]+" "+m[2]]++
		return true
	}
	m := renewal.FindStringSubmatch(what)
	if m == nil || r.renewals[m[2]+" "+m[3]] == 0 {
		return false
	}
	if m[1] == "reply" {
		r.renewals[m[2]+" "+m[3]]--
	}
	return true
}

var (
	timeout = regexp.MustCompile(`^time-out of (\S+) watch of (\S+)$`)
	renewal = regexp.MustCompile(`^(request|reply) of watch (\S+)(?: \S+)? by (\S+)$`)
)

// quiet lets time pass after the last step, because the story violates its property only then. The
// run gives up if the program does something that the story does not have.
func (r *real) quiet() {
	for began, next := time.Now(), time.Second; time.Since(began) < r.Quiet; {
		r.core.sched.Quiesce()
		if slices.ContainsFunc(r.core.sched.Pending(), func(a *sched.Action) bool { return !a.Idle && !a.Chatter }) {
			return
		}
		r.wait(min(next, r.Quiet) - time.Since(began))
		if time.Since(began) >= next {
			r.core.note(history.Event{Kind: history.Settled})
			r.core.judgeAll(result.Always)
			next *= 2
		}
	}
}

// computed finds the action of a step that is about another name than the story's, if neither name
// was there before: a program may compute names from UIDs, and look for them before it creates the
// object. The two names are the same from then on.
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

// otherName returns the names of the objects of two requests that differ in these alone; "" for
// others.
func otherName(real, scripted string) (a, b string) {
	x, y := request.FindStringSubmatch(real), request.FindStringSubmatch(scripted)
	if x == nil || y == nil || x[2] == y[2] || x[1] != y[1] || x[3] != y[3] {
		return "", ""
	}
	return x[2], y[2]
}

// request matches a request about an object with a name.
var request = regexp.MustCompile(`^(request of [a-z]+ [A-Za-z]+ [^ /]*/)([^ /]+)((?:/[a-z]+)? by .*)$`)

// anyNames reports whether the description of one of the steps contains name.
func anyNames(steps []run.Step, name string) bool {
	return slices.ContainsFunc(steps, func(s run.Step) bool { return strings.Contains(s.What, name) })
}
