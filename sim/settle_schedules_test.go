package sim_test

import (
	"context"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
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

// A CronJob that fires every minute, whose Jobs take longer than that, does not keep a world from
// settling in which somebody polls every ten minutes; with w.Sleep its schedule comes round, faults
// or not.
func TestSeasonalWorkSettles(t *testing.T) {
	slow := kubelet.Plans(func(_ *corev1.Pod, _ int,
		p kubelet.Plan) kubelet.Plan {
		p.Run = 90 * time.Second
		return p
	})
	var made []int
	sim.Check(t, func(w *sim.World) {
		w.Builtin(workload.New()...)
		w.Builtin(kubelet.New(slow)...)
		w.Start("poller", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&batchv1.CronJob{}).Complete(reconcile.Func(
				func(context.Context, reconcile.Request) (reconcile.Result, error) {
					return reconcile.Result{RequeueAfter: 10 * time.Minute}, nil
				}))
		})
		w.Inject(fault.LostReply(), fault.Crash("poller"))
		jobs := func() int {
			var all batchv1.JobList
			if err := w.Client().List(w.Context(), &all, client.InNamespace("default")); err != nil {
				t.Error(err)
			}
			return len(all.Items)
		}
		c := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "tick"},
			Spec: batchv1.CronJobSpec{Schedule: "* * * * *"}}
		c.Spec.JobTemplate.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{Name: "c", Image: "c"}}}
		w.Apply(c)
		w.Settle()
		before := jobs()
		w.Sleep(3*time.Minute + 30*time.Second)
		made = append(made, jobs()-before)
		w.Settle()
	}, sim.Runs(10))
	for _, n := range made {
		if n < 1 {
			t.Errorf("in three minutes and a half these Jobs were made: %v", made)
			break
		}
	}
}
