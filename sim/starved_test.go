//go:build linux

package sim_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim"
)

// toils makes a scenario whose first reconcile does some work that the simulated world knows
// nothing of.
func toils(work func()) func(*sim.World) {
	return func(w *sim.World) {
		w.Start("op", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("op").For(&corev1.ConfigMap{}).Complete(reconcile.Func(
				func(context.Context, reconcile.Request) (reconcile.Result, error) {
					work()
					return reconcile.Result{}, nil
				}))
		})
		w.Apply(configMap("a"))
		w.Settle()
	}
}

// used is the CPU time of the process.
func used() time.Duration {
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
func TestAStarvedRunDoesNotHang(t *testing.T) {
	const guard = "WAVETANK_TEST_STARVED"
	if os.Getenv(guard) != "" {
		sim.Check(t, toils(func() {
			for began := used(); used()-began < 300*time.Millisecond; {
			}
		}), sim.Runs(1), sim.For(0), sim.Strategy("random"), sim.Stories(t.TempDir()))
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestAStarvedRunDoesNotHang$", "-sim.hang=1s", "-test.v")
	cmd.Env = append(os.Environ(), guard+"=1")
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

// A run that waits longer than the limit for something real, and once only, is repeated in another
// process. It does not wait there, so the campaign goes on.
func TestAHangIsRepeatedBeforeItIsReported(t *testing.T) {
	const guard = "WAVETANK_TEST_ONCE"
	if marker := os.Getenv(guard); marker != "" {
		sim.Check(t, toils(func() {
			if f, err := os.OpenFile(marker, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
				f.Close()
				pause := syscall.NsecToTimespec(int64(4 * time.Second))
				for syscall.Nanosleep(&pause, &pause) != nil {
				}
			}
		}), sim.Runs(3), sim.For(0), sim.Stories(t.TempDir()))
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestAHangIsRepeatedBeforeItIsReported$", "-sim.hang=1s", "-test.v")
	cmd.Env = append(os.Environ(), guard+"="+filepath.Join(t.TempDir(), "marker"))
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "nothing broke in 3 runs") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A campaign that a hang ended goes on with the run that hung. The runs before it are not made
// anew.
func TestAHangDoesNotDiscardRuns(t *testing.T) {
	const guard = "WAVETANK_TEST_RESUME"
	if dir := os.Getenv(guard); dir != "" {
		runs, stories := 0, sim.Stories(filepath.Join(dir, "stories"))
		made := toils(func() {
			if runs++; runs > 20 && os.Getenv(guard+"_HANGS") != "" {
				pause := syscall.NsecToTimespec(int64(time.Hour))
				_ = syscall.Nanosleep(&pause, nil)
			}
		})
		sim.Check(t, made, sim.Runs(40), sim.For(0), sim.Strategy("random"), sim.Verify(0), sim.ReportTo(dir), stories)
		t.Logf("%d reconciles", runs)
		return
	}
	dir := t.TempDir()
	again := func(hangs string) (string, error) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAHangDoesNotDiscardRuns$", "-sim.hang=1s", "-test.v")
		cmd.Env = append(os.Environ(), guard+"="+dir, guard+"_HANGS="+hangs)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := again("1"); err == nil || !strings.Contains(out, "it is run 20 ") {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := again("")
	if err != nil || !strings.Contains(out, "going on with run 20 ") ||
		!strings.Contains(out, "nothing broke in 40 runs") {
		t.Errorf("%v\n%s", err, out)
	}
}
