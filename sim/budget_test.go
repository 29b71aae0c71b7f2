//go:build unix

package sim_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// What was not tried is evidence however few runs were made, and is said in a campaign whose time
// was up as well.
func TestWarningsDependOnEvidence(t *testing.T) {
	failing := func(w *sim.World) {
		w.Start("op", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("op").For(&corev1.ConfigMap{}).Complete(reconcile.Func(
				func(context.Context, reconcile.Request) (reconcile.Result, error) {
					return reconcile.Result{}, errors.New("no such flavour")
				}))
		})
		w.Inject(fault.Crash("op", fault.OfKind("Sitee")))
		for i := range 5 {
			w.Apply(configMap(fmt.Sprintf("a%d", i)))
		}
		w.Settle()
		w.Settle()
	}
	for _, row := range []struct {
		name     string
		scenario func(*sim.World)
		want     []string
	}{
		{"failing", failing, []string{
			"only 1 of 100 runs in ", "fault Crash(op) of Sitee had no opportunity",
			`every reconcile of process "op" failed in 1 runs`}},
		{"empty", func(*sim.World) {}, []string{"only 1 of 100 runs in ", "no process was started in 1 runs"}},
	} {
		r := sim.Explore(t, row.scenario, sim.Runs(100), sim.For(1))
		got := r.Warnings
		if r.Failure != nil || len(got) != len(row.want) {
			t.Errorf("%s: %v, warnings %q, want ones of %q", row.name, r.Failure, got, row.want)
			continue
		}
		for i, want := range row.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: warning %q does not say %q", row.name, got[i], want)
			}
		}
	}
}

// A campaign with few runs says so without -v, in one line.
func TestFewRunsAreTold(t *testing.T) {
	const guard = "WAVETANK_TEST_FEW"
	if os.Getenv(guard) != "" {
		sim.Check(t, func(w *sim.World) {
			w.Start("op", func(ctrl.Manager) error { return nil })
			w.Settle()
		})
		return
	}
	for _, row := range []struct{ runs, budget, want string }{
		{"100", "1ns", "sim: warning: TestFewRunsAreTold: only 1 of 100 runs in "},
		{"0", "1ns", "sim: warning: TestFewRunsAreTold: only 1 runs in "},
		{"3", "0", ""},
		{"20", "1m", ""},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFewRunsAreTold$", "-sim.runs="+row.runs, "-sim.for="+row.budget)
		cmd.Env = append(os.Environ(), guard+"=1")
		out, err := cmd.CombinedOutput()
		said := strings.TrimSuffix(string(out), "PASS\n")
		if err != nil || (said == "") != (row.want == "") || !strings.HasPrefix(said, row.want) ||
			strings.Count(said, "\n") > 1 {
			t.Errorf("%s runs in %s: %v\n%s", row.runs, row.budget, err, out)
		}
	}
}
