package world

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/shell"
)

// pass makes a run on the default schedule, then runs from seeds, and fails the test at the first
// that fails.
func pass(t *testing.T, scenario func(*World), runs int) {
	t.Helper()
	defer process.Enter(logr.Discard(), process.Outside{})()
	make := Runner(scenario)
	for i := range runs {
		source := choice.Source(choice.Play(nil))
		if i > 0 {
			source = choice.NewRandom(choice.Mix(7, i))
		}
		if e := make(t, source, run.Settings{MaxSteps: 50000}).Ending; e.Failed() {
			t.Fatalf("run %d: %s", i, e.Sentence())
		}
	}
}

func TestFailWithoutARun(t *testing.T) {
	if Fail("nowhere:1", "no run is under way") {
		t.Error("Fail says that it ended a run")
	}
}

// What package testing does not tell, the verdict guesses: without the race detector it was no
// race, and with it whose race it is can be read off the report.
func TestWhoFailedTheTestIsTold(t *testing.T) {
	if said := whyFailed(false); strings.Contains(said, "race") || !strings.Contains(said, "t.Fatal") {
		t.Error(said)
	}
	for _, want := range []string{"the race detector found a data race", "modules that are not yours",
		"once, so the run is not shrunk"} {
		if said := whyFailed(true); !strings.Contains(said, want) {
			t.Errorf("%q is missing in %s", want, said)
		}
	}
	if shell.Races() != strings.Contains(shell.GoTest("p"), "-race") {
		t.Error("the command and the verdict differ on whether races are looked for")
	}
}

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

// A killed program does not continue. If its goroutines did, and lost the lease while
// controller-runtime still waited for a reconcile whose request has no answer, it would write a
// field that it reads without a lock, and the race detector would fail the test of an operator that
// is right (manager.gracefulShutdownTimeout).
func TestADeadLeaderDoesNotLoseItsLease(t *testing.T) {
	var lost atomic.Int32
	log := funcr.New(func(_, args string) {
		if strings.Contains(args, "leader election lost") {
			lost.Add(1)
		}
	}, funcr.Options{})
	killed := false
	scenario := func(w *World) {
		lost.Store(0) // what ended with the run before lost its lease in order
		w.Start("op", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("op").For(&corev1.ConfigMap{}).
				Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
					var cm corev1.ConfigMap
					return reconcile.Result{}, mgr.GetAPIReader().Get(ctx, req.NamespacedName, &cm)
				}))
		}, ProcessOptions{Manager: ctrl.Options{LeaderElection: true, LeaderElectionID: "op", Logger: log}})
		w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
		for range 1000 {
			if e := w.History().Events; e[len(e)-1].Kind == history.Request && !e[len(e)-1].Reconcile.None() {
				w.procs.Find("op").Current().Kill() // it waits for the reply
				killed = true
				break
			}
			w.sched.Step(w.sched.Now() + time.Second)
		}
		w.Sleep(time.Minute)
		if lost.Load() > 0 {
			t.Error("the dead program says that it has lost the lease")
		}
		w.Settle()
	}
	pass(t, scenario, 3)
	if !killed {
		t.Fatal("the leader was never killed")
	}
}
