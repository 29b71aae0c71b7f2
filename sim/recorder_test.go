// This file exists for operators that write Events as they are told to, by mgr.GetEventRecorder.

package sim

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// chatter says the same of an object again and again, of the one called brief twice only.
func chatter(mgr ctrl.Manager) error {
	said := map[string]int{}
	recorder := mgr.GetEventRecorder("chatter")
	return ctrl.NewControllerManagedBy(mgr).Named("chatter").For(&corev1.ConfigMap{}).
		Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			var cm corev1.ConfigMap
			if err := mgr.GetClient().Get(ctx, req.NamespacedName, &cm); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			recorder.Eventf(&cm, nil, corev1.EventTypeNormal, "Said", "Say", "it is there")
			if said[req.Name]++; req.Name == "brief" && said[req.Name] == 2 {
				return reconcile.Result{}, nil
			}
			return reconcile.Result{RequeueAfter: time.Second}, nil
		}))
}

// The broadcaster of Events ends a series that has been quiet for six minutes, and holds a mutex until the server has
// answered. Whoever has something to say meanwhile waits for the mutex, and the world must not wait for them for ever.
func TestEventsAreSaidWhileASeriesEnds(t *testing.T) {
	ended := 0
	scenario := func(w *World) {
		w.Without("settles")
		w.Start("chatter", chatter)
		for _, name := range []string{"brief", "long", "longer"} {
			w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
		}
		w.Sleep(14 * time.Minute)
		var all eventsv1.EventList
		if err := w.Client().List(w.Context(), &all); err != nil {
			t.Fatal(err)
		}
		for _, e := range all.Items {
			if e.Regarding.Name == "brief" && e.Series != nil && e.Series.Count == 2 {
				ended++
			}
		}
	}
	const seeds = 12
	twice(t, scenario, seeds)
	if ended != 2*seeds {
		t.Errorf("the series was written in %d of %d runs", ended, 2*seeds)
	}
}
