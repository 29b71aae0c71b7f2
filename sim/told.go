package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
)

// This file says how much a campaign that found nothing has tried: finding nothing proves nothing.

// outcomes says how the reconciles of one process ended.
type outcomes struct {
	process       string
	ended, failed int
	failure       string // how the last one failed
}

// outcomesOf counts by process, in the order in which they were first heard of.
func outcomesOf(events []history.Event) (out []outcomes) {
	for i := range events {
		e := &events[i]
		if e.Kind != history.Done {
			continue
		}
		o := outcomes{process: e.Process, ended: 1}
		if what, _, ok := strings.Cut(e.Outcome, ": "); ok && (strings.HasSuffix(what, "error") || what == "panic") {
			o.failed, o.failure = 1, e.Outcome
		}
		out = addOutcomes(out, o)
	}
	return out
}

func addOutcomes(all []outcomes, o outcomes) []outcomes {
	at := slices.IndexFunc(all, func(have outcomes) bool { return have.process == o.process })
	if at < 0 {
		return append(all, o)
	}
	all[at].ended += o.ended
	all[at].failed += o.failed
	if o.failure != "" {
		all[at].failure = o.failure
	}
	return all
}

// vain says, in a sentence, that a process achieved nothing in a campaign; "" if it did.
func (o outcomes) vain(runs int) string {
	if o.ended == 0 || o.failed < o.ended || o.ended < enoughReconciles && runs < enoughRuns {
		return ""
	}
	return fmt.Sprintf("every reconcile of process %q failed in %d runs, so what holds may hold because nothing is done; the last one ended with %s", o.process, runs, o.failure)
}

// tried is how much was tried, in a sentence.
func (r *Report) tried() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d runs in %v", r.Runs, r.Elapsed.Round(10*time.Millisecond))
	if !r.Complete {
		fmt.Fprintf(&b, " (then the CPU time of -sim.for was used up)")
	}
	failed := 0
	for _, o := range r.outcomes {
		failed += o.failed
	}
	fmt.Fprintf(&b, ": %d steps, %d requests, %d reconciles of which %d failed, %v of virtual time; %d runs made twice",
		r.Steps, r.Requests, r.Reconciles, failed, r.Virtual.Round(time.Second), r.Doubled)
	for _, f := range r.Faults {
		fmt.Fprintf(&b, "; %s injected %d times at %d opportunities", f.Fault, f.Injected, f.Opportunities)
	}
	return b.String()
}
