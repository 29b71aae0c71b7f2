// This file exists for what the door does with calls that could be taken for misuse and are not.

package sim_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// stepping is a built-in controller that does one thing after a second.
type stepping struct{ do func(actor.Cluster) }

func (s *stepping) Name() string             { return "stepping" }
func (s *stepping) Observe(apiserver.Change) {}
func (s *stepping) Begin(c actor.Cluster) {
	c.After(time.Second, "do", func() { s.do(c) })
}

// A built-in controller may end a process in one of its steps, whether webhooks are there (the step
// has a stack of its own then) or not, and also after it has waited for one.
func TestBuiltinControllerMayStopAProcess(t *testing.T) {
	for _, webhooks := range []bool{false, true} {
		simtest.Holds(t, func(w *sim.World) {
			w.Start("keeper", keeps)
			if webhooks {
				w.Apply(hooked(admissionregv1.Fail)...)
			}
			w.Builtin(&stepping{func(c actor.Cluster) {
				path := actor.Path("", "v1", "default", "configmaps", "")
				if err := actor.Do(c, http.MethodPost, path, simtest.ConfigMap("a"), nil); err != nil {
					t.Error(err)
				}
				w.Stop("keeper")
			}})
			w.Settle()
			incarnations := 0
			for _, e := range w.History().Events {
				if e.Kind == history.Start {
					incarnations++
				}
			}
			if incarnations != 2 {
				t.Errorf("%d incarnations, want 2", incarnations)
			}
		}, sim.Runs(10), sim.Verify(1))
	}
}

// shelf is a kind that one scheme alone knows: ConfigMaps under a type of the program's own.
type shelf struct{ corev1.ConfigMap }

func (s *shelf) DeepCopyObject() runtime.Object { return &shelf{*s.DeepCopy()} }

// A program without a manager has a scheme, too: what it knows, w.Apply and w.Client know.
func TestSchemeOfAProgramIsKnown(t *testing.T) {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, &shelf{})
	metav1.AddToGroupVersion(scheme, corev1.SchemeGroupVersion)
	simtest.Holds(t, func(w *sim.World) {
		elsewhere := w.Cluster("prod.example")
		w.Run("op", func(ctx context.Context, _ *rest.Config) error { <-ctx.Done(); return nil },
			sim.Options(ctrl.Options{Scheme: scheme}))
		w.Apply(&shelf{*simtest.ConfigMap("a", "k", "v")})
		elsewhere.Apply(&shelf{*simtest.ConfigMap("b")})
		var got shelf
		if err := w.Client().Get(w.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &got); err != nil ||
			got.Data["k"] != "v" {
			t.Errorf("%v, %v", got.Data, err)
		}
	}, sim.Runs(1))
}

// What was read can be changed and applied, whether w.Apply made it or not, and whether it is still
// the same object.
func TestApplyTakesWhatWasRead(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		cm := simtest.ConfigMap("a")
		if err := w.Client().Create(w.Context(), cm); err != nil {
			t.Error(err)
		}
		cm.Data = map[string]string{"k": "v"}
		w.Apply(cm)
		w.Remove(simtest.ConfigMap("a"))
		w.Apply(simtest.ConfigMap("a"))
		w.Apply(cm)
		var got corev1.ConfigMap
		if err := w.Client().Get(w.Context(), client.ObjectKeyFromObject(cm), &got); err != nil ||
			got.Data["k"] != "v" || got.UID == cm.UID {
			t.Errorf("%v %v, %v", got.UID, got.Data, err)
		}
	}, sim.Runs(1))
}
