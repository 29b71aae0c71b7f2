package world

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/realserver"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/result"
)

// This file holds a run at a real API server to the order of a script. The script is a run in a
// simulated cluster, with the same choices. An action is performed when its turn in the script has
// come. So requests, replies, watch events and dequeues happen in that order, and faults are
// injected at the same places. Delays count only in a paced run, for programs that measure time.

// writeScript writes the order of the run into a script.
func writeScript(c *core, isBuiltin func(string) bool, s *run.Script) {
	*s = run.Script{}
	c.sched.Told = func(a *sched.Action) {
		step := run.Step{What: a.Words(), Actor: a.Actor.String(), At: c.sched.Now(), Chatter: a.Chatter}
		if a.Detail != nil {
			step.Detail = a.Detail()
		}
		if isBuiltin(a.Actor.Process) {
			step.Builtin = a.Actor.Process
		}
		s.Steps = append(s.Steps, step)
	}
}

// refuse ends a run at a real API server because it cannot have what the scenario asks for.
func (r *real) refuse(why string) {
	if r != nil {
		r.course.Cannot = why
		panic(stopRun{})
	}
}

// real is a run at a real API server. It owns which action is performed next, and when.
type real struct {
	core *core
	*run.Real
	course  *run.Course
	server  *realserver.Server
	phases  int           // of the script that have begun
	began   time.Time     // of the first step
	last    time.Duration // when the last step was performed, in the script
	watched time.Time     // when the latest watch began
	// observe shows a change of the control plane to the built-in controllers.
	observe func(apiserver.Change)

	names   naming
	absent  absences
	freeRun *freeRun // nil if there is a script
}

func newReal(c *core, s *run.Real, course *run.Course, observe func(apiserver.Change)) *real {
	r := &real{core: c, Real: s, course: course, observe: observe,
		names:  naming{course: course, script: s.History, actual: c.history},
		absent: absences{script: s.History, replies: map[string]int{}}}
	if s.Free != nil {
		r.freeRun = &freeRun{Free: s.Free, core: c, course: course, endIfBroken: r.endIfBroken}
	}
	return r
}

// grace is how long an action that the script does not have waits for one that it has.
const graceOfExtra = 500 * time.Millisecond

// graceOfIdle is how long a step that need not come may be late: one of a built-in controller that
// changes nothing, or a request that is refused.
const graceOfIdle = 100 * time.Millisecond

// maxGap is the longest that a run which is not paced waits for a timer of the program.
const maxGap = time.Minute

// connect connects the world to the server.
func (r *real) connect() {
	s, err := realserver.Connect(r.Kubeconfig)
	if err == nil {
		r.course.Version, err = s.Version()
	}
	if err != nil {
		r.core.misuse("the API server of %s is not reached: %v", r.Kubeconfig, err)
	}
	r.server = s
	r.core.wire.Use(s)
}

func (r *real) endIfBroken() {
	if err := r.server.Broken(); err != nil {
		r.core.misuse("the real API server: %v", err)
	}
}

// close removes what the run has made.
func (r *real) close() {
	if r.server == nil {
		return
	}
	if err := r.server.Close(); err != nil && r.core.failure == nil {
		r.core.failure = misuse("what the run has created at the API server was not removed: %v", err)
	}
}

// phase makes the steps of the next phase of the script. A script that ends within a phase ends
// with a violation: if the run is still there, it has not violated the property.
func (r *real) phase() (quiescent bool) {
	if r.phases == len(r.Script.Phases) {
		r.follow(len(r.Script.Steps))
		panic(stopRun{})
	}
	began := time.Now()
	p := r.Script.Phases[r.phases]
	r.phases++
	r.follow(p.Steps)
	if !r.Paced {
		r.core.sched.SetNow(p.At)
	}
	for r.Paced && p.Sleeps && time.Since(began) < p.Took {
		r.core.sched.Quiesce() // which shows the watchdog that the run is alive
		r.wait(p.Took - time.Since(began))
		r.last = p.At // the next step does not wait for that time again
	}
	r.core.sched.Disturb()
	if p.Quiescent && p.Steps == len(r.Script.Steps) && r.phases == len(r.Script.Phases) {
		r.quiet()
	}
	return p.Quiescent
}

func (r *real) follow(until int) {
	for r.course.Steps < until {
		r.step()
		r.course.Steps++
	}
}

// step performs the next action of the script.
func (r *real) step() {
	n := r.course.Steps
	want := r.Script.Steps[n]
	idle := r.absent.idle(n, want) || r.absent.refused(n, want)
	gap := want.At - r.last
	if !r.Paced {
		gap = min(gap, maxGap)
	}
	began := time.Now()
	if r.began.IsZero() {
		r.began = began
	}
	if !r.Paced {
		r.core.sched.SetNow(want.At)
	}
	for {
		r.core.sched.Quiesce()
		r.core.failIfReported()
		r.endIfBroken()
		pending := r.core.sched.Pending()
		late := time.Since(began)
		if a := r.find(pending, want, late >= graceOfExtra); a != nil {
			if r.Paced && late < gap {
				r.wait(gap - late)
				continue
			}
			if d := r.tooSoon(want.What); d > 0 {
				r.core.sched.Await(d)
				continue
			}
			r.last = want.At
			r.core.sched.Perform(a)
			return
		}
		if !r.Paced && r.core.procs.FireTimer(func(words string) bool {
			return r.course.InScript(words) == want.What
		}) {
			continue
		}
		if want.Chatter || late >= graceOfIdle && (idle || r.absent.ended(want, r.core.history)) {
			r.absent.leaveOut(want)
			return
		}
		if late >= graceOfExtra {
			if a := r.names.computed(pending, r.Script.Steps, n); a != nil {
				r.last = want.At
				r.core.sched.Perform(a)
				return
			}
		}
		if a := r.extra(pending, n, late >= graceOfExtra); a != nil {
			if !a.Chatter {
				r.course.Extra = append(r.course.Extra, r.words(a))
			}
			r.core.sched.Perform(a)
			continue
		}
		if late > gap+r.Patience {
			r.part(pending, began)
		}
		r.core.sched.Await(20 * time.Millisecond)
	}
}

// part ends a run that does not reach the next step of the script. It has waited since began.
func (r *real) part(pending []*sched.Action, began time.Time) {
	n := r.course.Steps
	r.course.Parted = &run.Parted{N: n + 1, Step: r.Script.Steps[n], Behind: began.Sub(r.began) - r.last}
	for _, a := range pending {
		r.course.Parted.Pending = append(r.course.Parted.Pending, r.words(a))
	}
	panic(stopRun{})
}

// sent matches the legs of requests.
var sent = regexp.MustCompile(`^(request|reply) of `)

// find finds the action that a step is about; nil if there is none. A program may create two
// objects at the same time, so one of another name is taken only if none of the same comes. Two
// workers may send requests that are alike, so one of another actor is taken only if none of the
// same comes. The actors of watches have resource versions in their names.
func (r *real) find(pending []*sched.Action, want run.Step, late bool) (other *sched.Action) {
	for _, a := range pending {
		switch {
		case r.words(a) != want.What:
		case !late && want.Detail != "" && a.Detail != nil && r.course.InScript(a.Detail()) != want.Detail:
		case r.course.InScript(a.Actor.String()) == want.Actor:
			return a
		case other == nil && (late || !sent.MatchString(want.What)):
			other = a
		}
	}
	return other
}

// wait lets time pass, d at most. Leases are renewed meanwhile.
func (r *real) wait(d time.Duration) {
	if a := r.extra(r.core.sched.Pending(), len(r.Script.Steps), false); a != nil {
		r.core.sched.Perform(a)
		return
	}
	r.core.sched.Await(min(d, time.Second))
}

// words are an action as the script would have it.
func (r *real) words(a *sched.Action) string { return r.course.InScript(a.Words()) }

// extra is a pending action that may happen though it is not its turn: one about leases or Events.
// If the script's action is late, it is also one that the rest of the script does not have, if that
// is a read, or about an object that the script does not know. nil if there is none.
func (r *real) extra(pending []*sched.Action, n int, late bool) *sched.Action {
	for _, a := range pending {
		words := r.words(a)
		if a.Idle && !a.Chatter || strings.HasPrefix(words, "time-out of ") {
			continue // the end of a watch, which would come in minutes
		}
		if a.Chatter || late && (reads.MatchString(words) || !r.knows(words)) &&
			!slices.ContainsFunc(r.Script.Steps[n:], func(s run.Step) bool { return s.What == words }) {
			return a
		}
	}
	return nil
}

// reads matches requests that change nothing, their replies, and the ends of watches.
var reads = regexp.MustCompile(`^((request|reply|end) of (get|list|watch)|end of .* watch) `)

// knows reports whether an action is about an object of the script, or changes something.
func (r *real) knows(words string) bool {
	if !strings.HasPrefix(words, "delivery of ") && !strings.HasPrefix(words, "hand-out of ") {
		return true
	}
	for _, e := range r.History.Events {
		for _, ch := range e.Changes {
			if strings.Contains(words, ch.Ref.Namespace+"/"+ch.Ref.Name) {
				return true
			}
		}
	}
	return false
}

// stepped notes what the control plane has done by itself.
func (r *real) stepped() {
	for _, ch := range r.server.Unclaimed() {
		r.observe(ch)
		r.core.note(history.Event{Kind: history.Request, Process: "control plane", Verb: "update",
			Ref:     history.Ref{Group: ch.Group, Kind: ch.Kind, Namespace: ch.Namespace, Name: ch.Name},
			Changes: []history.Change{r.core.wire.Change(ch)}})
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

// free is the run without a script; nil if there is a script, or if the run is simulated.
func (r *real) free() *freeRun {
	if r == nil {
		return nil
	}
	return r.freeRun
}
