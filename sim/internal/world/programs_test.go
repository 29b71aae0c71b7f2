package world_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// polls asks the server for each ConfigMap once a second. If it writes, it does so every tenth
// time.
func polls(writes bool) func(*sim.World) {
	return func(w *sim.World) {
		w.Start("poller", func(mgr ctrl.Manager) error {
			asked := 0
			return simtest.Reconciles(
				func(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (reconcile.Result, error) {
					err := mgr.GetAPIReader().Get(ctx, client.ObjectKeyFromObject(cm), cm)
					if asked++; err == nil && writes && asked%10 == 0 {
						metav1.SetMetaDataAnnotation(&cm.ObjectMeta, "asked", fmt.Sprint(asked))
						err = c.Update(ctx, cm)
					}
					return reconcile.Result{RequeueAfter: time.Second}, err
				})(mgr)
		})
		for _, name := range []string{"a", "b", "c"} {
			w.Apply(simtest.ConfigMap(name))
			w.Sleep(300 * time.Millisecond)
		}
		w.Settle()
	}
}

// Polling that changes nothing does not keep a world from settling, of keys or of a program without
// a manager. Polling that always writes does.
func TestSettleAllowsPolling(t *testing.T) {
	for _, c := range []struct{ rests, never func(*sim.World) }{
		{polls(false), polls(true)}, {goesRound(3), goesRound(1e9)},
	} {
		simtest.Holds(t, c.rests, sim.Runs(4))
		simtest.Violates(t, "the world settles", c.never, sim.Runs(1), sim.Shrink(0))
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
		w.Apply(simtest.ConfigMap("a"))
		w.Settle()
	}
}

// retries has a runnable that retries an update with growing pauses, as a work queue of its own
// does. The first attempts have the wrong version. No reconciler has work.
func retries(w *sim.World) {
	w.Start("retries", func(mgr ctrl.Manager) error {
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
	w.Apply(simtest.ConfigMap("a"))
	w.Settle()
}

// Settle recognizes a runnable that asks twice a second and changes nothing, and does not wait
// longer.
func TestSettleAllowsAPollingRunnable(t *testing.T) {
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

// A manager's runnables have timers that the scheduler does not see. Settle waits for them.
func TestSettleWaitsForRunnables(t *testing.T) {
	if err := sim.Explore(t, retries, sim.Runs(5)).Err(); err != nil {
		t.Error(err)
	}
}

// A CronJob fires every minute, and its Jobs take longer than that. The world settles all the same,
// with an operator that polls every ten minutes. With w.Sleep the schedule comes round.
func TestSettleAllowsCronJobs(t *testing.T) {
	slow := kubelet.Plans(func(_ *corev1.Pod, _ int,
		p kubelet.Plan) kubelet.Plan {
		p.Run = 90 * time.Second
		return p
	})
	var made []int
	sim.Check(t, func(w *sim.World) {
		w.Builtin(workload.New()...)
		w.Builtin(kubelet.New(slow)...)
		w.Start("poller", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&batchv1.CronJob{}).Complete(reconcile.Func(
				func(context.Context, reconcile.Request) (reconcile.Result, error) {
					return reconcile.Result{RequeueAfter: 10 * time.Minute}, nil
				}))
		})
		w.Inject(fault.LostReply(), fault.Crash("poller"))
		jobs := func() int {
			var all batchv1.JobList
			if err := w.Client().List(w.Context(), &all, client.InNamespace("default")); err != nil {
				t.Error(err)
			}
			return len(all.Items)
		}
		c := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "tick"},
			Spec: batchv1.CronJobSpec{Schedule: "* * * * *"}}
		c.Spec.JobTemplate.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{Name: "c", Image: "c"}}}
		w.Apply(c)
		w.Settle()
		before := jobs()
		w.Sleep(3*time.Minute + 30*time.Second)
		made = append(made, jobs()-before)
		w.Settle()
	}, sim.Runs(10))
	for _, n := range made {
		if n < 1 {
			t.Errorf("in three minutes and a half these Jobs were made: %v", made)
			break
		}
	}
}

// bell is a model that wakes a program. It may let the program run before the step that rang is
// over.
type bell struct {
	rings   chan struct{}
	yields  int
	at      string // where it is rung
	cluster actor.Cluster
	rung    time.Duration
}

func (b *bell) ring(at string) {
	if b.at != at || b.rung > 0 {
		return
	}
	b.rung = b.cluster.Now()
	close(b.rings)
	for range b.yields {
		runtime.Gosched()
	}
}

func (*bell) Name() string               { return "bell" }
func (b *bell) Observe(apiserver.Change) { b.ring("a change") }

func (b *bell) Begin(c actor.Cluster) {
	b.cluster = c
	c.After(time.Second, "ring", func() { b.ring("a step") })
}

// A program that a model wakes has its turn before time passes, whether or not the Go runtime lets
// it run at once.
func TestWokenProgramRunsAtOnce(t *testing.T) {
	for _, at := range []string{"a step", "a change", "a request"} {
		for _, yields := range []int{0, 1000} {
			sim.Check(t, func(w *sim.World) {
				b, lives := &bell{rings: make(chan struct{}), yields: yields, at: at}, 0
				w.Builtin(b)
				w.External("bell.example",
					http.HandlerFunc(func(http.ResponseWriter, *http.Request) { b.ring("a request") }))
				w.Run("sleeper", func(ctx context.Context, _ *rest.Config) error {
					if lives++; lives > 1 {
						<-ctx.Done()
						return nil
					}
					<-b.rings
					return nil
				})
				if at == "a request" {
					w.Run("visitor", func(ctx context.Context, config *rest.Config) error {
						visitor, err := rest.HTTPClientFor(config)
						if err != nil {
							return err
						}
						r, err := visitor.Get("https://bell.example")
						if err != nil {
							return err
						}
						<-ctx.Done()
						return r.Body.Close()
					})
				}
				w.Sleep(time.Second / 2)
				if at == "a change" {
					w.Apply(simtest.ConfigMap("bell"))
				}
				w.Sleep(3 * time.Second)
				for _, e := range w.History().Events {
					if e.Kind == history.Stop && e.At != b.rung {
						t.Errorf("rung by %s with %d yields at %v, and the sleeper was seen to end at %v", at, yields,
							b.rung, e.At)
					}
				}
				w.Sometimes("the sleeper ends", func(h *history.History) bool { return h.Count(history.Stop) > 0 })
			}, sim.Runs(10), sim.For(0))
		}
	}
}
