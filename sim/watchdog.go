package sim

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/wavetank/wavetank/sim/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/story"
)

// beat counts signs of life of the run under way. The watchdog stands outside the bubble and works in real time.
var beat atomic.Uint64

// underWay says whether a run is being made at all. Between runs a campaign may take as long as it likes, to draw one of
// half a gigabyte for example.
var underWay atomic.Bool

// latest is the run under way, as far as it has come.
var latest atomic.Pointer[inProgress]

type inProgress struct {
	source  *choice.Source
	history *history.History
}

// doing is what a campaign makes runs for at the moment: one of its own, or of a story.
type doing struct {
	what, strategy string
	run            int
	seed           uint64
}

// hung names the run that hangs, and keeps its story, which nobody else can do any more. It is called by the watchdog: whoever writes
// the run's record hangs, too, or soon will.
func (c *campaign) hung(why string) (said string) {
	d := c.doing.Load()
	if d == nil {
		d = &doing{what: "a run before run 0, undisturbed or with every fault,"}
	}
	said = fmt.Sprintf("    it is %s of base seed %d\n", d.what, c.report.Seed)
	defer func() {
		if v := recover(); v != nil { // the record was being written after all
			said += fmt.Sprintf("    its story could not be told: %v\n", v)
		}
	}()
	r := latest.Load()
	if r == nil {
		return said
	}
	f := &Failure{Verdict: Verdict{Temper: hang, Message: repeatable(why)}, Run: d.run, Seed: d.seed, Strategy: d.strategy, History: r.history.Rest()}
	tape, length := r.source.Tape(), story.Length{}
	if n := len(f.History.Events); n > 0 {
		f.Step, f.At = f.History.Events[n-1].Step, f.History.Events[n-1].At
	}
	length.Choices, length.Steps = len(tape), f.Step
	f.Story = c.story(f, tape, length, length)
	for _, l := range abridged(f.Story.History) {
		said += "    " + l + "\n"
	}
	if c.settings.replay != "" {
		return said + fmt.Sprintf("    replay: %s\n", c.command(c.settings.replay))
	}
	if c.settings.stories == "" {
		return said + "    the story was not kept; sim.Stories(directory) keeps it\n"
	}
	path, err := f.Story.Write(c.settings.stories)
	if err != nil {
		return said + fmt.Sprintf("    the story could not be kept: %v\n", err)
	}
	return said + fmt.Sprintf("    story:  %s\n    replay: %s\n", path, f.Story.Replay)
}

// hang is the temper of a run that never goes quiet. Only stories have it: the process ends with such a run.
const hang = "hang"

// hangLimit is how long a run may make no progress in real time.
const hangLimit = 20 * time.Second

// watch guards a campaign: a goroutine that waits for a mutex, a socket or a channel made outside never counts as quiet, so
// the bubble would hang without a word. The returned function calls the watchdog off. which, if not nil, says of which run it is.
func watch(test string, limit time.Duration, which func(why string) string) (stop func()) {
	done := make(chan struct{})
	go func() {
		last, since := beat.Load(), time.Now()
		for {
			select {
			case <-done:
				return
			case <-time.After(limit / 20):
			}
			if now := beat.Load(); now != last || !underWay.Load() {
				last, since = now, time.Now()
				continue
			}
			if time.Since(since) >= limit {
				buf := make([]byte, 8<<20)
				why := explainHang(string(buf[:runtime.Stack(buf, true)]), limit)
				fmt.Fprintf(os.Stderr, "--- FAIL: %s\n%s\n", test, why)
				if which != nil {
					fmt.Fprint(os.Stderr, "\n"+which(why))
				}
				fmt.Fprint(os.Stderr, "FAIL\n")
				os.Exit(1)
			}
		}
	}()
	return func() { close(done) }
}

// explainHang finds, in a dump of all goroutines, those of the bubble that keep it from going quiet.
func explainHang(dump string, limit time.Duration) string {
	var culprits []string
	waits := ""
	for _, g := range strings.Split(dump, "\n\n") {
		head, _, _ := strings.Cut(g, "\n")
		if scenarioWaits(g) {
			waits = g
			continue
		}
		if !strings.Contains(head, "synctest bubble") || strings.Contains(head, "(durable)") || strings.Contains(head, "synctest.Wait") ||
			strings.Contains(head, "synctest.Run") {
			continue
		}
		culprits = append(culprits, g)
	}
	msg := fmt.Sprintf("sim: the run has made no progress for %v of real time: the simulated world never goes quiet", limit)
	if waits != "" {
		msg += "\n\n" + tellCulprit(waits, "only time goes on while the scenario, or a property, waits here for what never comes; wait with w.Settle or w.Sleep, and let properties judge what is there")
		for _, g := range culprits {
			msg += "\n\n" + strings.Replace(describeCulprit(g), neverBlocks, "it runs: woken by the time that goes on meanwhile, or in a loop without a pause", 1)
		}
		return msg
	}
	if len(culprits) == 0 {
		return msg + ", and no goroutine of it could be named; all goroutines:\n\n" + dump
	}
	for _, g := range culprits {
		msg += "\n\n" + describeCulprit(g)
	}
	return msg
}

// scenarioWaits says whether a goroutine is the scenario's and has stopped in code that is not the harness's, with time running on:
// timers wake the programs' goroutines again and again, and one of those would be blamed.
func scenarioWaits(g string) bool {
	head, stack, _ := strings.Cut(g, "\n")
	if !strings.Contains(stack, "/sim.(*result).live(") || !strings.Contains(head, "(durable)") && !strings.HasPrefix(stack, "time.Sleep(") {
		return false
	}
	for _, l := range strings.Split(stack, "\n") {
		std := strings.HasPrefix(l, "time.") || strings.HasPrefix(l, "sync.") || strings.HasPrefix(l, "runtime.") || strings.HasPrefix(l, "internal/") ||
			strings.HasPrefix(l, "testing/")
		if !std && !strings.HasPrefix(l, "\t") {
			return !strings.HasPrefix(l, "github.com/wavetank/wavetank/sim.") && !strings.HasPrefix(l, "github.com/wavetank/wavetank/sim/internal/")
		}
	}
	return false
}

const neverBlocks = "it never blocks: a loop without a pause"

func describeCulprit(g string) string {
	head, _, _ := strings.Cut(g, "\n")
	state := head
	if i, j := strings.Index(head, "["), strings.Index(head, ","); i >= 0 && j > i {
		state = head[i+1 : j]
	}
	why := "it waits for something outside the world"
	switch {
	case strings.Contains(state, "Mutex") || strings.Contains(state, "semacquire"):
		why = "it waits for a lock whose holder is waiting for the simulated cluster; do not hold a lock across an API call, or make the call before taking it"
	case strings.Contains(state, "IO wait") || strings.Contains(state, "syscall"):
		why = "it waits for a real socket, file or process; reach the outside through w.External and sim.HTTPClient"
	case strings.Contains(state, "run"):
		why = neverBlocks
	case strings.Contains(state, "chan") || strings.Contains(state, "select"):
		why = "it waits for a channel made outside the scenario; make it inside, or in the setup function"
	}
	return tellCulprit(g, why)
}

func tellCulprit(g, why string) string {
	head, _, _ := strings.Cut(g, "\n")
	return fmt.Sprintf("%s\n%s\n  %s", strings.TrimSuffix(head, ":"), why, strings.Join(strings.Split(g, "\n")[1:], "\n  "))
}
