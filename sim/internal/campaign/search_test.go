package campaign_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// Every strategy finds a crash between two writes; a sweep finds it in its first pass.
func TestStrategiesFindACrashWindow(t *testing.T) {
	scenario := simtest.Mailing(simtest.Mailer{}, func() fault.Fault { return fault.Crash("mailer") })
	for _, strategy := range []string{"portfolio", "burst", "sweep", "swarm", "random", "exhaustive", "rapid",
		"burst,swarm"} {
		r := sim.Explore(t, scenario, sim.Strategy(strategy), sim.Runs(500), sim.For(0))
		if r.Failure == nil || r.Failure.Property != "each mail is sent at most once" {
			t.Errorf("%s found nothing in %d runs", strategy, r.Runs)
			continue
		}
		t.Logf("%-10s found it in run %d by %s: %s", strategy, r.Runs, r.Failure.Strategy, r.Failure.Story.After)
	}
}

// An exhaustive search reports what it covered.
func TestExhaustiveReportsItsCoverage(t *testing.T) {
	scenario := simtest.Counting(simtest.Counter{Workers: 1, Locked: true},
		func() fault.Fault { return fault.ServerError(fault.OnVerb("patch")) })
	all := sim.Explore(t, scenario, sim.Strategy("exhaustive"), sim.Bound(1), sim.Runs(5000), sim.For(0))
	if all.Failure != nil || !strings.HasPrefix(all.Explored, "all: ") || !all.Complete {
		t.Errorf("explored %q, complete %v, failure %+v", all.Explored, all.Complete, all.Failure)
	}
	if strings.Contains(all.Explored, " 0 of them pruned") {
		t.Errorf("two reads at one instant have the same effect in either order: %s", all.Explored)
	}
	t.Log(all.Explored)
	some := sim.Explore(t, scenario, sim.Strategy("exhaustive"), sim.Bound(2), sim.Runs(40), sim.For(0))
	if !strings.Contains(some.Explored, "NOT all: ") {
		t.Errorf("explored %q", some.Explored)
	}
	t.Log(some.Explored)
}

// A campaign warns about what was not tried however few runs it made, also if its time was up.
func TestWarningsDependOnEvidence(t *testing.T) {
	fails := func(context.Context, client.Client, *corev1.ConfigMap) (reconcile.Result, error) {
		return reconcile.Result{}, errors.New("no such flavour")
	}
	failing := func(w *sim.World) {
		w.Start("op", simtest.Reconciles(fails))
		w.Inject(fault.Crash("op", fault.OfKind("Sitee")))
		for i := range 5 {
			w.Apply(simtest.ConfigMap(fmt.Sprintf("a%d", i)))
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
func TestFewRunsAreAWarning(t *testing.T) {
	if simtest.InChild() {
		sim.Check(t, func(w *sim.World) {
			w.Start("op", func(ctrl.Manager) error { return nil })
			w.Settle()
		})
		return
	}
	for _, row := range []struct{ runs, budget, want string }{
		{"100", "1ns", "sim: warning: TestFewRunsAreAWarning: only 1 of 100 runs in "},
		{"0", "1ns", "sim: warning: TestFewRunsAreAWarning: only 1 runs in "},
		{"3", "0", ""},
		{"20", "1m", ""},
	} {
		out, ok := simtest.ChildOf(t, "", "-test.v=false", "-sim.runs="+row.runs, "-sim.for="+row.budget)
		said := strings.TrimSuffix(out, "PASS\n")
		if !ok || (said == "") != (row.want == "") || !strings.HasPrefix(said, row.want) ||
			strings.Count(said, "\n") > 1 {
			t.Errorf("%s runs in %s:\n%s", row.runs, row.budget, out)
		}
	}
}

// A campaign warns if no reconcile of a process succeeds: its properties may hold because nothing
// is done.
func TestIdleProcessIsAWarning(t *testing.T) {
	for _, failing := range []bool{false, true} {
		r := sim.Explore(t, func(w *sim.World) {
			w.Start("op", simtest.Reconciles(
				func(context.Context, client.Client, *corev1.ConfigMap) (reconcile.Result, error) {
					if failing {
						return reconcile.Result{}, errors.New("no such flavour")
					}
					return reconcile.Result{}, nil
				}))
			w.Apply(simtest.ConfigMap("a"))
			w.Settle()
		}, sim.Runs(20), sim.For(0))
		got, want := strings.Join(r.Warnings, "\n"), ""
		if failing {
			want = `ConfigMap default/a never became ready: no such flavour; ` +
				`add to the scenario what the object needs (the last reconcile of controller "op" failed ` +
				`whenever the world was quiescent, in all 20 runs, so what holds may hold because nothing is done)`
		}
		if r.Failure != nil || got != want {
			t.Errorf("%v: warnings are %q, want %q", r.Failure, got, want)
		}
	}
}

// A campaign holds a memory limit, unless the process has one already.
func TestMemoryLimit(t *testing.T) {
	if simtest.InChild() {
		sim.Check(t, func(w *sim.World) {
			t.Logf("the limit is %d", debug.SetMemoryLimit(-1))
			w.Settle()
		}, sim.Runs(1))
		if limit := debug.SetMemoryLimit(-1); os.Getenv("GOMEMLIMIT") == "" && limit != math.MaxInt64 {
			t.Errorf("the limit is still %d when the campaign is over", limit)
		}
		return
	}
	for _, c := range []struct {
		args, env []string
		want      string
	}{
		{nil, nil, "the limit is 805306368\n"},
		{[]string{"-sim.memory=256Mi"}, nil, "the limit is 268435456\n"},
		{nil, []string{"SIM_MEMORY=2G"}, "the limit is 2000000000\n"},
		{nil, []string{"SIM_MEMORY=0"}, "the limit is 9223372036854775807\n"},
		{[]string{"-sim.memory=256Mi"}, []string{"GOMEMLIMIT=3GiB"}, "the limit is 3221225472\n"},
	} {
		if out, ok := simtest.Child(t.TempDir(), t.Name(), c.args, c.env); !ok || !strings.Contains(out, c.want) {
			t.Errorf("%v %v: expected %q:\n%s", c.args, c.env, c.want, out)
		}
	}
	if out, ok := simtest.Child(t.TempDir(), t.Name(), []string{"-sim.memory=much"}, nil); ok ||
		!strings.Contains(out, "write it as 512Mi or 2Gi") {
		t.Errorf("a word that is no amount:\n%s", out)
	}
}

var (
	rolloutRuns     = flag.Int("rollouts.runs", 2, "runs of TestMemoryOfRollouts")
	rolloutReplicas = flag.Int("rollouts.replicas", 2, "replicas of each Deployment of TestMemoryOfRollouts")
)

// rollouts has an operator and three Deployments, which are rolled out seven times and removed,
// under eight kinds of faults.
func rollouts(w *sim.World) {
	w.Builtin(workload.New()...)
	w.Builtin(kubelet.New()...)
	w.Start("counter", simtest.Counter{}.Setup)
	w.Inject(fault.StaleCache(time.Minute), fault.Crash("counter"), fault.Restart("counter"), fault.Conflict(),
		fault.ServerError(), fault.LostReply(), fault.DroppedWatch(), fault.Expired())
	w.Apply(simtest.ConfigMap("a"), simtest.ConfigMap("b"))
	names, n := []string{"x", "y", "z"}, int32(*rolloutReplicas)
	for _, name := range names {
		labels := map[string]string{"app": name}
		w.Apply(&appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Spec: appsv1.DeploymentSpec{
				Replicas: &n, Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
				},
			},
		})
	}
	w.Settle()
	for i := range 6 {
		for _, name := range names {
			d := &appsv1.Deployment{}
			if w.Client().Get(w.Context(), client.ObjectKey{Namespace: "default", Name: name}, d) == nil {
				d.Spec.Template.Spec.Containers[0].Image = fmt.Sprint("i", i)
				_ = w.Client().Update(w.Context(), d) // a fault may refuse it
			}
		}
		w.Settle()
	}
	for _, name := range names {
		w.Remove(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
	}
	w.Settle()
}

// docs/speed.md says what memory this takes with more runs and replicas, and with other limits.
func TestMemoryOfRollouts(t *testing.T) {
	r := sim.Explore(t, rollouts, sim.Runs(*rolloutRuns), sim.For(0), sim.KeepGoing(), sim.Shrink(0))
	if r.Failure != nil || r.Runs != *rolloutRuns {
		t.Errorf("%d runs: %v", r.Runs, r.Err())
	}
	t.Logf("%d runs of %d steps each, %.3f in a second of CPU time, peak of resident memory %d kB", r.Runs,
		r.Steps/r.Runs, float64(r.Runs)/r.Spent.Seconds(), peakMemory())
}

// peakMemory is the most memory that the process has held, in kB; 0 if the system does not say.
func peakMemory() (peak int) {
	status, _ := os.ReadFile("/proc/self/status") // of Linux
	if m := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(status); m != nil {
		peak, _ = strconv.Atoi(string(m[1]))
	}
	return peak
}

// never writes the same object again and again.
func never(w *sim.World) {
	w.Without("no hot loop")
	w.Start("writer", simtest.Reconciles(
		func(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (reconcile.Result, error) {
			cm.Data = map[string]string{"text": cm.ResourceVersion + strings.Repeat(".", 2000)}
			return reconcile.Result{}, c.Update(ctx, cm)
		}))
	w.Inject(fault.StaleCache(time.Second))
	w.Apply(simtest.ConfigMap("a"))
	w.Settle()
}

// A process that makes runs of 50,000 steps, and shrinks one, holds less than 1 GB.
//
//make:campaigns
func TestMemoryOfLongRuns(t *testing.T) {
	if !simtest.InChild() {
		if out, ok := simtest.Child(t.TempDir(), t.Name(), nil, nil); !ok {
			t.Errorf("%s", out)
		}
		return
	}
	r := sim.Explore(t, never, sim.Strategy("random"), sim.Runs(2), sim.For(0), sim.Shrink(4*time.Second))
	if r.Failure == nil || r.Failure.Step < 50000 {
		t.Fatalf("the run should fail after 50000 steps: %v", r.Err())
	}
	if peak := peakMemory(); peak*1024 > 1e9 {
		t.Errorf("the process held %d kB", peak)
	}
}
