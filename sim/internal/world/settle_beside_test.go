package world

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim/internal/process"
)

// polls asks the shop every 15 s until it answers, and then sets a key of the ConfigMap.
func polls(ctx context.Context, r *reconciling) {
	for ctx.Err() == nil {
		if empty, err := r.get(ctx); err == nil && !empty {
			if r.put(ctx, "made", "yes") == nil {
				return
			}
		}
		time.Sleep(15 * time.Second)
	}
}

// A goroutine beside the controllers polls an outside service. Its first request is sent while a
// reconcile is under way, and others only after the world has been quiet for seconds.
func TestSettleWaitsForAPollerBesideAReconcile(t *testing.T) {
	shop := func(w *World) {
		asked := 0
		w.External("shop.example", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			if asked++; asked > 20 {
				fmt.Fprint(rw, "ready")
			}
		}))
		w.Eventually("it is made", settled("made"))
	}
	for name, begin := range map[string]func(*World){
		"a runnable": func(w *World) {
			w.Apply(configMapA())
			w.Start("op", func(mgr ctrl.Manager) error {
				begin, r := make(chan bool, 1), &reconciling{mgr.(*process.Manager), configMapA()}
				if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
					<-begin
					polls(ctx, r)
					return nil
				})); err != nil {
					return err
				}
				return ctrl.NewControllerManagedBy(mgr).Named("op").For(&corev1.ConfigMap{}).
					Complete(reconcile.Func(func(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
						select {
						case begin <- true:
						default:
						}
						time.Sleep(time.Second)
						return ctrl.Result{}, nil
					}))
			}, ProcessOptions{})
		},
		"a goroutine that a reconcile began": func(w *World) {
			begun := false
			reconciles(w, ctrl.Options{}, func(ctx context.Context, r *reconciling) (ctrl.Result, error) {
				if !begun {
					begun = true
					go func() {
						time.Sleep(100 * time.Millisecond)
						polls(ctx, &reconciling{r.mgr, r.cm.DeepCopy()})
					}()
				}
				time.Sleep(time.Second)
				return ctrl.Result{}, nil
			})
			w.Apply(configMapA())
		},
	} {
		t.Run(name, func(t *testing.T) {
			mustHold(t, func(w *World) {
				shop(w)
				begin(w)
				w.Settle()
			})
		})
	}
}
