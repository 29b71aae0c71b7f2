package sim

import (
	"encoding/binary"
	"flag"
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/sim/internal/choice"
)

// Draw takes a value of the user's from a rapid generator, through the run's own choices, so that it replays and
// shrinks with the schedule. The dullest value is the generator's simplest.
func Draw[T any](w *World, label string, g *rapid.Generator[T]) T {
	w.alive()
	if g == nil {
		w.misuse("sim.Draw(%q) was given no generator", label)
	}
	var words []byte
	for {
		if v, ok := generate(g, words); ok {
			return v
		}
		if len(words) >= 8*maxDraw {
			w.misuse("sim.Draw(%q): the generator wants more than %d random words; draw smaller values", label, maxDraw)
		}
		// One word at a time, so that what the generator does not use is not a choice.
		v := w.choices.Choose(fmt.Sprintf("draw %s/%d", label, len(words)/8), 1<<62)
		words = binary.LittleEndian.AppendUint64(words, uint64(v))
	}
}

const maxDraw = 4096

// generate runs a generator on the words; false if it wants more of them. rapid says so by skipping the test, which
// ends the goroutine, so it gets a goroutine and a test of its own.
func generate[T any](g *rapid.Generator[T], words []byte) (v T, ok bool) {
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		rapid.MakeFuzz(func(rt *rapid.T) {
			v = g.Draw(rt, "value")
			ok = true
		})(new(testing.T), words)
	}()
	if r := <-done; r != nil {
		panic(r)
	}
	return v, ok
}

// capture is a rapid.TB that keeps what rapid says instead of failing a test.
type capture struct {
	name   string
	failed bool
	text   string
}

type capturedFailure struct{}

func (c *capture) Helper()              {}
func (c *capture) Name() string         { return c.name }
func (c *capture) Logf(string, ...any)  {}
func (c *capture) Log(...any)           {}
func (c *capture) Skipf(string, ...any) { panic(capturedFailure{}) }
func (c *capture) Skip(...any)          { panic(capturedFailure{}) }
func (c *capture) SkipNow()             { panic(capturedFailure{}) }
func (c *capture) Errorf(f string, a ...any) {
	c.failed, c.text = true, c.text+fmt.Sprintf(f, a...)+"\n"
}
func (c *capture) Error(a ...any)            { c.failed, c.text = true, c.text+fmt.Sprintln(a...) }
func (c *capture) Fatalf(f string, a ...any) { c.Errorf(f, a...); c.FailNow() }
func (c *capture) Fatal(a ...any)            { c.Error(a...); c.FailNow() }
func (c *capture) FailNow()                  { c.failed = true; panic(capturedFailure{}) }
func (c *capture) Fail()                     { c.failed = true }
func (c *capture) Failed() bool              { return c.failed }

// byRapid lets rapid make the tapes: every choice is a draw, and rapid's own shrinking runs before ours.
func (c *campaign) byRapid(began time.Time) {
	s := c.settings
	defer setFlags(map[string]string{
		"rapid.checks": strconv.Itoa(max(s.runs, 1)), "rapid.seed": strconv.FormatUint(c.report.Seed|1, 10),
		"rapid.nofailfile": "true", "rapid.shrinktime": s.shrink.String(),
	})()
	var first, smallest *result
	found := 0
	tb := &capture{name: c.t.Name()}
	func() {
		defer func() {
			if v := recover(); v != nil {
				if _, ours := v.(capturedFailure); !ours {
					panic(v)
				}
			}
		}()
		rapid.Check(tb, func(rt *rapid.T) {
			if s.budget > 0 && first == nil && c.report.Runs > 0 && time.Since(began) > s.budget {
				return
			}
			res := execute(c.t, c.scenario, drawing(rt), s)
			if first == nil {
				c.count(res)
			}
			if res.verdict == nil || first != nil && !res.verdict.same(first.verdict) {
				return
			}
			if first == nil {
				first, found = res, c.report.Runs-1
			}
			smallest = res
			rt.Fatalf("%s", res.verdict.Property)
		})
	}()
	if first == nil {
		c.report.Complete = s.runs > 0 && c.report.Runs >= s.runs
		return
	}
	c.found(found, c.report.Seed, "rapid", first, smallest)
}

// drawing is an oracle that answers with draws. A panic of rapid's (it ran out of recorded data while shrinking) must
// be carried out of the bubble before it is raised.
func drawing(rt *rapid.T) choice.Oracle {
	return choice.Func(func(p choice.Point) int {
		defer func() {
			if v := recover(); v != nil {
				if e, ok := v.(runtime.Error); ok {
					panic(e)
				}
				panic(carry{v})
			}
		}()
		if p.Odds > 1 && rapid.IntRange(0, p.Odds-1).Draw(rt, "strikes?") != p.Odds-1 {
			return 0
		}
		if p.Odds > 1 {
			return rapid.IntRange(1, p.N-1).Draw(rt, p.Label)
		}
		return rapid.IntRange(0, p.N-1).Draw(rt, p.Label)
	})
}

// setFlags sets flags of other packages and returns the function that puts them back.
func setFlags(values map[string]string) (restore func()) {
	old := map[string]string{}
	for name, v := range values {
		old[name] = flag.Lookup(name).Value.String()
		if err := flag.Set(name, v); err != nil {
			panic(err)
		}
	}
	return func() {
		for name, v := range old {
			_ = flag.Set(name, v)
		}
	}
}
