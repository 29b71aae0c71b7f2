package sim

import (
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wavetank/wavetank/sim/internal/shell"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// This file is what other test frameworks need in order to host campaigns: sim itself knows only package testing.

// Host is what a campaign needs of the framework that its test is written in. Users do not need it: package testing is
// built in, and simginkgo is the host for Ginkgo suites.
type Host interface {
	// Name is the test's full name. The campaign is called after it: it decides the base seed and where stories go.
	Name() string
	// Package is the import path of the test's package.
	Package() string
	// Replay is the command that replays a story of the test, as one types it into a shell; file is "" where the test plays
	// the story by itself.
	Replay(file string) string
	// Cleanup runs f when the test is over.
	Cleanup(f func())
	Logf(format string, args ...any)
	// Fatalf fails the test and does not return.
	Fatalf(format string, args ...any)
}

// On makes a campaign answer to a host other than the *testing.T that it was given; that one is still what bubbles are
// opened on.
func On(h Host) ExploreOption { return func(s *settings) { s.host = h } }

// Warnings says, in a sentence each, what makes a campaign say less than it seems to:
//
//   - it ended with fewer than 20 runs, or before a Sometimes was reached;
//   - a declared fault was never injected: at none of 200 opportunities or in none of 20 runs, or it had no opportunity;
//   - every reconcile of a process failed: 10 of them, or all those of 20 runs;
//   - all requests of one sort of a process were refused: 100 of them;
//   - no process was started in any run;
//   - a controller cannot be observed;
//   - something connected over TCP during a run, perhaps outside of it;
//   - a cluster would act upon objects of a built-in kind, and nothing in the world does;
//   - the code never comes to the faults of a kept story;
//   - two runs of one choice sequence differ now and then, or in the text of an error.
//
// A campaign that found a failure is not accused of what it did not try.
func (r Report) Warnings() []string {
	var out []string
	for _, name := range r.unseen {
		out = append(out, name+" is not observed, as its requests are not reconcile.Request: no hot loop, panic or lost update of its own is "+
			"noticed, its requests are never raced, and w.Settle waits for silence and not for its back-off")
	}
	if r.strayed {
		out = append(out, strays)
	}
	for _, d := range r.Drifted {
		if flags.drift == driftWarns {
			out = append(out, "the story "+blunted(d)+"; -sim.drift=fail makes this a failure")
		}
	}
	for _, d := range r.Divergences {
		out = append(out, d.Sentence())
	}
	for _, u := range r.unheeded {
		if s := u.warning(); s != "" {
			out = append(out, s)
		}
	}
	if r.shards > 1 { // another shard may have been there
		for _, m := range r.missed() {
			out = append(out, m+", unless another shard does; wavetank merge tells")
		}
	}
	return append(out, r.untried()...)
}

// untried says, in a sentence each, what a search that found nothing did not try. Each depends on what was seen, and not on
// whether all runs were made.
func (r Report) untried() (out []string) {
	if r.searched == 0 || r.Failure != nil && !r.Complete {
		return nil
	}
	say := func(sentence string) {
		if sentence != "" {
			out = append(out, sentence)
		}
	}
	say(r.few())
	if r.idle == r.searched {
		say(fmt.Sprintf("no process was started in %d runs, so what holds says nothing of a program; start one with w.Start", r.searched))
	}
	for _, f := range r.Faults {
		say(f.idle(r.Runs))
	}
	for _, o := range r.outcomes {
		say(o.vain(r.Runs))
	}
	for _, o := range r.refused {
		say(o.warning(r.Runs))
	}
	if !r.Complete && r.shards <= 1 && !testing.Short() {
		for _, s := range r.unreached() {
			say(s + ", and the time was up before all runs were made")
		}
	}
	return out
}

// enoughRuns, enoughOpportunities, enoughReconciles and enoughRequests are each evidence enough: for a fault that was never
// injected, for a process whose every reconcile failed, and for one sort of request that never succeeded.
const (
	enoughRuns          = 20
	enoughOpportunities = 200
	enoughReconciles    = 10
	enoughRequests      = 100
)

// Err is what [Check] would fail the test with; nil if it would pass.
func (r Report) Err() error {
	if r.Failure != nil {
		text := r.Failure.Text()
		if len(r.Findings) > 1 {
			text += fmt.Sprintf("    %d causes in %d runs:\n", len(r.Findings), r.Runs)
			for _, f := range r.Findings {
				text += fmt.Sprintf("    %5d runs: %s (shortest story: %d steps; first in run %d, by %s)\n", f.Count, f.Cause, f.Steps, f.First, f.Strategy)
			}
		}
		return fmt.Errorf("%s", text)
	}
	wrong := r.dull()
	if r.shards <= 1 {
		wrong = append(wrong, r.missed()...)
	}
	if wrong != nil {
		return fmt.Errorf("%s", strings.Join(wrong, "\n"))
	}
	return nil
}

// missed says what a campaign that made all its runs did not reach.
func (r Report) missed() (missed []string) {
	if !r.Complete || testing.Short() {
		return nil
	}
	return r.unreached()
}

// unreached says what no run has reached.
func (r Report) unreached() (missed []string) {
	for _, p := range r.Sometimes {
		if p.Reached == 0 {
			missed = append(missed, fmt.Sprintf("%s: sometimes %q was not reached in %d runs: the scenario does not explore what it says it does",
				p.Site, p.Sentence, r.Runs))
		}
	}
	return missed
}

// current is the world of the run that is under way.
var current atomic.Pointer[World]

// expectation is the temper of a verdict that an assertion library raised.
const expectation = "expectation"

// Assertion libraries print addresses, which differ from run to run, and paths, which differ from machine to machine.
var (
	pointers = regexp.MustCompile(`0x[0-9a-f]{4,}`)
	paths    = regexp.MustCompile(`/[^\s:]*/([^/\s:]+\.go:[0-9]+)`)
)

// repeatable takes out of a message what a second run would not print.
func repeatable(message string) string {
	return paths.ReplaceAllString(pointers.ReplaceAllString(strings.TrimSpace(message), "0x…"), "$1")
}

// Fail ends the run that is under way because an assertion failed at site (file:line), and does not return. It is the
// fail handler that assertion libraries get while a campaign runs: the failure becomes the run's verdict, with a story.
// It may be called on any goroutine: on one of the code under test it ends the goroutine, as t.FailNow does, and the
// run ends at its next quiet moment. Without a run it reports false.
func Fail(site, message string) bool {
	w := current.Load()
	if w == nil {
		return false
	}
	v := &Verdict{Temper: expectation, Site: site, Message: repeatable(message)}
	if onScenario() {
		w.fail(v)
	}
	w.later(v)
	return true
}

// later ends a goroutine of the code under test, and the run at its next quiet moment.
func (w *World) later(v *Verdict) {
	w.soon(v)
	runtime.Goexit()
}

// soon ends the run at its next quiet moment.
func (w *World) soon(v *Verdict) {
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
	if w.sched.Performing() {
		w.misuse("%s was called in the middle of a step, by a handler given to w.External or by a built-in controller; the world goes on only "+
			"when that step is over, so call it in the scenario, or let a process do it", call)
	}
}

// mine ends the run when the world is used where it cannot be: on another goroutine than the scenario's, or inside a
// property.
func (w *World) mine() {
	if !onScenario() {
		w.later(&Verdict{Temper: "misuse", Message: "sim: a World was used on another goroutine than its scenario's (in a reconciler, or " +
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

// onScenario says whether the caller is on the goroutine that the scenario was called on, which is also the scheduling
// goroutine: the only one that may end the run by a panic. The steps of built-in controllers have stacks of their own, on
// which the scheduling goroutine waits. It is asked at every use of the world, so it looks at the
// bottom of the stack first.
func onScenario() bool {
	var pcs [256]uintptr
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		for i := n - 1; i >= 0; i-- {
			f := runtime.FuncForPC(pcs[i] - 1)
			if f != nil && (strings.HasSuffix(f.Name(), "/sim.(*result).live") || strings.HasSuffix(f.Name(), "/wire.(*step).perform")) {
				return true
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}

// testHost is package testing as a host.
type testHost struct{ *testing.T }

// Replay names the exact package, because -sim flags fail in packages that do not import sim.
func (h testHost) Replay(file string) string { return replayCommand(h.Name(), h.Package(), file) }

func replayCommand(test, pkg, file string) string {
	var parts []string
	for _, p := range strings.Split(test, "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(p)+"$")
	}
	command := fmt.Sprintf("%s -run %s", shell.GoTest(pkg), shell.Quote(strings.Join(parts, "/")))
	if file != "" {
		command += " -sim.replay=" + shell.Word(filepath.ToSlash(file))
	}
	return command
}

// Package is what the test binary was built from: the test itself may have been started by a helper of another package.
func (h testHost) Package() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || !strings.HasSuffix(info.Path, ".test") || strings.HasPrefix(info.Path, "command-line-arguments") {
		return "."
	}
	return strings.TrimSuffix(info.Path, ".test")
}

// testOf is the test that a campaign belongs to, given the campaign's name: all but the first one of a test are
// numbered.
func testOf(campaign string) string { return numbered.ReplaceAllString(campaign, "") }

var numbered = regexp.MustCompile(`~[0-9]+$`)
