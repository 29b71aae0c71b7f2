package campaign

import (
	"flag"
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/host"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// Fuzz lets Go's native fuzzing make the choices of runs. runner makes a runner for each input.
func Fuzz(f *testing.F, runner func() run.Runner, outside process.Outside) {
	f.Helper()
	for _, seed := range [][]byte{nil, {0xff}, bytesOf(1), bytesOf(2), bytesOf(3)} {
		f.Add(seed)
	}
	first := true
	f.Fuzz(func(t *testing.T, data []byte) {
		here := host.Testing{T: t}
		if !oneCampaign.TryLock() {
			here.Fatalf("sim: two scenarios at once in one process; a fuzz target must not be parallel")
		}
		defer oneCampaign.Unlock()
		if err := refuseParallel(t); err != nil {
			here.Fatalf("%v", err)
		}
		s := FromFlags(t)
		s.Host, s.Stories, s.Outside = target{here, f.Name()}, storyDir(f.Name()), outside
		if s.Replay == "" {
			s.Shrink = fuzzShrink
		}
		if err := s.check(); err != nil {
			here.Fatalf("%v", err)
		}
		s.prepareRuns()
		defer process.LimitMemory(int64(s.Memory))()
		defer process.Enter(s.Run.Log, s.Outside)()
		defer startWatchdog(t.Name(), s, nil)()
		c := newCampaign(t, runner(), s, f.Name(), 0)
		replays := first
		first = false
		switch {
		case s.Replay != "" && replays:
			c.replayer.replayGiven()
		case s.Replay != "": // the first input has played it
		case !replays || fuzzing() || c.replayer.replayKept():
			c.input(data)
		}
		c.printEvents()
		if f := c.report.Failure; f != nil {
			s.Host.Fatalf("%s", f.Text())
		}
	})
}

// input makes the run that an input stands for.
func (e *explorer) input(data []byte) {
	if res := e.runs.execute(choice.Bytes(data)); res.Ending.Failed() {
		e.keeper.addFailing(0, 0, "fuzz", res, res)
	}
}

// fuzzing reports whether inputs are being made, by go test -fuzz: what a kept story breaks would
// be laid at the first one's door.
func fuzzing() bool {
	f := flag.Lookup("test.fuzz")
	return f != nil && f.Value.String() != ""
}

// target is a fuzz target as a host: its inputs are tests of their own, its stories are not theirs.
type target struct {
	host.Testing
	name string
}

// Name implements [host.Host].
func (t target) Name() string { return t.name }

// Replay implements [host.Host].
func (t target) Replay(file string) string { return host.ReplayCommand(t.name, t.Package(), file) }

// fuzzShrink bounds shrinking in a fuzz worker, whose engine minimises inputs itself and counts
// long runs as hangs.
const fuzzShrink = 3 * time.Second

// bytesOf is a random input to start from.
func bytesOf(seed uint64) []byte {
	out := make([]byte, 200)
	walk := choice.NewRandom(seed)
	for i := range out {
		out[i] = byte(walk.Choose(choice.Point{N: 256, Odds: 3}))
	}
	return out
}
