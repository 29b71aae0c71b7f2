package world

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim/internal/choice"
)

// hourly is an operator that polls each Deployment every minute, and writes it every hour.
type hourly struct {
	priority bool // of its two queues, the priority queue
	status   bool // it writes the status
	objects  int
}

func (h hourly) play(w *World) {
	o := ctrl.Options{}
	o.Controller.UsePriorityQueue = &h.priority
	w.Start("op", func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("op").For(&appsv1.Deployment{}).
			Complete(reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
				return ctrl.Result{RequeueAfter: time.Minute}, h.write(ctx, mgr.GetClient(), req)
			}))
	}, ProcessOptions{Manager: o})
	for i := range h.objects {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("d", i)}}
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
		d.Spec.Template.Labels = d.Spec.Selector.MatchLabels
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "c"}}
		w.Apply(d)
	}
	for range 3 {
		begun := w.sched.Now()
		w.Settle()
		if took := w.sched.Now() - begun; took > faultPhaseTime+4*time.Minute {
			panic(fmt.Sprintf("settled after %v", took))
		}
		w.Sleep(53 * time.Minute)
	}
}

func (h hourly) write(ctx context.Context, cl client.Client, req ctrl.Request) error {
	var d appsv1.Deployment
	if err := cl.Get(ctx, req.NamespacedName, &d); err != nil {
		return client.IgnoreNotFound(err)
	}
	now := time.Now()
	if h.status {
		if c := d.Status.Conditions; len(c) > 0 && now.Sub(c[0].LastUpdateTime.Time) < time.Hour {
			return nil
		}
		d.Status.Conditions = []appsv1.DeploymentCondition{
			{Type: "Seen", Status: "True", LastUpdateTime: metav1.NewTime(now)}}
		return cl.Status().Update(ctx, &d)
	}
	if at, _ := time.Parse(time.RFC3339, d.Spec.Template.Annotations["at"]); now.Sub(at) < time.Hour {
		return nil
	}
	d.Spec.Template.Annotations = map[string]string{"at": now.Format(time.RFC3339)}
	return cl.Update(ctx, &d)
}

// A program that polls every minute and writes every hour settles between two writes, whatever its
// queue, however many its objects, and whatever it writes.
func TestSettleTreatsQueuesAlike(t *testing.T) {
	for _, h := range []hourly{{objects: 1}, {objects: 5}, {status: true, objects: 1}, {status: true, objects: 5}} {
		for _, h.priority = range []bool{false, true} {
			t.Run(fmt.Sprintf("%+v", h), func(t *testing.T) {
				mustHold(t, h.play)
				if e, _ := ends(t, choice.NewRandom(1), 50000, h.play); e.Failed() {
					t.Error(e.Sentence())
				}
			})
		}
	}
}
