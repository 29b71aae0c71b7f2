package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/result"
)

// rangeWriter creates a ConfigMap for each entry of its object, in map order: a real bug, and one
// that no seed can replay.
type rangeWriter struct{ client.Client }

func (r *rangeWriter) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var cm corev1.ConfigMap
	if err := r.Get(ctx, req.NamespacedName, &cm); err != nil || cm.Labels["scatter"] == "" {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	for k, v := range cm.Data {
		part := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: req.Namespace, Name: "part-" + cm.Name + k},
			Data: map[string]string{"v": v}}
		if err := r.Create(ctx, part); err != nil {
			return reconcile.Result{}, client.IgnoreAlreadyExists(err)
		}
	}
	return reconcile.Result{}, nil
}

// A controller that is not deterministic is found by running twice, and the first step that differs
// is named.
func TestAMapRangeThatWritesIsNamed(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		w.Start("scatterer", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("scatterer").For(&corev1.ConfigMap{}).
				Complete(&rangeWriter{mgr.GetClient()})
		})
		for s := range 4 { // two ranges over one map may go alike, and then the runs do not always differ
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("src", s),
				Labels: map[string]string{"scatter": "yes"}}, Data: map[string]string{}}
			for i := range 20 {
				cm.Data[fmt.Sprintf("k%d", i)] = "v"
			}
			w.Apply(cm)
		}
		w.Settle()
	}, sim.Verify(1))
	f := r.Failure
	if f == nil || f.Kind != result.Nondeterminism {
		t.Fatalf("nothing was found: %+v", f)
	}
	t.Log(f.Message)
	for _, want := range []string{"map range", "scatterer", "create ConfigMap default/part-"} {
		if !strings.Contains(f.Message, want) {
			t.Errorf("the message does not say %q: %s", want, f.Message)
		}
	}
	if f.Step == 0 || f.At == 0 {
		t.Errorf("it says that they parted at step %d, %s", f.Step, history.Clock(f.At))
	}
}
