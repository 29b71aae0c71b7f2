package sim_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// sleepReally sleeps in real time, and uses no CPU time.
func sleepReally(d time.Duration) {
	pause := syscall.NsecToTimespec(int64(d))
	for errors.Is(syscall.Nanosleep(&pause, &pause), syscall.EINTR) {
	}
}

// The budget is CPU time: other programs on the machine do not end a campaign.
func TestBudgetIsCPUTime(t *testing.T) {
	r := sim.Explore(t, func(*sim.World) { sleepReally(60 * time.Millisecond) }, sim.Runs(25), sim.For(time.Second),
		sim.Verify(0))
	if !r.Complete || r.Elapsed < time.Second || r.Spent > time.Second {
		t.Errorf("%d runs in %v of real time and %v of CPU time", r.Runs, r.Elapsed, r.Spent)
	}
}

// pollForever keeps a scenario waiting.
func pollForever() {
	for {
		time.Sleep(time.Second)
	}
}

// hoarder holds a lock across an API call.
type hoarder struct{ sync.Mutex }

func (h *hoarder) reconcile(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (reconcile.Result, error) {
	h.Lock()
	defer h.Unlock()
	return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, simtest.ConfigMap(cm.Name+"-kept")))
}

func waitForSocket(context.Context, client.Client, *corev1.ConfigMap) (reconcile.Result, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return reconcile.Result{}, err
	}
	_, err = l.Accept()
	return reconcile.Result{}, err
}

func loop(context.Context, client.Client, *corev1.ConfigMap) (reconcile.Result, error) {
	for i := 0; ; i++ {
		if i < 0 {
			return reconcile.Result{}, nil
		}
	}
}

func doNothing(context.Context, client.Client, *corev1.ConfigMap) (reconcile.Result, error) {
	return reconcile.Result{}, nil
}

// A run that hangs ends with a message that names the goroutine, the call and what to do. Its story
// hangs again.
func TestHungRunIsExplained(t *testing.T) {
	const test, scenarios = "TestHungRunIsExplained", "only time passes while the scenario, or a property, waits"
	cases := map[string]struct {
		do         simtest.Do
		wait       func(*sim.World)
		why, where string
	}{
		"lock":   {new(hoarder).reconcile, nil, "do not hold a lock across an API call", "(*hoarder).reconcile"},
		"socket": {waitForSocket, nil, "it waits for a real socket", "waitForSocket"},
		"loop":   {loop, nil, "it never blocks: a loop without a pause", "sim_test.loop"},
		"channel": {doNothing, func(*sim.World) { <-make(chan int) }, scenarios,
			test + ".func"},
		"polling": {doNothing, func(*sim.World) { pollForever() }, scenarios, "pollForever"},
		"property": {doNothing, func(w *sim.World) {
			w.Always("it comes", func(*history.History) error { pollForever(); return nil })
		}, scenarios, "pollForever"},
	}
	if simtest.InChild() {
		c := cases[simtest.Case()]
		sim.Check(t, func(w *sim.World) {
			w.Start("hung", simtest.Reconciles(c.do, controller.Options{MaxConcurrentReconciles: 2}))
			w.Apply(simtest.ConfigMap("a"), simtest.ConfigMap("b"))
			w.Settle()
			if c.wait != nil {
				c.wait(w)
				w.Settle()
			}
		}, sim.Stories(os.Getenv("STORIES")))
		return
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it makes no run itself
			dir := t.TempDir()
			hung := func(arg string) string {
				out, ok := simtest.Child(dir, test, []string{"-sim.hang=1s", arg},
					[]string{"WAVETANK_TEST_CHILD_CASE=" + name, "STORIES=" + dir})
				if ok {
					t.Fatal("the hung run passed")
				}
				return out
			}
			out := hung("-sim.seed=5")
			stories, _ := story.List(dir)
			if len(stories) != 1 {
				t.Fatalf("the stories are %q", stories)
			}
			simtest.Contains(t, hung("-sim.replay="+stories[0]), c.why)
			simtest.Contains(t, out, stories[0], "of base seed 5", "reconciles op default/", "replay: go test ",
				"--- FAIL: "+test, "no progress for 1s", "the same choices made no progress there either", c.why,
				c.where, "hangs_linux_test.go")
		})
	}
}

// toils makes a scenario whose reconciles do some work outside of the simulated world.
func toils(work func()) func(*sim.World) {
	return func(w *sim.World) {
		w.Start("op", simtest.Reconciles(
			func(context.Context, client.Client, *corev1.ConfigMap) (reconcile.Result, error) {
				work()
				return reconcile.Result{}, nil
			}))
		w.Apply(simtest.ConfigMap("a"))
		w.Settle()
	}
}

// spent is the CPU time of the process.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A process that gets a CPU for a tenth of the time needs several times the limit of real time for
// a step. It does not hang.
//
//make:campaigns
func TestStarvedRunDoesNotHang(t *testing.T) {
	if simtest.InChild() {
		sim.Check(t, toils(func() {
			for began := spent(); spent()-began < 300*time.Millisecond; {
			}
		}), sim.Runs(1), sim.For(0), sim.Strategy("random"), sim.Stories(t.TempDir()))
		return
	}
	cmd := simtest.Command(t.TempDir(), t.Name(), []string{"-sim.hang=1s"}, nil)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done, began := make(chan error, 1), time.Now()
	go func() { done <- cmd.Wait() }()
	for {
		_ = cmd.Process.Signal(syscall.SIGSTOP)
		time.Sleep(90 * time.Millisecond)
		_ = cmd.Process.Signal(syscall.SIGCONT)
		select {
		case err := <-done:
			if took := time.Since(began); err != nil || took < 2*time.Second {
				t.Errorf("after %v: %v\n%s", took, err, out.String())
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// A run that hangs is repeated in another process before it is reported. This one hangs only once,
// so the campaign continues.
func TestHangIsRepeatedBeforeItIsReported(t *testing.T) {
	if simtest.InChild() {
		sim.Check(t, toils(func() {
			if f, err := os.OpenFile("marker", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
				f.Close()
				sleepReally(4 * time.Second)
			}
		}), sim.Runs(3), sim.For(0), sim.Stories(t.TempDir()))
		return
	}
	out, ok := simtest.ChildOf(t, "", "-sim.hang=1s")
	if !ok || !strings.Contains(out, "nothing broke in 3 runs") {
		t.Error(out)
	}
}

// A campaign that a hang has ended continues with the run that hung.
func TestHangDoesNotDiscardRuns(t *testing.T) {
	if simtest.InChild() {
		runs := 0
		made := toils(func() {
			if runs++; runs > 20 && simtest.Case() == "hangs" {
				sleepReally(time.Hour)
			}
		})
		sim.Check(t, made, sim.Runs(40), sim.For(0), sim.Strategy("random"), sim.Verify(0), sim.ReportTo("."),
			sim.Stories(filepath.Join(".", "stories")))
		return
	}
	dir := t.TempDir()
	run := func(name string) (string, bool) {
		return simtest.Child(dir, t.Name(), []string{"-sim.hang=1s"}, []string{"WAVETANK_TEST_CHILD_CASE=" + name})
	}
	if out, ok := run("hangs"); ok || !strings.Contains(out, "it is run 20 ") {
		t.Fatal(out)
	}
	out, ok := run("")
	if !ok {
		t.Error(out)
	}
	simtest.Contains(t, out, "continuing with run 20 ", "nothing broke in 40 runs")
}
