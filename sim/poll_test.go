// This file exists for operators whose keys poll, so that something always happens.

package sim

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// polls asks the server for each ConfigMap once a second, and writes every tenth time if it is told to.
func polls(writes bool) func(*World) {
	return func(w *World) {
		w.Start("poller", func(mgr ctrl.Manager) error {
			asked := 0
			return ctrl.NewControllerManagedBy(mgr).Named("poller").For(&corev1.ConfigMap{}).
				Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
					var cm corev1.ConfigMap
					err := mgr.GetAPIReader().Get(ctx, req.NamespacedName, &cm)
					if asked++; err == nil && writes && asked%10 == 0 {
						metav1.SetMetaDataAnnotation(&cm.ObjectMeta, "asked", fmt.Sprint(asked))
						err = mgr.GetClient().Update(ctx, &cm)
					}
					return reconcile.Result{RequeueAfter: time.Second}, err
				}))
		})
		for _, name := range []string{"a", "b", "c"} {
			w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
			w.Sleep(300 * time.Millisecond)
		}
		w.Settle()
	}
}

func TestAWorldInWhichKeysPollSettles(t *testing.T) {
	if err := Explore(t, polls(false), Runs(5)).Err(); err != nil {
		t.Error(err)
	}
	if f := Explore(t, polls(true), Runs(1), Shrink(0)).Failure; f == nil || f.Property != "the world settles" {
		t.Errorf("a world that is written to for ever gave %v", f)
	}
}
