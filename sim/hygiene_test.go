package sim

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"context"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
)

// one runs a scenario once from a seed.
func one(t *testing.T, scenario func(*World), seed uint64) *result {
	t.Helper()
	defer process.Enter(runLog(), process.Outside{})()
	r := execute(t, scenario, choice.NewRandom(seed), flags)
	if r.verdict != nil {
		t.Fatal(r.verdict.sentence())
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
		if at, what := history.Difference(first.history, again.history); at >= 0 {
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
			fmt.Fprintf(&b, "%x ", one(t, stamps(int(seed%3), seed%2 == 0), seed).history.Hash())
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
	defer process.Enter(runLog(), process.Outside{})()
	some := func(n int) {
		for i := range n {
			execute(t, func(w *World) {
				w.Install("../examples/backup/config/crd/bases")
				stamps(i%3, i%2 == 0)(w)
			}, choice.NewRandom(uint64(i)), flags)
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

// scatterer creates a ConfigMap for each entry of its object, in map order: a real bug, and one that no seed can replay.
type scatterer struct{ client.Client }

func (s *scatterer) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var cm corev1.ConfigMap
	if err := s.Get(ctx, req.NamespacedName, &cm); err != nil || cm.Labels["scatter"] == "" {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	for k, v := range cm.Data {
		part := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: req.Namespace, Name: "part-" + cm.Name + k}, Data: map[string]string{"v": v}}
		if err := s.Create(ctx, part); err != nil {
			return reconcile.Result{}, client.IgnoreAlreadyExists(err)
		}
	}
	return reconcile.Result{}, nil
}

// A controller that is not deterministic is found by running twice, and the first step that differs is named.
func TestAMapRangeThatWritesIsNamed(t *testing.T) {
	r := Explore(t, func(w *World) {
		w.Start("scatterer", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("scatterer").For(&corev1.ConfigMap{}).Complete(&scatterer{mgr.GetClient()})
		})
		for s := range 4 { // two ranges over one map may go alike, and then the runs do not always differ
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("src", s), Labels: map[string]string{"scatter": "yes"}}, Data: map[string]string{}}
			for i := range 20 {
				cm.Data[fmt.Sprintf("k%d", i)] = "v"
			}
			w.Apply(cm)
		}
		w.Settle()
	}, func(s *settings) { s.verify = 1 })
	f := r.Failure
	if f == nil || f.Temper != "nondeterminism" {
		t.Fatalf("nothing was found: %+v", f)
	}
	t.Log(f.Message)
	for _, want := range []string{"map range", "scatterer", "create ConfigMap default/part-"} {
		if !strings.Contains(f.Message, want) {
			t.Errorf("the message does not say %q: %s", want, f.Message)
		}
	}
	if f.Step == 0 || f.At == 0 {
		t.Errorf("it says that they parted at step %d, %s", f.Step, history.Clock(f.At))
	}
}
