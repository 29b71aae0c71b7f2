package auto_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/auto"
	"github.com/wavetank/wavetank/sim/result"
)

// pulling needs a Secret in the operator's namespace, as an operator with images of its own does.
type pulling struct {
	client.Client
	namespace string // of the operator: main reads it from POD_NAMESPACE
	key       string // that the Secret must have
}

func (r *pulling) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(ctx, req.NamespacedName, &w); err != nil || !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if w.Name == "refused" {
		return ctrl.Result{}, errors.New("this name is taken")
	}
	var s corev1.Secret
	key := client.ObjectKey{Namespace: r.namespace, Name: "pull-secret"}
	if err := r.Get(ctx, key, &s); err != nil {
		return ctrl.Result{}, fmt.Errorf("source secret %s: %w", key, err)
	}
	if s.Data[r.key] == nil {
		return ctrl.Result{}, fmt.Errorf("source secret %s has no %s", key, r.key)
	}
	w.Status.Config = key.String()
	return ctrl.Result{}, r.Status().Update(ctx, &w)
}

func pull(namespace, key string, then func(*sim.World)) func(*sim.World) {
	return func(w *sim.World) {
		w.Install("testdata/widgets.yaml")
		w.Start("widgets", func(mgr ctrl.Manager) error {
			r := &pulling{mgr.GetClient(), namespace, key}
			return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Complete(r)
		}, sim.Options(ctrl.Options{Scheme: scheme}))
		then(w)
	}
}

// A campaign in which no reconcile ever succeeds says so, with the operator's error and what to do.
func TestObjectsThatNeverReconcile(t *testing.T) {
	scenario := func(o ...auto.Option) func(*sim.World) {
		return func(w *sim.World) { auto.Scenario(w, o...) }
	}
	for name, c := range map[string]struct {
		namespace, key string
		opts           []auto.Option
		want           string
	}{
		"no namespace": {"", "token", nil, `Widget default/a never became ready: source secret /pull-secret: ` +
			`Secret "pull-secret" not found; the program looked for Secret pull-secret without a namespace`},
		"another content": {"tenant-system", "licence", nil, `Widget default/a never became ready: source secret ` +
			`tenant-system/pull-secret has no licence; add to the scenario what the object needs`},
		"switched off": {"tenant-system", "licence", []auto.Option{auto.Without(auto.ObjectsReconcile)}, ""},
		"fixed":        {"tenant-system", "token", nil, ""},
		"no action":    {"tenant-system", "token", []auto.Option{auto.Actions(0)}, ""}, // begin provides it
	} {
		t.Run(name, func(t *testing.T) {
			r := sim.Explore(t, pull(c.namespace, c.key, scenario(c.opts...)), sim.Runs(10), sim.For(0))
			if r.Failure != nil {
				t.Fatal(r.Failure.Text())
			}
			expect(t, r, r.Missed, c.want)
			if c.want == "" != (r.Err() == nil) {
				t.Errorf("the campaign ends with %v", r.Err())
			}
		})
	}
}

// In a scenario that its author wrote, an object may be refused on purpose. If a controller never
// succeeds at all, that is a warning.
func TestControllersThatNeverSucceed(t *testing.T) {
	for name, c := range map[string]struct {
		namespace, want string
	}{
		"no secret": {"", `Widget default/a never became ready: source secret /pull-secret: ` +
			`Secret "pull-secret" not found; the program looked for Secret pull-secret without a namespace`},
		"one refused": {"default", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := sim.Explore(t, pull(c.namespace, "token", func(w *sim.World) {
				w.Apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pull-secret"},
					Data: map[string][]byte{"token": []byte("t")}})
				for _, name := range []string{"a", "refused"} {
					w.Apply(&Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
						Spec: WidgetSpec{Size: 1}})
				}
				w.Settle()
			}), sim.Runs(3), sim.For(0))
			if err := r.Err(); err != nil {
				t.Error(err)
			}
			expect(t, r, r.Warnings, c.want)
		})
	}
}

// expect checks that one sentence was said, or none.
func expect(t *testing.T, r result.Report, said []string, want string) {
	t.Helper()
	if got := strings.Join(said, "\n"); want == "" && got != "" || !strings.Contains(got, want) {
		t.Errorf("said was %q; expected %q\nobjects: %+v", got, want, r.Objects)
	}
}
