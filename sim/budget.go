package sim

import (
	"fmt"
	"testing"
	"time"
)

// This file says how long a campaign goes on, and tells the user when that was too short to say much.

const (
	// defaultBudget is the CPU time after which a campaign ends by default.
	defaultBudget = 5 * time.Second
	// fewRuns is the number of runs that the default budget always allows, unless they need more than longestBudget.
	// A campaign with fewer runs says little, which it tells without -v.
	fewRuns = 20
	// longestBudget is the CPU time after which the default budget ends a campaign with fewer than fewRuns runs.
	longestBudget = 30 * time.Second
)

// effort measures what a campaign has spent since a moment: CPU time of the process, which does not depend on what else the
// machine does. Where the system reports no CPU time, effort is real time.
type effort struct {
	clock func() time.Duration // CPU time of the process; 0 means unknown
	cpu   time.Duration
	began time.Time
}

func newEffort(clock func() time.Duration) effort {
	return effort{clock: clock, cpu: clock(), began: time.Now()}
}

// spent is the effort since the moment.
func (e effort) spent() time.Duration {
	if now := e.clock(); now > 0 {
		return now - e.cpu
	}
	return time.Since(e.began)
}

// exhausted says whether the time of a campaign is over, after some runs that took some effort.
func (s settings) exhausted(runs int, spent time.Duration) bool {
	if s.budget == 0 || spent <= s.budget {
		return false
	}
	return s.strict || runs >= fewRuns || spent > longestBudget
}

// planned is the number of runs that this process is to make; 0 means as many as the time allows.
func (s settings) planned() int {
	k, n, _ := parseShard(s.shard)
	return (s.runs - k + n - 1) / n
}

// few says, in a sentence, that a campaign ended with too few runs to say much; "" if it did not.
func (r Report) few() string {
	if r.Complete || r.Failure != nil || r.searched == 0 || r.searched >= fewRuns {
		return ""
	}
	runs := fmt.Sprintf("%d runs", r.searched)
	if r.planned > 0 {
		runs = fmt.Sprintf("%d of %d runs", r.searched, r.planned)
	}
	return fmt.Sprintf("%s: only %s in %v of CPU time, which says little; give it more time (-sim.for=%v or SIM_FOR=%v), or make the scenario smaller",
		r.Name, runs, r.Spent.Round(100*time.Millisecond), longer(r.Spent), longer(r.Spent))
}

// longer is a rounded time that allows several times as many runs.
func longer(spent time.Duration) time.Duration {
	return max(10*time.Second, (4 * spent).Round(10*time.Second))
}

// printFew prints what go test hides without -v, as for kept stories.
func (r Report) printFew() {
	if s := r.few(); s != "" && !testing.Verbose() {
		fmt.Printf("sim: warning: %s\n", s)
	}
}
