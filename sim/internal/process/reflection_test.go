package process

import (
	"context"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// The one thing the harness takes for granted about controller-runtime's insides. If this fails
// after an upgrade, look at sigs.k8s.io/controller-runtime/pkg/internal/controller.Controller: its
// fields Do, NewQueue and RateLimiter have moved or changed their types. Adapt fieldsOf; nothing
// else depends on them.
func TestControllersHaveTheFieldsThatTheObserversReplace(t *testing.T) {
	for _, priority := range []bool{true, false} {
		skip := true
		c, err := controller.NewUnmanaged("name", controller.Options{
			Reconciler:       reconcile.Func(ok),
			UsePriorityQueue: &priority, SkipNameValidation: &skip,
		})
		if err != nil {
			t.Fatal(err)
		}
		f, ok, err := fieldsOf(c)
		if err != nil || !ok {
			t.Fatalf("ok=%v, err=%v", ok, err)
		}
		if f.name != "name" {
			t.Errorf("the controller's name reads %q", f.name)
		}
		newQueue := f.newQueue.Interface().(func(string, rateLimiter) workQueue)
		if name := queueName(newQueue, "name"); name != "" {
			t.Errorf("controller-runtime's own queue is named %q, so it has metrics and a ticker", name)
		}
	}
}

// A function of the operator's own gets the name of the controller.
func TestQueuesOfTheOperatorHaveNames(t *testing.T) {
	own := func(string, rateLimiter) workQueue { return nil }
	if name := queueName(own, "name"); name != "name" {
		t.Errorf("the queue is named %q", name)
	}
}

// A user's runnable that merely looks like a controller is left alone.
func TestOtherRunnablesAreLeftAlone(t *testing.T) {
	f := manager.RunnableFunc(func(context.Context) error { return nil })
	for _, r := range []manager.Runnable{f, lookalike{}, &lookalike{}} {
		if _, ok, err := fieldsOf(r); ok || err != nil {
			t.Errorf("%T: ok=%v, err=%v", r, ok, err)
		}
	}
}

type lookalike struct{ Do, NewQueue, RateLimiter, Name string }

func (lookalike) Start(context.Context) error { return nil }

func (lookalike) Reconcile(context.Context, reconcile.Request) (reconcile.Result, error) {
	return reconcile.Result{}, nil
}

// A rest.Config from elsewhere is refused with a reason.
func TestAForeignConfigIsRefused(t *testing.T) {
	if _, err := IncarnationOf(&rest.Config{}); err == nil {
		t.Error("a rest.Config without the incarnation's transport was accepted")
	}
}
