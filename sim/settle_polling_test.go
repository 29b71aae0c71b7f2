// This file exists for operators whose keys poll, so that something always happens.

package sim_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
)

// polls asks the server for each ConfigMap once a second, and writes every tenth time if it is told
// to.
func polls(writes bool) func(*sim.World) {
	return func(w *sim.World) {
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
	if err := sim.Explore(t, polls(false), sim.Runs(5)).Err(); err != nil {
		t.Error(err)
	}
	if f := sim.Explore(t, polls(true), sim.Runs(1), sim.Shrink(0)).Failure; f == nil ||
		f.Property != "the world settles" {
		t.Errorf("a world that is written to for ever gave %v", f)
	}
}

// goesRound has a program without a manager look at a ConfigMap every five minutes, as informers
// with a resync have it done, and write it each time until it has done so often enough.
func goesRound(writes int) func(*sim.World) {
	return func(w *sim.World) {
		w.Run("rounds", func(ctx context.Context, cfg *rest.Config) error {
			c, err := kubernetes.NewForConfig(cfg)
			if err != nil {
				return err
			}
			for round := 0; ; round++ {
				cm, err := c.CoreV1().ConfigMaps("default").Get(ctx, "a", metav1.GetOptions{})
				if err == nil && round < writes {
					metav1.SetMetaDataAnnotation(&cm.ObjectMeta, "round", fmt.Sprint(round))
					_, _ = c.CoreV1().ConfigMaps("default").Update(ctx, cm, metav1.UpdateOptions{})
				}
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(5 * time.Minute):
				}
			}
		})
		w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
		w.Settle()
	}
}

func TestAProgramThatGoesRoundSettles(t *testing.T) {
	if err := sim.Explore(t, goesRound(3), sim.Runs(3)).Err(); err != nil {
		t.Error(err)
	}
	if f := sim.Explore(t, goesRound(1e9), sim.Runs(1), sim.Shrink(0)).Failure; f == nil ||
		f.Property != "the world settles" {
		t.Errorf("a program that writes for ever gave %v", f)
	}
}

// beside has a manager run something that tries an update again and again, ever more rarely, as a
// work queue of its own does; the first tries meet the wrong version. Reconcilers have nothing to
// do.
func beside(w *sim.World) {
	w.Start("beside", func(mgr ctrl.Manager) error {
		return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
			for try, wait := 1, 10*time.Second; ctx.Err() == nil; try, wait = try+1, 2*wait {
				var cm corev1.ConfigMap
				if err := mgr.GetAPIReader().Get(ctx, client.ObjectKey{Namespace: "default", Name: "a"},
					&cm); err == nil && cm.Annotations["done"] == "" {
					if try < 6 {
						cm.ResourceVersion = "1"
					}
					metav1.SetMetaDataAnnotation(&cm.ObjectMeta, "done", "yes")
					_ = mgr.GetClient().Update(ctx, &cm)
				}
				select {
				case <-ctx.Done():
				case <-time.After(wait):
				}
			}
			return nil
		}))
	})
	w.Eventually("it is done", func(h *history.History) error {
		var cm corev1.ConfigMap
		if o, ok := h.Object("", "ConfigMap", "default", "a"); !ok || o.Into(&cm) != nil ||
			cm.Annotations["done"] == "" {
			return errors.New("it is not")
		}
		return nil
	})
	w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
	w.Settle()
}

// Something that asks twice a second, and changes nothing, is not waited for longer than it takes
// to see that.
func TestAWorldInWhichARunnablePollsSettles(t *testing.T) {
	for name, ask := range map[string]func(context.Context, ctrl.Manager) error{
		"the cluster": func(ctx context.Context, mgr ctrl.Manager) error {
			return mgr.GetAPIReader().Get(ctx, client.ObjectKey{Namespace: "default", Name: "a"}, &corev1.ConfigMap{})
		},
		"outside": func(ctx context.Context, mgr ctrl.Manager) error {
			resp, err := sim.HTTPClient(mgr).Get("http://prices.example/")
			if err == nil {
				err = resp.Body.Close()
			}
			return err
		},
	} {
		r := sim.Explore(t, func(w *sim.World) {
			w.External("prices.example",
				http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusOK) }))
			w.Start("poller", func(mgr ctrl.Manager) error {
				return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
					for ctx.Err() == nil {
						_ = ask(ctx, mgr)
						select {
						case <-ctx.Done():
						case <-time.After(500 * time.Millisecond):
						}
					}
					return nil
				}))
			})
			w.Settle()
			if now := w.History().Now(); now < 1060*time.Second || now > 1500*time.Second {
				w.Always("it was waited for",
					func(*history.History) error { return fmt.Errorf("%v", now) })
			}
		}, sim.Runs(2))
		if err := r.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a manager runs beside its controllers has timers that nobody sees; the world waits for them
// all the same.
func TestWorkBesideControllersIsWaitedFor(t *testing.T) {
	if err := sim.Explore(t, beside, sim.Runs(5)).Err(); err != nil {
		t.Error(err)
	}
}
