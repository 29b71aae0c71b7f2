package sim_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/sim"
)

// somebody is a controller of the user's own, which acts upon who knows what.
type somebody struct{}

func (*somebody) Name() string             { return "somebody" }
func (*somebody) Begin(actor.Cluster)      {}
func (*somebody) Observe(apiserver.Change) {}

// A campaign says which objects were made that a cluster would act upon and nobody in the world
// does; not when somebody does, may do, or watches them.
func TestIgnoredObjectsAreAWarning(t *testing.T) {
	watcher := func(w *sim.World) {
		w.Start("watcher", func(mgr ctrl.Manager) error {
			nothing := func(context.Context, reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, nil
			}
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ResourceQuota{}).Owns(&corev1.Pod{}).
				Complete(reconcile.Func(nothing))
		})
	}
	for name, row := range map[string]struct {
		with func(*sim.World)
		want []string
	}{
		"nobody": {func(*sim.World) {}, []string{"1 object of kind Pod", "1 object of kind ResourceQuota"}},
		"a kubelet": {func(w *sim.World) { w.Builtin(kubelet.New()...) },
			[]string{"1 object of kind ResourceQuota"}},
		"somebody":          {func(w *sim.World) { w.Builtin(&somebody{}) }, nil},
		"a program watches": {watcher, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := sim.Explore(t, func(w *sim.World) {
				row.with(w)
				w.Apply(&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "none"}})
				w.Apply(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one"},
					Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "c"}}}})
				w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one"}})
				w.Settle()
			}, sim.Runs(3), sim.For(0), sim.Verify(0)).Warnings
			got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "no process was started") })
			if len(got) != len(row.want) {
				t.Fatalf("warnings %q, want ones of %q", got, row.want)
			}
			for _, want := range row.want {
				if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, want) }) {
					t.Errorf("warnings %q, want one of %q", got, want)
				}
			}
		})
	}
}
