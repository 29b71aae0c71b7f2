// Package shop is what the tests of the command drive: a controller that greets each ConfigMap once, and one that
// forgets to look whether it has.
package shop

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

type greeter struct {
	client.Client
	careful bool
}

func (g *greeter) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	cm := &corev1.ConfigMap{}
	if err := g.Get(ctx, req.NamespacedName, cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if cm.Data["greeting"] != "" {
		return reconcile.Result{}, nil
	}
	text := "hello"
	if !g.careful {
		text = "hello, it is " + time.Now().Format(time.RFC3339Nano)
	}
	patch := client.RawPatch("application/merge-patch+json", []byte(fmt.Sprintf(`{"data":{"greeting":%q}}`, text)))
	return reconcile.Result{}, g.Patch(ctx, cm, patch)
}

func scenario(careful bool) func(*sim.World) {
	return func(w *sim.World) {
		w.Start("greeter", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(&greeter{mgr.GetClient(), careful})
		})
		w.Inject(fault.StaleCache(time.Minute), fault.RacingRequeue())
		w.Always("a greeting stays as it is", func(h *history.History) error {
			said := map[string]string{}
			for _, e := range h.Events {
				for _, c := range e.Changes {
					var cm corev1.ConfigMap
					if c.Ref.Kind != "ConfigMap" || (history.Object{JSON: c.Object}).Into(&cm) != nil {
						continue
					}
					if was := said[c.Ref.Name]; was != "" && was != cm.Data["greeting"] {
						return fmt.Errorf("%s was greeted %q, then %q", c.Ref.Name, was, cm.Data["greeting"])
					}
					said[c.Ref.Name] = cm.Data["greeting"]
				}
			}
			return nil
		})
		w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "visitor"}})
		w.Settle()
	}
}

func careless(w *sim.World) { scenario(false)(w) }

func TestHolds(t *testing.T) { sim.Check(t, scenario(true)) }

func TestBreaks(t *testing.T) { sim.Check(t, careless) }
