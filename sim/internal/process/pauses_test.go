package process

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
)

// pausing makes every choice of a handler's pause that answer, and counts them.
func (w *world) pausing(answer int) (asked *int) {
	asked = new(int)
	w.Sched.Choices = choice.New(choice.Func(func(p choice.Point) int {
		if p.Kind != story.Handler {
			return 0
		}
		*asked++
		return answer
	}))
	return asked
}

// mapping is a setup function whose controller maps each ConfigMap to the keys a and b. Mapping
// functions and reconciles note when they are called.
func mapping(calls *[]string, h func(handler.MapFunc) handler.EventHandler) func(manager.Manager) error {
	return func(mgr manager.Manager) error {
		mapped := func(_ context.Context, o client.Object) []request {
			*calls = append(*calls, "map "+o.(*corev1.ConfigMap).Data["k"])
			return []request{configMapKey("a"), configMapKey("b")}
		}
		return ctrl.NewControllerManagedBy(mgr).Named("c").Watches(&corev1.ConfigMap{}, h(mapped)).
			Complete(reconcile.Func(func(_ context.Context, r request) (reconcile.Result, error) {
				*calls = append(*calls, r.Name)
				return reconcile.Result{}, nil
			}))
	}
}

func TestWorkersMayStartBetweenTwoCallsOfAMappingFunction(t *testing.T) {
	for answer, want := range [][]string{
		{"map v", "map w", "a", "b"}, // the default choice: all additions come first
		{"map v", "a", "b", "map w"},
	} {
		bothQueues(t, func(t *testing.T, w *world, o ctrl.Options) {
			var calls []string
			asked := w.pausing(answer)
			w.createConfigMap(t, "x")
			w.manage("p", o, mapping(&calls, handler.EnqueueRequestsFromMapFunc))
			w.drain(time.Second)
			if *asked > 0 {
				t.Errorf("%d choices for the objects of the list; expected none", *asked)
			}
			calls = nil
			w.write(t, "PATCH", configMaps+"/x", `{"data":{"k":"w"}}`)
			w.drain(2 * time.Second)
			if *asked != 2 {
				t.Errorf("%d choices for an update that adds two keys; expected 2", *asked)
			}
			if !slices.Equal(calls, want) {
				t.Errorf("answer %d: the calls are %q; expected %q", answer, calls, want)
			}
			if n := w.History.Count(history.HandlerPause); n != 2*answer {
				t.Errorf("answer %d: the history has %d pauses; expected %d", answer, n, 2*answer)
			}
		})
	}
}

// A handler of the program's own may hold a mutex while it adds keys, and what is added by others
// is not followed by a call of the program.
func TestOtherHandlersDoNotPause(t *testing.T) {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	own := func(f handler.MapFunc) handler.EventHandler {
		inner := handler.EnqueueRequestsFromMapFunc(f)
		return handler.Funcs{UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			inner.Update(ctx, e, q)
		}}
	}
	object := func(handler.MapFunc) handler.EventHandler { return &handler.EnqueueRequestForObject{} }
	for name, h := range map[string]func(handler.MapFunc) handler.EventHandler{"its own": own, "the object's": object} {
		run(t, func(t *testing.T, w *world) {
			var calls []string
			asked := w.pausing(1)
			w.createConfigMap(t, "x")
			w.manage("p", ctrl.Options{}, mapping(&calls, h))
			w.drain(time.Second)
			w.write(t, "PATCH", configMaps+"/x", `{"data":{"k":"w"}}`)
			w.drain(2 * time.Second)
			if *asked > 0 || len(calls) == 0 {
				t.Errorf("%s handler: %d choices, calls %q; expected calls and no choice", name, *asked, calls)
			}
		})
	}
}

// A process that is killed while a handler pauses leaves no goroutine behind, and the handler does
// not continue.
func TestKilledWhileAHandlerPauses(t *testing.T) {
	bothQueues(t, func(t *testing.T, w *world, o ctrl.Options) {
		var calls []string
		w.pausing(2)
		w.createConfigMap(t, "x")
		p := w.manage("p", o, mapping(&calls, handler.EnqueueRequestsFromMapFunc))
		w.drain(time.Second)
		w.write(t, "PATCH", configMaps+"/x", `{"data":{"k":"w"}}`)
		calls = nil
		w.drain(time.Second + 5*time.Millisecond)
		p.Current().Kill()
		w.drain(time.Second + 100*time.Millisecond)
		if want := []string{"map v", "a"}; !slices.Equal(calls, want) {
			t.Errorf("the calls are %q; expected %q", calls, want)
		}
	})
}
