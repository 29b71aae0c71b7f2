//go:debug rsa1024min=0
package certificates

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

var findings = flag.Int("findings", 1, "findings for each strategy that draws, shrunk and replayed")

// oneJob is the property that the operator violates.
const oneJob = "an instance has one Job"

// instances makes an instance.
func instances(fixed bool) func(*sim.World) {
	return func(w *sim.World) {
		w.Builtin(workload.New()...)
		w.Builtin(kubelet.New()...)
		w.Start("certificates", func(mgr ctrl.Manager) error { return (&reconciler{fixed: fixed}).setup(mgr) })
		w.Inject(fault.StaleCache(30*time.Second), fault.MissedStates(30*time.Second), fault.Crash("certificates"),
			fault.Restart("certificates"), fault.LostReply(), fault.ServerError())
		w.Always(oneJob, jobsOf)
		w.Apply(instance("web", "web.example.com"))
		w.Settle()
	}
}

func instance(name, host string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
		Labels: map[string]string{instanceLabel: name}}, Data: map[string]string{"host": host}}
}

func jobsOf(h *history.History) error {
	jobs := map[string]int{}
	for _, o := range h.Objects("batch", "Job") {
		var j batchv1.Job
		if err := o.Into(&j); err != nil {
			return err
		}
		jobs[j.Labels[instanceLabel]]++
	}
	for name, n := range jobs {
		if n > 1 {
			return fmt.Errorf("%s has %d Jobs", name, n)
		}
	}
	return nil
}

// Each finding shrinks, and its story breaks the property at the same step.
//
//make:campaigns
func TestFindingsReplay(t *testing.T) {
	for _, strategy := range []string{"random", "burst", "swarm", "rapid", "sweep", "exhaustive"} {
		t.Run(strategy, func(t *testing.T) {
			n := *findings
			if !slices.Contains([]string{"random", "burst", "swarm"}, strategy) {
				n = (n + 3) / 4 // these make many more runs before they find it
			}
			for seed := range uint64(n) {
				replays(t, strategy, seed)
			}
		})
	}
}

func replays(t *testing.T, strategy string, seed uint64) {
	r := sim.Explore(t, instances(false), sim.Strategy(strategy), sim.Seed(seed), sim.Runs(1000), sim.For(0),
		sim.Verify(0), sim.Stories(t.TempDir()))
	f := r.Failure
	if f == nil || f.Property != oneJob {
		t.Fatalf("seed %d: %d runs find %v", seed, r.Runs, r.Err())
	}
	if f.Flaky || f.Story.After.Faults > 1 || f.Story.After.Choices >= f.Story.Before.Choices {
		t.Errorf("seed %d: flaky: %v; shrunk from %v to %v", seed, f.Flaky, f.Story.Before, f.Story.After)
	}
	again := sim.Explore(t, instances(false), sim.Replay(f.File)).Failure
	if again == nil || again.Property != f.Property || again.Step != f.Step || again.At != f.At {
		t.Errorf("seed %d: found at step %d; the story ends with %+v", seed, f.Step, again)
	}
}

// The operator that keeps the stored certificate has no finding, and its doubled runs are equal.
//
//make:campaigns
func TestFixedOperator(t *testing.T) {
	r := sim.Explore(t, instances(true), sim.Runs(10**findings), sim.For(0), sim.Verify(1))
	if r.Err() != nil || len(r.Divergences) > 0 {
		t.Errorf("%v; %+v", r.Err(), r.Divergences)
	}
}
