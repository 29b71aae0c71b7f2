package campaign

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/sim/internal/run"
)

// suspects are the goroutines that keep a bubble from going quiet, as a dump of all goroutines
// shows them.
type suspects struct {
	waits   string   // the scenario's goroutine, if it waits in code that is not the harness's; "" if it does not
	awake   []string // goroutines of the bubble that do not wait for the simulated world
	members []string // all goroutines of the bubble
}

// waitsForWorld finds the state of a goroutine that the simulated world itself resumes.
var waitsForWorld = regexp.MustCompile(`\(durable\)|synctest\.Wait|synctest\.Run`)

// canRun are the beginnings of the states of goroutines that need only a CPU.
var canRun = []string{"running", "runnable", "preempted", "copystack", "GC ", "wait for GC cycle"}

func suspectsOf(dump string) (s suspects) {
	for _, g := range strings.Split(dump, "\n\n") {
		head, _, _ := strings.Cut(g, "\n")
		if strings.Contains(head, "synctest bubble") {
			s.members = append(s.members, g)
		}
		if scenarioWaits(g) {
			s.waits = g
			continue
		}
		if strings.Contains(head, "synctest bubble") && !waitsForWorld.MatchString(head) {
			s.awake = append(s.awake, g)
		}
	}
	return s
}

// runnable reports whether a goroutine could run if it were given a CPU. While the scenario waits
// in foreign code, virtual time passes and wakes others without end, so one always could.
func (s suspects) runnable() bool {
	if s.waits != "" {
		return true
	}
	return slices.ContainsFunc(s.awake, func(g string) bool {
		state := stateOf(g)
		return slices.ContainsFunc(canRun, func(can string) bool { return strings.HasPrefix(state, can) })
	})
}

// places tell where the goroutines wait that keep the bubble from going quiet, or all of the
// bubble's if none can be named. Two looks at goroutines that have not moved give the same text.
func (s suspects) places() string {
	where := s.awake
	if len(where) == 0 {
		where = s.members
	}
	var out []string
	for _, g := range where {
		head, stack, _ := strings.Cut(g, "\n")
		number, _, _ := strings.Cut(strings.TrimPrefix(head, "goroutine "), " ")
		out = append(out, number+" "+stateOf(g)+"\n"+stack)
	}
	slices.Sort(out)
	return "at " + run.WithoutAddresses(strings.Join(out, "\n\n")) // stacks move
}

// stateOf is why a goroutine does not run, as a dump names it.
func stateOf(g string) string {
	head, _, _ := strings.Cut(g, "\n")
	_, state, _ := strings.Cut(head, "[")
	return state[:max(0, strings.IndexAny(state+"]", ",]"))]
}

// explainHang names the goroutines that keep a bubble from going quiet, and says what to do.
func explainHang(dump, waited string) string {
	s := suspectsOf(dump)
	waits, awake := s.waits, s.awake
	const onlyTime = "only time passes while the scenario, or a property, waits here for something that never " +
		"happens; wait with w.Settle or w.Sleep, and let properties judge what is there"
	const woken = "it runs: woken by timers as time passes, or in a loop without a pause"
	msg := fmt.Sprintf("sim: the run has made no progress for %s: the simulated world never goes quiet", waited)
	if waits != "" {
		msg += "\n\n" + describe(waits, onlyTime)
		for _, g := range awake {
			msg += "\n\n" + strings.Replace(diagnose(g), neverBlocks, woken, 1)
		}
		return msg
	}
	if len(awake) == 0 {
		return msg + ", and no goroutine of it could be named; all goroutines:\n\n" + dump
	}
	for _, g := range awake {
		msg += "\n\n" + diagnose(g)
	}
	return msg
}

// onlyWaits finds lines of a stack that say where it stands, or in which standard package it waits.
// harness finds those of the harness.
var (
	onlyWaits = regexp.MustCompile(`^(\t|time\.|sync\.|runtime\.|internal/|testing/)`)
	harness   = regexp.MustCompile(`^github\.com/wavetank/wavetank/sim(\.|/internal/)`)
)

// scenarioWaits reports whether a goroutine is the scenario's and has stopped in code that is not
// the harness's, with time running on: timers wake the programs' goroutines again and again, and
// one of those would be blamed.
func scenarioWaits(g string) bool {
	head, stack, _ := strings.Cut(g, "\n")
	if !run.OfScenario(stack) || !strings.Contains(head, "(durable)") && !strings.HasPrefix(stack, "time.Sleep(") {
		return false
	}
	for _, l := range strings.Split(stack, "\n") {
		if !onlyWaits.MatchString(l) {
			return !harness.MatchString(l)
		}
	}
	return false
}

const neverBlocks = "it never blocks: a loop without a pause"

func diagnose(g string) string {
	state := stateOf(g)
	why := "it waits for something outside the world"
	switch {
	case strings.Contains(state, "Mutex") || strings.Contains(state, "semacquire"):
		why = "it waits for a lock whose holder is waiting for the simulated cluster; " +
			"do not hold a lock across an API call, or make the call before taking it"
	case strings.Contains(state, "IO wait") || strings.Contains(state, "syscall"):
		why = "it waits for a real socket, file or process; reach the outside through w.External and sim.HTTPClient"
	case strings.Contains(state, "run"):
		why = neverBlocks
	case strings.Contains(state, "chan") || strings.Contains(state, "select"):
		why = "it waits for a channel made outside the scenario; make it inside, or in the setup function"
	}
	return describe(g, why)
}

func describe(g, why string) string {
	head, _, _ := strings.Cut(g, "\n")
	stack := strings.Join(strings.Split(g, "\n")[1:], "\n  ")
	return fmt.Sprintf("%s\n%s\n  %s", strings.TrimSuffix(head, ":"), why, stack)
}
