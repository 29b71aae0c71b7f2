package sim

import (
	"encoding/binary"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
)

// Draw takes a value of the user's from a rapid generator, through the run's own choices, so that it replays and
// shrinks with the schedule. The dullest value is the generator's simplest, or some fixed one if a filter rejects that.
// The story says what was drawn.
func Draw[T any](w *World, label string, g *rapid.Generator[T]) T {
	w.alive()
	if g == nil {
		w.misuse("sim.Draw(%q) was given no generator", label)
	}
	var words []byte
	for turn := 0; ; {
		v, end := generate(g, turned(words, turn))
		switch {
		case end.ok:
			w.history.Drew(history.Draw{At: w.sched.Now(), Label: label, Value: drawn(v)})
			return v
		case end.panicked != "":
			panic(fmt.Sprintf("the generator of sim.Draw(%q) panicked: %s", label, end.panicked))
		case end.failed != "":
			w.misuse("sim.Draw(%q): the generator failed: %s", label, end.failed)
		case end.rejected: // more words would not be read
			if turn++; turn > maxTurns {
				w.misuse("sim.Draw(%q): the generator rejected all of %d attempts; make the values that are wanted instead of filtering others out", label, maxTurns)
			}
			continue
		case len(words) >= 8*maxDraw:
			w.misuse("sim.Draw(%q): the generator wants more than %d random words; draw smaller values", label, maxDraw)
		}
		// One word at a time, so that what the generator does not use is not a choice.
		word := w.choices.Choose(fmt.Sprintf("draw %s/%d", label, len(words)/8), 1<<62)
		words = binary.LittleEndian.AppendUint64(words, uint64(word))
	}
}

const (
	maxDraw  = 4096
	maxTurns = 1000
)

// turned is the words of another attempt. A filter rejects the dull words, which are all alike, however often it is given
// them, and no choice can be asked for again.
func turned(words []byte, turn int) []byte {
	if turn == 0 {
		return words
	}
	out := make([]byte, 0, len(words))
	for i := 0; i < len(words); i += 8 {
		word := binary.LittleEndian.Uint64(words[i:]) ^ choice.Mix(uint64(turn), i)
		out = binary.LittleEndian.AppendUint64(out, word)
	}
	return out
}

// ending says how a generator ended. If none of it is set, it wants more words.
type ending struct {
	ok       bool
	rejected bool   // what it made of the words, with words left
	failed   string // what it gave to Fatalf
	panicked string
}

// generate runs a generator on the words. rapid says that it has not come to a value by skipping the test, which ends the
// goroutine, so it gets a goroutine and a test of its own.
func generate[T any](g *rapid.Generator[T], words []byte) (v T, end ending) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		rapid.MakeFuzz(func(rt *rapid.T) {
			defer func() {
				if r := recover(); r != nil {
					end = endingOf(rt, r)
					panic(r)
				}
			}()
			v = g.Draw(rt, "value")
			end.ok = true
		})(new(testing.T), words)
	}()
	<-done
	return v, end
}

// endingOf tells rapid's own panics, whose types it does not export, from those of the user's code.
func endingOf(rt *rapid.T, r any) ending {
	switch fmt.Sprintf("%T", r) {
	case "rapid.invalidData":
		return ending{rejected: more(rt)}
	case "rapid.stopTest":
		return ending{failed: fmt.Sprint(r)}
	}
	return ending{panicked: fmt.Sprintf("%v\n%s", r, debug.Stack())}
}

// more says whether there are words that have not been read.
func more(rt *rapid.T) (ok bool) {
	defer func() { _ = recover() }()
	rapid.Bool().Draw(rt, "more")
	return true
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
func (c *campaign) byRapid() {
	s := c.settings
	spent := newEffort(cpuTime)
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
			if first == nil && c.report.searched > 0 && s.exhausted(c.report.searched, spent.spent()) {
				return
			}
			res := execute(c.t, c.scenario, drawing(rt), s)
			if first == nil {
				c.searched(res)
			}
			if res.verdict == nil || first != nil && !res.verdict.same(first.verdict) {
				return
			}
			if first == nil {
				first, found = res, c.report.searched-1
			}
			smallest = res
			rt.Fatalf("%s", res.verdict.Property)
		})
	}()
	c.report.Spent = spent.spent()
	if first == nil {
		c.report.Complete = s.runs > 0 && c.report.searched >= s.runs
		return
	}
	c.found(found, c.report.Seed, "rapid", first, smallest)
}

// drawing is an oracle that answers with draws. A panic of rapid's (it ran out of recorded data while shrinking) must
// be carried out of the bubble before it is raised.
func drawing(rt *rapid.T) choice.Source {
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
