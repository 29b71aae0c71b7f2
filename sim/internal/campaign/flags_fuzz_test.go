package campaign

import (
	"cmp"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// judge is a host that keeps what a campaign complains of.
type judge struct {
	name, complaint string
	cleanups        []func()
}

func (j *judge) Name() string              { return cmp.Or(j.name, "FuzzFlags") }
func (j *judge) Package() string           { return "example.org/flags" }
func (j *judge) Replay(file string) string { return "go test example.org/flags -sim.replay=" + file }
func (j *judge) Cleanup(f func())          { j.cleanups = append(j.cleanups, f) }
func (j *judge) Logf(string, ...any)       {}
func (j *judge) Fatalf(format string, args ...any) {
	j.complaint = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// FuzzFlags gives the -sim flags any values: they are refused where they are parsed, or a campaign
// refuses them in words that name the flag, or it runs.
func FuzzFlags(f *testing.F) {
	names := []string{
		"sim.runs", "sim.seed", "sim.strategy", "sim.shard", "sim.max-steps", "sim.verify", "sim.bound", "sim.replay",
	}
	for _, seed := range []struct{ which, value string }{
		{"sim.runs", "-1"}, {"sim.runs", "2"},
		{"sim.seed", "0x10"}, {"sim.seed", "random"}, {"sim.seed", "x"},
		{"sim.strategy", "burst,swarm"}, {"sim.strategy", "luck"},
		{"sim.shard", "1/2"}, {"sim.shard", "2/2"}, {"sim.shard", "0/1000000"}, {"sim.shard", "1/2/3"},
		{"sim.max-steps", "0"}, {"sim.verify", "1"}, {"sim.bound", "-3"},
		{"sim.replay", "nowhere.txtar"}, {"sim.replay", "\x00"},
	} {
		for i, n := range names {
			if n == seed.which {
				f.Add(uint8(i), seed.value)
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, value string) {
		name := names[int(which)%len(names)]
		given := flag.Lookup(name).Value
		before := given.String()
		defer func() { _ = given.Set(before) }()
		if given.Set(value) != nil {
			return // flag.Parse would have said so
		}
		j := &judge{}
		done := make(chan struct{})
		go func() {
			defer close(done)
			s := FromFlags(t)
			s.Host, s.Runs, s.Budget = j, runs(name, given), 0
			Explore(t, emptyRun, s)
		}()
		<-done
		if j.complaint != "" && !strings.HasPrefix(j.complaint, "sim: ") {
			t.Errorf("-%s=%q: the complaint does not say who complains: %s", name, value, j.complaint)
		}
		if j.complaint != "" && !strings.Contains(j.complaint, name) {
			t.Errorf("-%s=%q: the complaint does not name the flag: %s", name, value, j.complaint)
		}
	})
}

// runs keeps campaigns short: what -sim.runs says up to three, and otherwise one.
func runs(name string, given flag.Value) int {
	n := 1
	if name == "sim.runs" {
		_, _ = fmt.Sscan(given.String(), &n)
	}
	return min(n, 3)
}

// emptyRun is a runner of runs in which nothing happens.
func emptyRun(*testing.T, choice.Source, run.Settings) *run.Result {
	return &run.Result{History: &history.History{}}
}
