package process

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
)

const configMaps = "/api/v1/namespaces/default/configmaps"

// createConfigMap creates a ConfigMap at once, as a user does.
func (w *world) createConfigMap(t *testing.T, name string) {
	t.Helper()
	const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"k":"v"}}`
	w.create(t, configMaps, fmt.Sprintf(body, name))
}

// manage starts a process that is one manager.
func (w *world) manage(name string, o ctrl.Options, setup func(manager.Manager) error) *Process {
	return w.Start(name, func(ctx context.Context, cfg *rest.Config) error {
		mgr, err := NewManager(cfg, o)
		if err != nil {
			return err
		}
		if err := mgr.Setup(setup); err != nil {
			return err
		}
		return mgr.Start(ctx)
	}, Settings{})
}

// reconciling is a setup function with one controller for ConfigMaps, called "c".
func reconciling(f reconcile.Func) func(manager.Manager) error {
	return func(mgr manager.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("c").Complete(f)
	}
}

func ok(context.Context, request) (reconcile.Result, error) { return reconcile.Result{}, nil }

// configMapKey is the key of a ConfigMap in a queue.
func configMapKey(name string) request {
	return request{NamespacedName: types.NamespacedName{Namespace: "default", Name: name}}
}

// queueKind are options for one of controller-runtime's two work queues.
func queueKind(priority bool) ctrl.Options {
	return ctrl.Options{Controller: config.Controller{UsePriorityQueue: &priority}}
}

// bothQueues runs a test with each of controller-runtime's work queues.
func bothQueues(t *testing.T, f func(t *testing.T, w *world, o ctrl.Options)) {
	for _, priority := range []bool{true, false} {
		t.Run(fmt.Sprintf("priority=%v", priority), func(t *testing.T) {
			run(t, func(t *testing.T, w *world) { f(t, w, queueKind(priority)) })
		})
	}
}

// reconciles are what the history says of reconciles: when and why each began, and how it ended.
func (w *world) reconciles() string {
	var out []string
	for _, e := range w.History.Events {
		switch e.Kind {
		case history.Dequeue:
			out = append(out, fmt.Sprintf("%s because of %s", e.Reconcile, e.Cause))
		case history.Done:
			out = append(out, fmt.Sprintf("%s: %s", e.Reconcile, e.Outcome))
		}
	}
	return strings.Join(out, "\n")
}

// The keys of one list are dequeued in order, one in each step, whatever order the list or the
// queue has.
func TestKeysAreDequeuedInOrderOneAtATime(t *testing.T) {
	bothQueues(t, func(t *testing.T, w *world, o ctrl.Options) {
		for _, name := range []string{"c", "a", "b"} {
			w.createConfigMap(t, name)
		}
		o.Controller.MaxConcurrentReconciles = 2
		w.manage("p", o, reconciling(ok))
		steps := map[int]bool{}
		w.drain(time.Second)
		for _, e := range w.History.Events {
			if e.Kind == history.Dequeue {
				if steps[e.Step] {
					t.Errorf("two keys were dequeued in step %d", e.Step)
				}
				steps[e.Step] = true
			}
		}
		expect(t, "dequeued", w.dequeued, "[p/1 c default/a p/1 c default/b p/1 c default/c]")
	})
}

// Each reconcile has a cause: the list, an event, a failure or a wish to come back. The observer
// knows what is pending.
func TestCausesOfReconciles(t *testing.T) {
	bothQueues(t, func(t *testing.T, w *world, o ctrl.Options) {
		w.createConfigMap(t, "a")
		attempts := 0
		w.manage("p", o, reconciling(func(context.Context, request) (reconcile.Result, error) {
			switch attempts++; attempts {
			case 1:
				return reconcile.Result{}, errors.New("not yet")
			case 2:
				return reconcile.Result{RequeueAfter: time.Minute}, nil
			case 4:
				return reconcile.Result{}, reconcile.TerminalError(errors.New("never"))
			}
			return reconcile.Result{}, nil
		}))
		w.drain(30 * time.Second)
		timers := w.Controllers()[0].Timers()
		if len(timers) != 1 {
			t.Fatalf("timers: %+v", timers)
		}
		expect(t, "timer", fmt.Sprint(timers[0].What, timers[0].Delay, timers[0].Fired), "requeue-after1m0s -1")
		expect(t, "longest wait", w.LongestWait(), time.Minute)
		w.drain(2 * time.Minute)
		w.write(t, "PATCH", configMaps+"/a", `{"data":{"k":"w"}}`)
		w.drain(3 * time.Minute)
		w.Controllers()[0].Inject(configMapKey("a"), "a race")
		w.Sched.Disturb()
		w.drain(4 * time.Minute)
		expect(t, "reconciles", w.reconciles(), strings.Join([]string{
			"c default/a #1 because of initial-list", "c default/a #1: error: not yet",
			"c default/a #2 because of timer(backoff)", "c default/a #2: requeue after 1m0s",
			"c default/a #3 because of timer(RequeueAfter)", "c default/a #3: ok",
			"c default/a #4 because of watch(ConfigMap MODIFIED)",
			"c default/a #4: terminal error: terminal error: never",
			"c default/a #5 because of a race", "c default/a #5: ok",
		}, "\n"))
		expect(t, "timers", len(w.Controllers()[0].Timers()), 0)
	})
}

// A worker that is slow keeps its key, and the others wait in the queue. Both are named as pending.
func TestBusyControllers(t *testing.T) {
	bothQueues(t, func(t *testing.T, w *world, o ctrl.Options) {
		w.createConfigMap(t, "a")
		w.createConfigMap(t, "b")
		w.manage("p", o, reconciling(func(context.Context, request) (reconcile.Result, error) {
			time.Sleep(time.Minute)
			return reconcile.Result{}, nil
		}))
		w.drain(30 * time.Second)
		c := w.Controllers()[0]
		expect(t, "busy", c.Busy(), "[c default/b in the queue reconcile c default/a #1]")
		expect(t, "is busy", c.IsBusy(), true)
		w.drain(10 * time.Minute)
		expect(t, "busy at the end", fmt.Sprint(c.Busy(), c.IsBusy()), "[] false")
		expect(t, "managed", w.Find("p").Current().Managed(), true)
	})
}

// A panic is controller-runtime's to recover; where it would end the process, the incarnation ends.
func TestPanicsOfReconcilers(t *testing.T) {
	for recovers, want := range map[bool]string{true: "0s start p/1", false: "0s start p/1\n3ms crash p/1"} {
		run(t, func(t *testing.T, w *world) {
			w.createConfigMap(t, "a")
			o := ctrl.Options{Controller: config.Controller{RecoverPanic: &recovers}}
			w.manage("p", o, reconciling(func(context.Context, request) (reconcile.Result, error) { panic("oops") }))
			for w.History.Count(history.Done) == 0 && w.Sched.Step(time.Second) {
			}
			expect(t, "reconciles", w.reconciles(),
				"c default/a #1 because of initial-list\nc default/a #1: panic: oops")
			got := w.events(history.Start, history.Crash)
			if strings.Contains(want, "crash") != strings.Contains(got, "crash p/1") {
				t.Errorf("RecoverPanic %v:\n%s", recovers, got)
			}
		})
	}
}

// A process that is stopped finishes the reconcile that it has begun and begins no other.
func TestAStoppedProcessBeginsNoReconcile(t *testing.T) {
	bothQueues(t, func(t *testing.T, w *world, o ctrl.Options) {
		w.createConfigMap(t, "a")
		w.createConfigMap(t, "b")
		p := w.manage("p", o, reconciling(func(context.Context, request) (reconcile.Result, error) {
			time.Sleep(5 * time.Second)
			return reconcile.Result{}, nil
		}))
		w.drain(time.Second)
		p.Current().Stop()
		for p.Incarnations() == 1 && w.Sched.Step(time.Minute) {
		}
		expect(t, "reconciles", w.reconciles(), "c default/a #1 because of initial-list\nc default/a #1: ok")
		expect(t, "exits", w.exits, "[<nil>]")
	})
}

// What is sent to a process that was killed, or pending in it, is gone. The next incarnation lists
// again.
func TestKilledProcessListsAgain(t *testing.T) {
	bothQueues(t, func(t *testing.T, w *world, o ctrl.Options) {
		w.createConfigMap(t, "a")
		p := w.manage("p", o, reconciling(func(context.Context, request) (reconcile.Result, error) {
			return reconcile.Result{RequeueAfter: time.Second}, nil
		}))
		for w.History.Count(history.Done) < 3 && w.Sched.Step(time.Minute) {
		}
		p.Current().Kill()
		for w.History.Count(history.Done) < 4 && w.Sched.Step(time.Minute) {
		}
		last := strings.Split(w.reconciles(), "\n")
		expect(t, "last reconcile", last[len(last)-2], "c default/a #1 because of initial-list")
		expect(t, "incarnations", p.Incarnations(), 2)
	})
}

// A reconcile begins while the cache is behind the server: its event says by which revisions.
func TestAReconcileWithAStaleCache(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.createConfigMap(t, "a")
		w.manage("p", ctrl.Options{}, reconciling(ok))
		w.drain(time.Second)
		w.lag = time.Minute
		w.write(t, "PATCH", configMaps+"/a", `{"data":{"k":"w"}}`)
		w.Controllers()[0].Inject(configMapKey("a"), "a race")
		w.drain(2 * time.Second)
		var seen []history.Seen
		for _, e := range w.History.Events {
			if e.Kind == history.Dequeue {
				seen = append(seen, e.Seen...)
			}
		}
		if len(seen) != 1 || seen[0].Ref.Name != "a" || seen[0].Server <= seen[0].Cache || seen[0].Cache == 0 {
			t.Errorf("versions seen: %+v", seen)
		}
	})
}

// A controller whose requests are of a type of its own runs, and is named as not observed.
func TestControllersThatCannotBeObserved(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		own := func(context.Context, string) (reconcile.Result, error) { return reconcile.Result{}, nil }
		w.manage("p", ctrl.Options{}, func(mgr manager.Manager) error {
			_, err := controller.NewTyped("own", mgr, controller.TypedOptions[string]{
				Reconciler: reconcile.TypedFunc[string](own),
			})
			return err
		})
		w.drain(time.Second)
		if got := w.Unobserved(); len(got) != 1 || !strings.Contains(got[0], `controller "own"`) {
			t.Errorf("not observed: %q", got)
		}
	})
}
