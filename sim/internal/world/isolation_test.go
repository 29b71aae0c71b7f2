package world

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/go-logr/logr"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// one runs a scenario once from a seed.
func one(t *testing.T, scenario func(*World), seed uint64) *run.Result {
	t.Helper()
	defer process.Enter(logr.Discard(), process.Outside{})()
	r := Runner(scenario)(t, choice.NewRandom(seed), run.Settings{MaxSteps: 50000})
	if r.Ending.Failed() {
		t.Fatal(r.Ending.Sentence())
	}
	return r
}

// What one scenario leaves behind in the process must not change another: A, B, A.
func TestScenariosDoNotTouchEachOther(t *testing.T) {
	a, b := stamps(2, true), stamps(0, false)
	for seed := range uint64(20) {
		first := one(t, a, seed)
		one(t, b, seed+100)
		again := one(t, a, seed)
		if at, what := history.Difference(first.History, again.History); at >= 0 {
			t.Fatalf("seed %d: A after B is not A: %s", seed, what)
		}
	}
}

// Two processes give the same histories.
func TestProcessesAgree(t *testing.T) {
	const guard = "WAVETANK_TEST_HASHES"
	hashes := func() string {
		var b strings.Builder
		for seed := range uint64(30) {
			fmt.Fprintf(&b, "%x ", one(t, stamps(int(seed%3), seed%2 == 0), seed).History.Hash())
		}
		return b.String()
	}
	if os.Getenv(guard) != "" {
		fmt.Printf("hashes: %s\n", hashes())
		return
	}
	here := hashes()
	for _, cpus := range []string{"1", "2"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestProcessesAgree$", "-test.cpu="+cpus)
		cmd.Env = append(os.Environ(), guard+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if !strings.Contains(string(out), "hashes: "+here) {
			t.Errorf("another process with %s CPUs has other histories:\nhere:  %s\nthere: %s", cpus, here, out)
		}
	}
}

// Thousands of runs in one process leave no goroutine and no memory behind.
func TestThousandsOfRunsLeaveNothing(t *testing.T) {
	runs := 2000
	if testing.Short() {
		runs = 200
	}
	defer process.Enter(logr.Discard(), process.Outside{})()
	some := func(n int) {
		for i := range n {
			Runner(func(w *World) {
				w.Install("../../../examples/backup/config/crd/bases")
				stamps(i%3, i%2 == 0)(w)
			})(t, choice.NewRandom(uint64(i)), run.Settings{MaxSteps: 50000})
		}
	}
	measure := func() (goroutines int, heap uint64) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return runtime.NumGoroutine(), m.HeapAlloc
	}
	some(runs / 4)
	g0, h0 := measure()
	some(runs - runs/4)
	g1, h1 := measure()
	t.Logf("after %d runs: %d goroutines and %d KiB; after %d: %d and %d KiB", runs/4, g0, h0>>10, runs, g1, h1>>10)
	if g1 > g0 {
		t.Errorf("%d goroutines were left behind", g1-g0)
	}
	if growth := int64(h1) - int64(h0); growth > 4<<20 {
		t.Errorf("the heap grew by %d KiB in %d runs", growth>>10, runs-runs/4)
	}
}
