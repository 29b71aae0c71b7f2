package sim

import (
	"flag"
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
)

// Fuzz lets Go's native fuzzing make the tapes: go test -fuzz searches with coverage of the code under test as its
// guide, and plain go test runs the corpus. Every byte answers a choice; the empty input is the dull run. What breaks a
// property is shrunk, told, and kept as a story under testdata/sim, which plain go test tries again before the corpus.
// The first go test -fuzz takes minutes before anything runs: Go builds every package anew for it, those of Kubernetes too.
func Fuzz(f *testing.F, scenario func(*World)) {
	f.Helper()
	if scenario == nil {
		f.Fatal("sim: Fuzz needs a scenario")
	}
	for _, seed := range [][]byte{nil, {0xff}, bytesOf(1), bytesOf(2), bytesOf(3)} {
		f.Add(seed)
	}
	told := false
	f.Fuzz(func(t *testing.T, data []byte) {
		if !running.TryLock() {
			t.Fatal("sim: two scenarios at once in one process; a fuzz target must not be parallel")
		}
		defer running.Unlock()
		if err := refuseParallel(t); err != nil {
			t.Fatal(err)
		}
		lookAgain()
		s := flags
		s.undisturbed = &undisturbed{}
		s.host, s.stories = target{testHost{t}, f.Name()}, storyDir(f.Name())
		if s.replay == "" {
			s.shrink = fuzzShrink
		}
		if err := s.check(); err != nil {
			t.Fatal(err)
		}
		findOverlay(t)
		defer process.Enter(runLog(), process.Outside{Dialled: dialled})()
		defer watch(t.Name(), s.hang, nil)()
		c := &campaign{t: t, scenario: scenario, settings: s, shrunk: map[string]int{}, progress: &progress{}}
		c.report.Name = f.Name()
		first := !told
		told = true
		switch {
		case s.replay != "" && first:
			c.replay()
		case s.replay != "": // the first input has played it
		case !first || fuzzing() || c.regress():
			c.input(data)
		}
		c.report.print(s.host)
		if f := c.report.Failure; f != nil {
			t.Fatal(f.Text())
		}
	})
}

// input makes the run that an input stands for.
func (c *campaign) input(data []byte) {
	if res := execute(c.t, c.scenario, choice.Bytes(data), c.settings); res.verdict != nil {
		c.found(0, 0, "fuzz", res, res)
	}
}

// fuzzing says whether inputs are being made, by go test -fuzz: what a kept story breaks would be laid at the first one's door.
func fuzzing() bool {
	f := flag.Lookup("test.fuzz")
	return f != nil && f.Value.String() != ""
}

// target is a fuzz target as a host: its inputs are tests of their own, its stories are not theirs.
type target struct {
	testHost
	name string
}

// Name implements Host.
func (h target) Name() string { return h.name }

// Replay implements Host.
func (h target) Replay(file string) string { return replayCommand(h.name, h.Package(), file) }

// fuzzShrink bounds shrinking in a fuzz worker, whose engine minimises inputs itself and counts long runs as hangs.
const fuzzShrink = 3 * time.Second

// bytesOf is a random input to start from.
func bytesOf(seed uint64) []byte {
	out := make([]byte, 200)
	walk := choice.NewRandom(seed)
	for i := range out {
		out[i] = byte(walk.Choose(choice.Point{Label: "byte", N: 256, Odds: 3}))
	}
	return out
}
