package campaign

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// evidence says how much the runs of a campaign show.
type evidence struct {
	settings Settings
	*tally
	left []string // goroutines that one run left behind
}

// warnings say, in a sentence each, what makes the campaign say less than it seems to.
func (e *evidence) warnings() (out []string) {
	r := e.report
	for _, name := range e.unobserved {
		out = append(out, name+" is not observed, as its requests are not reconcile.Request: no hot loop, "+
			"panic or lost update of its own is noticed, its requests are never raced, "+
			"and w.Settle waits for silence and not for its back-off")
	}
	for _, u := range e.unmodelled {
		out = append(out, unmodelledWarning(u))
	}
	if e.strayed {
		out = append(out, strays)
	}
	for _, p := range e.left {
		out = append(out, leftOnce(p))
	}
	for _, d := range r.Drifted {
		if e.settings.Drift == driftWarns {
			out = append(out, "the story "+driftSentence(d)+"; -sim.drift=fail makes this a failure")
		}
	}
	for _, d := range r.Outdated {
		if e.settings.Drift == driftWarns || d.Now != story.Passes {
			out = append(out, "the story "+d.Sentence())
		}
	}
	for _, d := range r.Divergences {
		out = append(out, d.Sentence())
	}
	for _, u := range e.ignored {
		if s := ignoredWarning(u); s != "" {
			out = append(out, s)
		}
	}
	if e.settings.shards() > 1 { // another shard may have been there
		for _, m := range slices.Concat(e.unreachedByAll(), e.hollow(true)) {
			out = append(out, m+", unless another shard does; wavetank report --merge tells")
		}
	}
	return append(out, e.untried()...)
}

// untried says, in a sentence each, what a search that found nothing did not try. Each depends on
// what was seen, and not on whether all runs were made.
func (e *evidence) untried() (out []string) {
	r := e.report
	if e.searched == 0 || r.Failure != nil && !r.Complete {
		return nil
	}
	say := func(sentence string) {
		if sentence != "" {
			out = append(out, sentence)
		}
	}
	say(e.tooFewRuns())
	if e.idle == e.searched {
		say(fmt.Sprintf("no process was started in %d runs, so what holds says nothing of a program; "+
			"start one with w.Start", e.searched))
	}
	for _, f := range r.Faults {
		say(neverInjected(f, r.Runs))
	}
	for _, w := range e.waits {
		say(alwaysCut(w))
	}
	hollow := e.hollow(false)
	out = append(out, hollow...)
	for _, o := range e.outcomes {
		if len(hollow) == 0 { // which names the objects, and what to do
			say(allFailed(o, r.Runs))
		}
	}
	for _, o := range e.refused {
		say(allRefused(o, r.Runs))
	}
	if !r.Complete && e.settings.shards() <= 1 && !testing.Short() {
		for _, s := range e.unreached() {
			say(s + ", and the time was up before all runs were made")
		}
	}
	return out
}

// enoughRuns, enoughOpportunities, enoughReconciles, enoughRequests and enoughCut are each evidence
// enough: for a fault that was never injected, for a process whose every reconcile failed, for one
// sort of request that never succeeded, and for lags that are shorter than a wait.
const (
	enoughRuns          = 20
	enoughOpportunities = 200
	enoughReconciles    = 10
	enoughRequests      = 100
	enoughCut           = 10
)

// missed says what fails the test although no run failed.
func (e *evidence) missed() (out []string) {
	for _, d := range e.report.Drifted {
		if e.settings.Drift == driftFails {
			out = append(out, "sim: the story "+driftSentence(d)+" (-sim.drift=fail)")
		}
	}
	for _, d := range e.report.Outdated {
		if e.settings.Drift == driftFails && d.Now == story.Passes {
			out = append(out, "sim: the story "+d.Sentence()+" (-sim.drift=fail)")
		}
	}
	if e.settings.shards() <= 1 {
		out = append(out, e.unreachedByAll()...)
		for _, s := range e.hollow(true) {
			out = append(out, "sim: "+s)
		}
	}
	return out
}

// hollow says which objects never succeeded: those that fail the campaign, or the others.
func (e *evidence) hollow(required bool) []string {
	if e.searched == 0 {
		return nil
	}
	r := story.Result{Runs: e.report.Runs, Complete: e.report.Complete, Objects: e.report.Objects}
	return r.HollowSentences(required)
}

// unreachedByAll says what a campaign that made all its runs did not reach.
func (e *evidence) unreachedByAll() []string {
	if !e.report.Complete || testing.Short() {
		return nil
	}
	return e.unreached()
}

// unreached says what no run has reached.
func (e *evidence) unreached() (missed []string) {
	r := e.report
	for _, p := range r.Sometimes {
		if p.Reached == 0 {
			missed = append(missed, fmt.Sprintf("%s: sometimes %q was not reached in %d runs: "+
				"the scenario does not explore what it says it does", p.Site, p.Sentence, r.Runs))
		}
	}
	return missed
}

// neverInjected says, in a sentence, that a fault was never injected in a campaign and why that may
// be; "" if it did, or if there is too little evidence.
func neverInjected(c result.FaultCount, runs int) string {
	switch {
	case c.Injected > 0, c.Opportunities > 0 && c.Opportunities < enoughOpportunities && runs < enoughRuns:
		return ""
	case c.Opportunities == 0:
		return fmt.Sprintf("fault %s had no opportunity in %d runs: look at its scope, or do not declare it",
			c.Fault, runs)
	}
	return fmt.Sprintf("fault %s was never injected in %d runs, at %d opportunities: make more runs",
		c.Fault, runs, c.Opportunities)
}

// ignoredWarning is a sentence about created objects that no controller acted upon; "" if one did,
// or may have done.
func ignoredWarning(u run.Ignored) string {
	if u.Made == 0 || u.Watched {
		return ""
	}
	objects, them := fmt.Sprintf("up to %d objects of kind %s were", u.Made, u.Kind.Kind), "them"
	if u.Made == 1 {
		objects, them = fmt.Sprintf("1 object of kind %s was", u.Kind.Kind), "it"
	}
	s := fmt.Sprintf("%s made in a run, and nothing in this world acts upon %s, though a cluster would", objects, them)
	switch {
	case !u.Modelled:
		return s + ": that is not modelled"
	case u.Kind.Kind == "Pod":
		return s + ": w.Builtin(kubelet.New()...)"
	}
	return s + ": w.Builtin(workload.New()...)"
}

// unmodelledWarning says, in a sentence, that a request was refused because it is not modelled.
func unmodelledWarning(u run.Unmodelled) string {
	sent := fmt.Sprintf("process %q sent %q", u.Process, u.Request)
	if u.Source != "" {
		sent += " at " + u.Source
	}
	return fmt.Sprintf("%s, which the API model refuses with 501, as it does not model %s: what the program does "+
		"with a real answer is not tested; put an interface there, and give the program another implementation "+
		"in the test", sent, u.What)
}

// strays is the warning that something connected to the real network during a run, but perhaps not
// in it.
const strays = "something in this process connected over TCP while a run was made, and did not when the run was " +
	"repeated; if it was the code under test, the run depends on the real network: " +
	"use sim.HTTPClient(mgr) and w.External"

// leftOnce says, in a sentence, that a goroutine was left behind by one run only. place is where it
// stands and what began it, as bubble.LeftBehind has it.
func leftOnce(place string) string {
	_, by, _ := strings.Cut(place, ", begun by ")
	return fmt.Sprintf("a goroutine was left behind when a run ended, but not by other runs: it stands in %s; "+
		"a library may begin it once per process, and then give w.Start sim.IgnoreGoroutines(%q)", place, by)
}

// alwaysCut says, in a sentence, that the lag of a cache was always shorter than a wait of the
// program for it; "" if it was not, or if there is too little evidence.
func alwaysCut(w run.Waits) string {
	if w.Cut < enoughCut || w.Outlasted > 0 {
		return ""
	}
	return fmt.Sprintf("%d lags of %s, of up to %v, ended while the operator still waited for its own write to "+
		"appear, and none outlasted a wait: what it does when a wait ends with a stale cache was not tried; "+
		"give the fault a longer duration, or leave out fault.HardLimit()",
		w.Cut, w.Fault, w.Longest.Round(time.Millisecond))
}

// allFailed says, in a sentence, that a process achieved nothing in a campaign; "" if it did.
func allFailed(o run.Outcomes, runs int) string {
	if o.Ended == 0 || o.Failed < o.Ended || o.Ended < enoughReconciles && runs < enoughRuns {
		return ""
	}
	return fmt.Sprintf("every reconcile of process %q failed in %d runs, "+
		"so what holds may hold because nothing is done; the last one ended with %s", o.Process, runs, o.Failure)
}

// allRefused says, in a sentence, that none of these requests succeeded; "" if one did, or too few
// were made.
func allRefused(r run.Refused, runs int) string {
	if r.Made == 0 || r.Failed < r.Made || r.Made < enoughRequests {
		return ""
	}
	return fmt.Sprintf("none of the %d requests %q of process %q succeeded in %d runs, "+
		"so what holds may hold because nothing is done; the last one was answered %d %s",
		r.Made, r.Request, r.Process, runs, r.Code, http.StatusText(r.Code))
}

// tooFewRuns says, in a sentence, that a campaign ended with too few runs to say much; "" if it did
// not.
func (e *evidence) tooFewRuns() string {
	r, searched := e.report, e.searched
	if r.Complete || r.Failure != nil || searched == 0 || searched >= fewRuns {
		return ""
	}
	runs := fmt.Sprintf("%d runs", searched)
	if planned := e.settings.planned(); planned > 0 {
		runs = fmt.Sprintf("%d of %d runs", searched, planned)
	}
	return fmt.Sprintf("%s: only %s in %v of CPU time, which says little; "+
		"give it more time (-sim.for=%v or SIM_FOR=%v), or make the scenario smaller",
		r.Name, runs, r.Spent.Round(100*time.Millisecond), severalTimes(r.Spent), severalTimes(r.Spent))
}

// severalTimes is a rounded time that allows several times as many runs.
func severalTimes(spent time.Duration) time.Duration {
	return max(10*time.Second, (4 * spent).Round(10*time.Second))
}
