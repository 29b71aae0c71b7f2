package sim

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/wire"
	"github.com/wavetank/wavetank/sim/result"
)

// current is the world of the run that is under way.
var current atomic.Pointer[World]

// Fail ends the run that is under way because an assertion failed at site (file:line), and does not return. It is the
// fail handler that assertion libraries get while a campaign runs: the failure becomes the run's verdict, with a story.
// It may be called on any goroutine: on one of the code under test it ends the goroutine, as t.FailNow does, and the
// run ends at its next quiet moment. Without a run it reports false.
func Fail(site, message string) bool {
	w := current.Load()
	if w == nil {
		return false
	}
	v := &result.Ending{Kind: result.Expectation, Site: site, Message: run.Repeatable(message)}
	if run.OnScenario() {
		w.fail(v)
	}
	w.later(v)
	return true
}

// later ends a goroutine of the code under test, and the run at its next quiet moment.
func (w *World) later(v *result.Ending) {
	w.soon(v)
	runtime.Goexit()
}

// soon ends the run at its next quiet moment.
func (w *World) soon(v *result.Ending) {
	w.blurted.CompareAndSwap(nil, v)
	w.sched.Note("verdict "+v.Site+" "+v.Message, func() {
		if w.foreign == nil {
			w.foreign = v
		}
	})
}

// unknown ends the run when a program asks for a host that nobody has declared, or that two patterns fit equally well.
func (w *World) unknown(c *wire.Call, clash string) {
	u := c.Request.URL
	sent := fmt.Sprintf("%s sent %s %s://%s%s", c.Port.Process, c.Request.Method, u.Scheme, u.Host, u.Path)
	if clash != "" {
		w.soon(misuse("%s, and the host fits %s, which are equally long; give w.External a longer pattern or the host %q itself", sent, clash, c.Host))
		return
	}
	w.soon(misuse("%s, and the world has no host %q; before w.Start, declare a model of it with w.External(%q, handler), or with w.Cluster(%q) "+
		"if it is an API server; w.External(%q, nil) says that there is no such host; names that are made at run time are given to w.External as a pattern, "+
		"and Services to w.ExternalServices", sent, c.Host, c.Host, c.Host, c.Host))
}

// between ends the run when the world is asked to go on, by a call in words, in the middle of a step.
func (w *World) between(call string) {
	w.alive()
	if w.sched.Granting() {
		w.misuse("%s was called in the middle of a step, by a handler given to w.External or by a built-in controller; the world goes on only "+
			"when that step is over, so call it in the scenario, or let a process do it", call)
	}
}

// mine ends the run when the world is used where it cannot be: on another goroutine than the scenario's, or inside a
// property.
func (w *World) mine() {
	if !run.OnScenario() {
		w.later(&result.Ending{Kind: result.Misuse, Message: "sim: a World was used on another goroutine than its scenario's (in a reconciler, or " +
			"after a go statement); controllers use mgr.GetClient(), and a scenario does one thing after the other: call it on the scenario's own goroutine, without go"})
	}
	if w.judging {
		w.misuse("a property may only read: its history, or the server through w.Client()")
	}
}

// raise ends the run with what [Fail] was given on a goroutine of the code under test.
func (w *World) raise() {
	if w.foreign != nil && w.verdict == nil {
		w.fail(w.foreign)
	}
}

// GinkgoRecoverShouldIgnoreThisPanic keeps a deferred GinkgoRecover from taking the end of a run for a failed spec.
func (stopRun) GinkgoRecoverShouldIgnoreThisPanic() {}
