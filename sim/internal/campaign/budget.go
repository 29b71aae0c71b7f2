package campaign

import (
	"time"
)

const (
	// defaultBudget is the CPU time after which a campaign ends by default.
	defaultBudget = 5 * time.Second
	// fewRuns is the number of runs that the default budget always allows, unless they need more
	// than longestBudget. A campaign with fewer runs says little, which it tells without -v.
	fewRuns = 20
	// longestBudget is the CPU time after which the default budget ends a campaign with fewer than
	// fewRuns runs.
	longestBudget = 30 * time.Second
)

// effort measures what a campaign has spent since a moment: CPU time of the process, which does not
// depend on what else the machine does. Where the system reports no CPU time, effort is real time.
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

// exhausted reports whether the time of a campaign is over, after some runs that took some effort.
func (s Settings) exhausted(runs int, spent time.Duration) bool {
	if s.Budget == 0 || spent <= s.Budget {
		return false
	}
	return s.Strict || runs >= fewRuns || spent > longestBudget
}

// planned is the number of runs that this process is to make; 0 means as many as the time allows.
func (s Settings) planned() int {
	k, n, _ := parseShard(s.Shard)
	return (s.Runs - k + n - 1) / n
}
