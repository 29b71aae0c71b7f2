package process

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/wavetank/wavetank/history"
)

// A key fails three times; after the first and the second failure an event arrives (its own status
// write), while it is still being reconciled or just after. Both queues run it again at once. They
// differ in which timers remain: in the classic queue the earliest deadline survives, in the
// priority queue an event consumes the timer that is pending. The observer changes none of this,
// and tells which it was.
func TestWhatAnEventDoesToAPendingBackOff(t *testing.T) {
	for _, priority := range []bool{false, true} {
		for _, during := range []bool{false, true} {
			for _, observed := range []bool{false, true} {
				t.Run(fmt.Sprintf("priority=%v/during=%v/observed=%v", priority, during, observed), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { backOffTable(t, priority, during, observed) })
				})
			}
		}
	}
}

const firstDelay = 400 * time.Millisecond

func backOffTable(t *testing.T, priority, during, observed bool) {
	backOff := workqueue.NewTypedItemExponentialFailureRateLimiter[request](firstDelay, 1000*time.Second)
	lim := &limiter{rateLimiter: backOff}
	q := plainQueue(priority, lim)
	defer q.ShutDown()
	var at []time.Duration
	var failures int
	if observed {
		var h *history.History
		at, failures, h = underObservation(t, q, lim, during)
		checkCauses(t, h, priority)
	} else {
		at, failures = failThrice(q, during)
	}
	if failures != 3 {
		t.Errorf("the limiter has counted %d failures, want 3", failures)
	}
	const atOnce = 5 * time.Millisecond
	if at[1]-at[0] > atOnce || at[2]-at[1] > atOnce {
		t.Errorf("events do not run the key again at once: %v", at)
	}
	want := at[0] + firstDelay
	if priority {
		want = at[2] + 4*firstDelay
	}
	if d := at[3] - want; d < 0 || d > atOnce {
		t.Errorf("the timer gave the key out at %v, want %v; all: %v", at[3], want, at)
	}
}

func plainQueue(priority bool, lim rateLimiter) workQueue {
	if priority {
		return priorityqueue.New("q", func(o *priorityqueue.Opts[request]) { o.RateLimiter = lim })
	}
	classic := workqueue.TypedRateLimitingQueueConfig[request]{Name: "q"}
	return workqueue.NewTypedRateLimitingQueueWithConfig(lim, classic)
}

// failThrice is a worker as controller-runtime's, with a reconciler that fails three times. It
// returns when the key was dequeued, four times, and how often it had failed then.
func failThrice(q workQueue, during bool) (at []time.Duration, failures int) {
	begun := time.Now()
	q.Add(request{NamespacedName: types.NamespacedName{Namespace: "n", Name: "a"}})
	for n := 1; ; n++ {
		item, _ := q.Get()
		at = append(at, time.Since(begun))
		if n == 4 {
			failures = q.NumRequeues(item)
			q.Done(item)
			return at, failures
		}
		if event := n < 3; event && during {
			q.Add(item)
		}
		q.AddRateLimited(item)
		q.Done(item)
		if event := n < 3; event && !during {
			time.Sleep(time.Millisecond)
			q.Add(item)
		}
	}
}

// underObservation lets the worker run as a process of a world, with the observer around its queue.
func underObservation(
	t *testing.T, inner workQueue, lim *limiter, during bool,
) (at []time.Duration, failures int, h *history.History) {
	w := newWorld()
	over := false
	w.Start("p", func(ctx context.Context, cfg *rest.Config) error {
		l, err := IncarnationOf(cfg)
		if err != nil {
			return err
		}
		outer, q := l.controllers.observeQueue(&observedController{name: "c"}, inner)
		q.controller.working.Store(true)
		lim.q = q
		at, failures = failThrice(outer, during)
		over = true
		<-ctx.Done()
		return nil
	}, Settings{})
	for !over && w.Sched.Step(time.Hour) {
		w.Sched.Quiesce()
	}
	w.Teardown(synctest.Wait)
	if !over {
		t.Fatal("the worker did not finish")
	}
	return at, failures, w.History
}

// checkCauses compares what the observer says with what the queues do.
func checkCauses(t *testing.T, h *history.History, priority bool) {
	var last history.Event
	n := 0
	for _, e := range h.Events {
		if e.Kind == history.Dequeue {
			last = e
			if n++; n < 4 && e.Cause.Kind == history.CauseBackOff {
				t.Errorf("dequeue %d was an event's and is said to be a timer's", n)
			}
		}
	}
	want := firstDelay
	if priority {
		want = 4 * firstDelay
	}
	if n != 4 || last.Cause.Kind != history.CauseBackOff || last.Wait != want || last.Ready != last.At {
		t.Errorf("dequeue %d is said to be because of %s after %v, ready at %v, at %v; want timer(backoff) after %v",
			n, last.Cause, last.Wait, last.Ready, last.At, want)
	}
}
