package run

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
)

// Script is the order of a run: what a run against a real server is held to.
type Script struct {
	Steps  []Step
	Phases []Phase
}

// Cut leaves out what comes after a time.
func (s *Script) Cut(after time.Duration) {
	s.Steps = slices.DeleteFunc(s.Steps, func(step Step) bool { return step.At > after })
	s.Phases = slices.DeleteFunc(s.Phases, func(p Phase) bool { return p.Steps > len(s.Steps) })
}

// Step is an action that was performed.
type Step struct {
	What   string // in words
	Detail string // distinguishes it from others with the same words
	// Actor is whose action it was. Two workers may send requests that are alike.
	Actor string
	At    time.Duration // virtual time
	// Chatter marks leases and Kubernetes Events. Their number depends on time.
	Chatter bool
	// Builtin is the built-in controller whose step it was; "" for others.
	Builtin string
}

// Phase is a stretch of a run in which the scenario waits: for a reply, for time or for quiescence.
type Phase struct {
	Steps     int           // how many steps there were at its end
	At        time.Duration // virtual time at its end
	Took      time.Duration // virtual time
	Sleeps    bool          // it is a w.Sleep
	Quiescent bool          // the world became quiescent
}

// Real has a run take place at a real API server, held to the order of a script.
type Real struct {
	Kubeconfig string
	Script     *Script
	History    *history.History // of the run that the script was written in
	// Paced has each step wait as long after the one before it as it did in the script. Else a step
	// is performed as soon as it can be.
	Paced bool
	// Patience is how long a step may be late.
	Patience time.Duration
	// Quiet is how long the run waits after the last step for the property to be violated.
	Quiet time.Duration
	// Child, when set, returns the command of a process that an incarnation runs in. Choices lead
	// to its program.
	Child   func() *exec.Cmd
	Choices choice.Sequence
	// Free, when set, has the run take place without a script.
	Free *Free
}

// Free is a run at a real API server that nothing holds to an order: what comes first happens
// first.
type Free struct {
	Lag   time.Duration // of every watch event
	Limit time.Duration // of real time, after which the run is ended
}

// Course is how a run at a real API server went.
type Course struct {
	Version string // of the server
	Steps   int    // of the script that were made
	// Parted is the first step that did not come; nil if all came.
	Parted *Parted
	// Cannot is what of the script a real server cannot be made to do; "" for nothing.
	Cannot string
	// OverTime is set if a free run was ended by its limit.
	OverTime bool
	// Extra are actions that the script does not have and that were let through.
	Extra []string
	// Names are the names and UIDs that the real server gave, and what they are in the script.
	Names map[string]string
}

// Parted is the step at which a real run parted from its script.
type Parted struct {
	N       int // counted from 1
	Step    Step
	Pending []string // what the real run could have done in its place
	// Behind is how much later than in the script the step before it was performed.
	Behind time.Duration
}

// InScript is a text of the real run with the names that the script has.
func (c *Course) InScript(text string) string {
	var pairs []string // the longest name first: it may contain another
	for _, real := range slices.SortedFunc(maps.Keys(c.Names), func(a, b string) int { return len(b) - len(a) }) {
		pairs = append(pairs, real, c.Names[real])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
