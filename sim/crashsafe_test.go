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
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/property"
)

// leavesNoTrace expects that a program whose object is made and changed under a fault leaves what
// it leaves undisturbed.
func leavesNoTrace(t *testing.T, runs int, declared fault.Fault, start func(*sim.World)) {
	t.Helper()
	simtest.Holds(t, func(w *sim.World) {
		calm := w.Undisturbed()
		start(w)
		w.Inject(declared)
		w.Eventually("nothing leaves a trace", property.CrashSafe(calm))
		for _, value := range []string{"1", "2"} {
			w.Apply(simtest.Source("src-a", "k", value))
			w.Settle()
		}
	}, sim.Runs(runs), sim.For(0))
}

func TestCrashSafeAndConflict(t *testing.T) {
	leavesNoTrace(t, 50, fault.Conflict(), func(w *sim.World) {
		w.Start("mirror", simtest.Mirror)
	})
}

func TestCrashSafeAndJobs(t *testing.T) {
	leavesNoTrace(t, 50, fault.Crash("p"), func(w *sim.World) {
		doing(w, controller.Options{},
			func(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (reconcile.Result, error) {
				job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: cm.Name},
					Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
						Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
							Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}}
				return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, job))
			})
	})
}

func TestCrashSafeAndGeneratedNames(t *testing.T) {
	leavesNoTrace(t, 50, fault.Crash("p"), func(w *sim.World) {
		w.Start("p", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("namer").For(&corev1.ConfigMap{},
				simtest.Role("source")).Owns(&corev1.Secret{}).
				Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
					var cm corev1.ConfigMap
					if err := mgr.GetAPIReader().Get(ctx, req.NamespacedName, &cm); err != nil {
						return reconcile.Result{}, client.IgnoreNotFound(err)
					}
					var all corev1.SecretList // it adopts what is there: nothing is ever made twice
					if err := mgr.GetAPIReader().List(ctx, &all); err != nil {
						return reconcile.Result{}, err
					}
					if len(all.Items) == 0 {
						s := corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "s-"}}
						if err := controllerutil.SetControllerReference(&cm, &s, mgr.GetScheme()); err != nil {
							return reconcile.Result{}, err
						}
						if err := mgr.GetClient().Create(ctx, &s); err != nil {
							return reconcile.Result{}, err
						}
						all.Items = append(all.Items, s)
					}
					if cm.Data["secret"] == all.Items[0].Name {
						return reconcile.Result{}, nil
					}
					cm.Data = map[string]string{"secret": all.Items[0].Name}
					return reconcile.Result{}, mgr.GetClient().Update(ctx, &cm)
				}))
		})
	})
}

func TestCrashSafeWithoutSettles(t *testing.T) {
	leavesNoTrace(t, 20, fault.Crash("p"), func(w *sim.World) {
		w.Without("settles")
		doing(w, controller.Options{},
			func(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (reconcile.Result, error) {
				// as who renews a certificate
				cm.Data = map[string]string{"now": time.Now().Truncate(time.Hour).Format(time.RFC3339)}
				return reconcile.Result{RequeueAfter: time.Hour}, c.Update(ctx, cm)
			})
	})
}
