package sim_test

import (
	"context"
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
)

// A campaign holds a memory limit, unless the process has one already.
func TestMemoryLimit(t *testing.T) {
	if os.Getenv(part) != "" {
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
		if out, ok := child(t.TempDir(), t.Name(), c.args, c.env); !ok || !strings.Contains(out, c.want) {
			t.Errorf("%v %v: expected %q:\n%s", c.args, c.env, c.want, out)
		}
	}
	if out, ok := child(t.TempDir(), t.Name(), []string{"-sim.memory=much"}, nil); ok ||
		!strings.Contains(out, "write it as 512Mi or 2Gi") {
		t.Errorf("a word that is no amount:\n%s", out)
	}
}

var (
	rolloutRuns     = flag.Int("rollouts.runs", 2, "runs of TestMemoryOfRollouts")
	rolloutReplicas = flag.Int("rollouts.replicas", 2, "replicas of each Deployment of TestMemoryOfRollouts")
)

// rollouts rolls three Deployments out seven times and removes them, beside an operator, under
// eight kinds of faults.
func rollouts(w *sim.World) {
	w.Builtin(workload.New()...)
	w.Builtin(kubelet.New()...)
	w.Start("counter", (&counter{}).SetupWithManager)
	w.Inject(fault.StaleCache(time.Minute), fault.Crash("counter"), fault.Restart("counter"), fault.Conflict(),
		fault.ServerError(), fault.LostReply(), fault.DroppedWatch(), fault.Expired())
	w.Apply(configMap("a"), configMap("b"))
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
	w.Start("writer", func(mgr ctrl.Manager) error {
		c := mgr.GetClient()
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(reconcile.Func(
			func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
				cm := &corev1.ConfigMap{}
				if err := c.Get(ctx, req.NamespacedName, cm); err != nil {
					return ctrl.Result{}, client.IgnoreNotFound(err)
				}
				cm.Data = map[string]string{"text": cm.ResourceVersion + strings.Repeat(".", 2000)}
				return ctrl.Result{}, c.Update(ctx, cm)
			}))
	})
	w.Inject(fault.StaleCache(time.Second))
	w.Apply(configMap("a"))
	w.Settle()
}

// A process that makes runs of 50,000 steps, and shrinks one, holds less than 1 GB.
//
//make:campaigns
func TestMemoryOfLongRuns(t *testing.T) {
	if os.Getenv(part) == "" {
		if out, ok := child(t.TempDir(), t.Name(), nil, nil); !ok {
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
