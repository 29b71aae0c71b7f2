package world

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/realserver"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
	"github.com/wavetank/wavetank/sim/result"
)

// following is a run at a real API server that is held to the steps of a story, without a server.
func following(steps ...run.Step) *real {
	c := &core{history: &history.History{}, sched: sched.New(choice.New(choice.Play(nil)), nil)}
	script := &run.Real{Script: &run.Script{Steps: steps}, History: &history.History{}}
	return newReal(c, script, &run.Course{Names: map[string]string{}}, nil)
}

// A step of a built-in controller that changed nothing is left out if the real server gives no
// cause for it. One that changed something must come.
func TestRealRunLeavesOutIdleStepsOfBuiltins(t *testing.T) {
	for _, writes := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := following(run.Step{What: "look by the garbage", Builtin: "garbage"})
			r.core.sched = sched.New(choice.New(choice.Play(nil)), still{})
			r.server, r.Patience, r.Paced = &realserver.Server{}, time.Second, true
			if writes {
				r.History.Add(history.Event{Kind: history.Request, Step: 1, Changes: []history.Change{{}}})
			}
			func() {
				defer func() { _ = recover() }()
				r.follow(1)
			}()
			if left := r.course.Parted == nil; left == writes {
				t.Errorf("writes %t: left out %t", writes, left)
			}
		})
	}
}

// Names that the server gives are learned by kind: the control plane makes objects of its own in
// between.
func TestRealRunLearnsNamesByKind(t *testing.T) {
	r := following()
	added := func(kind, name, uid string) history.Change {
		return history.Change{Type: "ADDED", Ref: history.Ref{Kind: kind, Namespace: "default", Name: name}, UID: uid}
	}
	r.History.Add(history.Event{Kind: history.Request, Step: 1,
		Changes: []history.Change{added("Job", "a-xf5lb", "u1")}})
	for _, ch := range []history.Change{
		added("APIService", "v1.example.com", "real0"), added("Job", "a-dbgzx", "real1"),
	} {
		r.core.history.Add(history.Event{Kind: history.Request, Step: 1, Changes: []history.Change{ch}})
	}
	r.names.learn()
	if got := r.course.InScript("a-dbgzx real1 real0"); got != "a-xf5lb u1 real0" {
		t.Errorf("in the script: %q", got)
	}
}

// A request for a watch that is refused may be left out, and so may its reply then. The next one
// that is granted must come.
func TestRealRunLeavesOutRefusedWatches(t *testing.T) {
	const watch = "watch RepoSync shop/ by op/1"
	r := following(run.Step{What: "request of " + watch}, run.Step{What: "reply of " + watch},
		run.Step{What: "request of " + watch}, run.Step{What: "reply of " + watch})
	for n, code := range []int{http.StatusForbidden, 0, http.StatusOK, 0} {
		if code > 0 {
			r.History.Add(history.Event{Kind: history.Request, Step: n + 1, Verb: "watch", Code: code})
		}
	}
	for n, step := range r.Script.Steps {
		absent := r.absent.refused(n, step)
		if absent {
			r.absent.leaveOut(step)
		}
		if want := n < 2; absent != want {
			t.Errorf("step %d may be left out: %t", n+1, absent)
		}
	}
}

// A delivery to an incarnation may be left out if it has ended, and ends in the script, too.
func TestRealRunLeavesOutDeliveriesToTheDead(t *testing.T) {
	const delivery = "delivery of MODIFIED /a to ConfigMap watch of op/1"
	crash := history.Event{Kind: history.Crash, Process: "op", Incarnation: 1}
	asked := history.Event{Kind: history.Stop, Process: "op", Incarnation: 1}
	asked.Outcome.Kind = history.OutcomeAsked
	next := history.Event{Kind: history.Crash, Process: "op", Incarnation: 2}
	for _, c := range []struct {
		what           string
		script, actual history.Event
		ended          bool
	}{
		{delivery, crash, crash, true}, {delivery, next, crash, false}, {delivery, crash, next, false},
		{delivery, crash, asked, false}, {"request of get ConfigMap default/a by op/1", crash, crash, false},
	} {
		r := following()
		r.History.Add(c.script)
		r.core.history.Add(c.actual)
		if got := r.absent.ended(run.Step{What: c.what, Actor: "op/1 at /api"}, r.core.history); got != c.ended {
			t.Errorf("%+v: left out %t", c, got)
		}
	}
}

// A program may create two objects at the same time. The one of the script's name is waited for.
func TestRealRunCreatesInTheOrderOfTheScript(t *testing.T) {
	const words = "request of create Deployment apps/ by op/1"
	r := following()
	create := func(name string) *sched.Action {
		return &sched.Action{What: func() string { return words }, Detail: func() string { return name },
			Actor: choice.Actor{Process: "op/1", Name: "a"}}
	}
	want := run.Step{What: words, Detail: "alpha", Actor: "op/1 a"}
	alpha, beta := create("alpha"), create("beta")
	if got := r.find([]*sched.Action{beta, alpha}, want, false); got != alpha {
		t.Error("the other object is created first")
	}
	if got := r.find([]*sched.Action{beta}, want, false); got != nil {
		t.Error("the other object is created although the step is not late")
	}
	if got := r.find([]*sched.Action{beta}, want, true); got != beta {
		t.Error("no object is created although the step is late")
	}
}

// Objects that a program creates at the same time may come in another order than in the script.
// They keep their names.
func TestRealRunKnowsObjectsByName(t *testing.T) {
	r := following()
	added := func(step int, name, uid string) history.Event {
		return history.Event{Kind: history.Request, Step: step, Changes: []history.Change{{Type: "ADDED", UID: uid,
			Ref: history.Ref{Kind: "Deployment", Namespace: "apps", Name: name}}}}
	}
	r.History.Add(added(1, "alpha", "u1"))
	r.History.Add(added(2, "beta", "u2"))
	r.History.Add(added(3, "beta", "u3"))
	real := []history.Event{added(1, "beta", "real1"), added(2, "alpha", "real2"), added(3, "beta", "real3")}
	for _, e := range real {
		r.core.history.Add(e)
		r.names.learn()
		r.course.Steps++
	}
	const want = "alpha u1, beta u2, beta u3"
	if got := r.course.InScript("alpha real2, beta real1, beta real3"); got != want {
		t.Errorf("in the script: %q, want %q", got, want)
	}
}

// A run that does not wait lets a watch time out only when client-go does not take its end for an
// error.
func TestRealRunEndsNoYoungWatch(t *testing.T) {
	for _, paced := range []bool{false, true} {
		r := following()
		r.Paced = paced
		r.tooSoon("reply of watch RepoSync shop/ by op/1")
		if d := r.tooSoon("time-out of RepoSync watch of op/1"); d > time.Second == paced {
			t.Errorf("paced %t: the time-out waits %v", paced, d)
		}
		if d := r.tooSoon("request of get RepoSync shop/a by op/1"); d != 0 {
			t.Errorf("paced %t: a request waits %v", paced, d)
		}
	}
}

// A name that a program computes from a UID differs from the story's when it is used first.
func TestRealRunLearnsComputedNames(t *testing.T) {
	const (
		story = "request of get Promotion shop/web-4fc by op/1"
		real  = "request of get Promotion shop/web-820 by op/1"
	)
	op := choice.Actor{Process: "op", Name: "1"}
	pending := func(what string) []*sched.Action {
		return []*sched.Action{{Actor: op, What: func() string { return what }}}
	}
	create := run.Step{What: "request of create Promotion shop/ by op/1"}
	ofStory := run.Step{What: story, Actor: op.String()}
	for _, c := range []struct {
		name, real string
		steps      []run.Step
		found      bool
	}{
		{"both names are new", real, []run.Step{create, ofStory}, true},
		{"of a status", real + "x", []run.Step{create, {What: story + "x", Actor: op.String()}}, true},
		{"the story's name was there before", real, []run.Step{{What: story}, ofStory}, false},
		{"the story has the real name, too", real, []run.Step{create, ofStory, {What: real}}, false},
		{"another verb", strings.Replace(real, "get", "delete", 1), []run.Step{create, ofStory}, false},
		{"another namespace, too", strings.Replace(real, "shop", "dev", 1), []run.Step{create, ofStory}, false},
		{"another worker", real, []run.Step{create, {What: story, Actor: "op 2"}}, false},
	} {
		r := following(c.steps...)
		if got := r.names.computed(pending(c.real), r.Script.Steps, 1); (got != nil) != c.found {
			t.Errorf("%s: found is %t", c.name, got != nil)
		}
		if got := r.course.InScript("web-820"); (got == "web-4fc") != c.found {
			t.Errorf("%s: web-820 is %s in the script", c.name, got)
		}
	}
}

// A namespace may be named by the clock of the program.
func TestRealRunLearnsComputedNamespaces(t *testing.T) {
	for _, c := range []struct{ story, real, name, scripted string }{
		{"get ConfigMap rc-801/settings", "get ConfigMap rc-531/settings", "rc-531", "rc-801"},
		{"create ConfigMap rc-801/", "create ConfigMap rc-531/", "rc-531", "rc-801"},
		{"get Namespace rc-801", "get Namespace rc-531", "rc-531", "rc-801"},
		{"get ConfigMap rc-801/settings", "get ConfigMap rc-531/other", "", ""},
		{"get Namespace rc-801", "list Namespace rc-531", "", ""},
	} {
		name, scripted := otherName("request of "+c.real+" by op/1", "request of "+c.story+" by op/1")
		if name != c.name || scripted != c.scripted {
			t.Errorf("%s for %s: %q is %q", c.real, c.story, name, scripted)
		}
	}
}

// The scenario's client at a real API server learns the schemes of processes.
func TestUserAtARealServerKnowsSchemes(t *testing.T) {
	r := following()
	server := apiserver.New(apiserver.Options{Now: time.Now})
	r.core.wire = wire.New(r.core.sched, r.core.history, server, nil)
	a := &actions{settler: &settler{core: r.core, real: r}}
	if u := a.newUser(wire.APIHost, server); len(a.users) != 1 || a.users[0] != u {
		t.Error("processes do not tell the client what their schemes know")
	}
}

// still is the observer of a scheduler in whose world nothing happens.
type still struct{}

func (still) Quiet() bool                      { return false }
func (still) Stepped()                         {}
func (still) Held(*sched.Action) time.Duration { return 0 }

// A property may be violated because nothing happens for some time. A run at the pace of a story
// lets that time pass, and another one sets its clock. If the program has something to do that the
// story does not have, neither does.
func TestRealRunWaitsForAViolation(t *testing.T) {
	for _, c := range []struct{ busy, paced bool }{{false, true}, {true, true}, {false, false}, {true, false}} {
		busy := c.busy
		synctest.Test(t, func(t *testing.T) {
			r := following()
			r.Paced = c.paced
			r.core.sched = sched.New(choice.New(choice.Play(nil)), still{})
			r.core.wire = wire.New(r.core.sched, r.core.history, apiserver.New(apiserver.Options{Now: time.Now}), nil)
			r.core.judge.declared = []*property{{kind: result.Always, sentence: "it acts",
				holds: func(h *history.History) error {
					if h.Now() > 2*time.Second {
						return errors.New("it does not")
					}
					return nil
				}}}
			r.Quiet, r.Script.Phases = time.Hour, []run.Phase{{Quiescent: true}}
			if busy {
				r.core.sched.Park(&sched.Action{What: func() string { return "hand-out of a to op/1" }})
			}
			began := time.Now()
			func() {
				defer func() { _ = recover() }()
				r.phase()
			}()
			took, broke := time.Since(began), r.core.failure != nil
			if broke == busy || took > time.Minute || (busy || !c.paced) && took > 0 {
				t.Errorf("busy %t, paced %t: violated %t after %v", busy, c.paced, broke, took)
			}
		})
	}
}
