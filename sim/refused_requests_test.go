package sim_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim"
)

// A request that the model refuses is a warning in a campaign of one run, with the line that sent
// it and what to write instead.
func TestRequestThatIsNotModelledIsAWarning(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		w.Start("op", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.Pod{}).Complete(reconcile.Func(
				func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
					pod := &corev1.Pod{}
					pod.Namespace, pod.Name = req.Namespace, req.Name
					_ = mgr.GetClient().SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{})
					return reconcile.Result{}, nil
				}))
		})
		pod := &corev1.Pod{}
		pod.Namespace, pod.Name = "default", "a"
		pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
		w.Apply(pod)
		w.Settle()
	}, sim.Runs(1))
	if r.Failure != nil {
		t.Fatal(r.Failure.Text())
	}
	const want = `process "op" sent "create Pod/eviction" at sim/refused_requests_test\.go:\d+, which the API model ` +
		`refuses with 501, as it does not model subresource "eviction" of pods: .*put an interface there`
	if got := strings.Join(r.Warnings, "\n"); !regexp.MustCompile(want).MatchString(got) {
		t.Errorf("the warnings are %q", got)
	}
}

// An operator all of whose writes are refused, and which keeps that to itself, looks as quiet as a
// correct one.
func TestRequestsThatAllFailAreToldOf(t *testing.T) {
	for _, row := range []struct {
		name string // of the copy
		want bool
	}{
		{"Not A Name", true},
		{"copy", false}, // the second attempt is told that it is there: that is an answer
	} {
		r := sim.Explore(t, func(w *sim.World) {
			w.Start("op", func(mgr ctrl.Manager) error {
				return ctrl.NewControllerManagedBy(mgr).For(&corev1.Secret{}).Complete(reconcile.Func(
					func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
						_ = mgr.GetClient().Create(ctx, configMap(row.name, "k", "v"))
						return reconcile.Result{}, nil
					}))
			})
			for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
				s := &corev1.Secret{}
				s.Namespace, s.Name = "default", name
				w.Apply(s)
			}
			w.Settle()
		}, sim.Runs(20), sim.For(0), sim.Verify(0))
		if r.Failure != nil {
			t.Fatal(r.Failure.Text())
		}
		got := strings.Join(r.Warnings, "\n")
		want := `requests "create ConfigMap" of process "op" succeeded in 20 runs`
		if strings.Contains(got, want) != row.want || row.want && !strings.Contains(got, "answered 422") {
			t.Errorf("a copy named %q: %q", row.name, got)
		}
	}
}
