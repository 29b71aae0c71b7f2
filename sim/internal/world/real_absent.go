package world

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/result"
)

// This file holds what a run at a real API server has to do without: built-in controllers, and the
// names that a program computes from those which the server generates.

// leaveOut notes built-in controllers that do not run. Those of package models change nothing but
// what they write. Those of a scenario may do more, for example let a program start.
func (r *real) leaveOut(actors []actor.Actor) {
	if r.absent == nil {
		r.absent = map[string]bool{}
	}
	for _, a := range actors {
		t := reflect.TypeOf(a)
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		r.absent[a.Name()] = !strings.HasPrefix(t.PkgPath(), "github.com/wavetank/wavetank/models/")
	}
}

// skip reports whether a step is one of a built-in controller that has changed no object. It ends
// the run at a step in which such a controller has changed one.
func (r *real) skip(n int, want run.Step) bool {
	for i := range r.History.Events {
		e := &r.History.Events[i]
		_, absent := r.absent[e.Process]
		if e.Step == n+1 && e.Write() && (absent || want.Builtin != "") {
			r.refuse(fmt.Sprintf("step %d is one of the %s (%s %s), which no part of the control plane runs", n+1,
				e.Process, e.Verb, e.Ref))
		}
	}
	if want.Builtin != "" && r.absent[want.Builtin] {
		r.course.Skipped = fmt.Sprintf("step %d (%s) is one of the scenario's own controller %s, "+
			"which does not run at a real server", n+1, want.What, want.Builtin)
	}
	return want.Builtin != ""
}

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
