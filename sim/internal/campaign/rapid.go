package campaign

import (
	"flag"
	"fmt"
	"runtime"
	"strconv"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
)

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

// byRapid lets rapid make the choice sequences: every choice is a draw, and rapid's own shrinking
// runs before ours.
func (e *explorer) byRapid() {
	s := e.settings
	spent := newEffort(cpuTime)
	defer setFlags(map[string]string{
		"rapid.checks": strconv.Itoa(max(s.Runs, 1)), "rapid.seed": strconv.FormatUint(e.report.Seed|1, 10),
		"rapid.nofailfile": "true", "rapid.shrinktime": s.Shrink.String(),
	})()
	var first, smallest *run.Result
	number := 0
	tb := &capture{name: e.t.Name()}
	func() {
		defer func() {
			if v := recover(); v != nil {
				if _, ours := v.(capturedFailure); !ours {
					panic(v)
				}
			}
		}()
		rapid.Check(tb, func(rt *rapid.T) {
			if first == nil && e.tally.searched > 0 && s.exhausted(e.tally.searched, spent.spent()) {
				return
			}
			res := e.runs.execute(drawing(rt))
			if first == nil {
				e.tally.countSearched(res)
			}
			if !res.Ending.Failed() || first != nil && !res.Ending.Same(first.Ending) {
				return
			}
			if first == nil {
				first, number = res, e.tally.searched-1
			}
			smallest = res
			rt.Fatalf("%s", res.Ending.Property)
		})
	}()
	e.report.Spent = spent.spent()
	if first == nil {
		e.report.Complete = s.Runs > 0 && e.tally.searched >= s.Runs
		return
	}
	e.keeper.addFailing(number, e.report.Seed, "rapid", first, smallest)
}

// drawing is a choice source that answers with draws. A panic of rapid's (it ran out of recorded
// data while shrinking) must be carried out of the bubble before it is raised.
func drawing(rt *rapid.T) choice.Source {
	return choice.Func(func(p choice.Point) int {
		defer func() {
			if v := recover(); v != nil {
				if e, ok := v.(runtime.Error); ok {
					panic(e)
				}
				panic(run.Stopped{Value: v})
			}
		}()
		if p.Odds > 1 && rapid.IntRange(0, p.Odds-1).Draw(rt, "strikes?") != p.Odds-1 {
			return 0
		}
		if p.Odds > 1 {
			return rapid.IntRange(1, p.N-1).Draw(rt, string(p.Kind))
		}
		return rapid.IntRange(0, p.N-1).Draw(rt, string(p.Kind))
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
