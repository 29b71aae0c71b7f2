package sim

import (
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
)

// Fuzz lets Go's native fuzzing make the tapes: go test -fuzz searches with coverage of the code under test as its
// guide, and plain go test runs the corpus. Every byte answers a choice; the empty input is the dull run. What breaks a
// property is shrunk, told, and kept as a story under testdata/sim.
func Fuzz(f *testing.F, scenario func(*World)) {
	for _, seed := range [][]byte{nil, {0xff}, bytesOf(1), bytesOf(2), bytesOf(3)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !running.TryLock() {
			t.Fatal("sim: two scenarios at once in one process; a fuzz target must not be parallel")
		}
		defer running.Unlock()
		if err := refuseParallel(t); err != nil {
			t.Fatal(err)
		}
		s := flags
		s.undisturbed = &undisturbed{}
		s.host, s.shrink, s.stories = testHost{t}, fuzzShrink, storyDir(f.Name())
		if err := s.check(); err != nil {
			t.Fatal(err)
		}
		defer process.Enter(runLog(), process.Outside{})()
		defer watch(t.Name(), s.hang)()
		res := execute(t, scenario, choice.Bytes(data), s)
		if res.verdict == nil {
			return
		}
		c := &campaign{t: t, scenario: scenario, settings: s, shrunk: map[string]int{}, progress: &progress{}}
		c.report.Name = f.Name()
		c.found(0, 0, "fuzz", res, res)
		t.Fatal(c.report.Failure.Text())
	})
}

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
