package process

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/wavetank/wavetank/history"
)

// operation is one thing that a program does to its work queue.
type operation struct {
	what     string
	key      int
	delay    time.Duration
	priority int
	aside    bool // on a goroutine of its own
}

// grid is what all delays are multiples of, so that operations often come at the instant at which a
// timer fires.
const grid = 5 * time.Millisecond

// operations draws a sequence. Time passes between the operations, or does not.
func operations(priority, aside bool) *rapid.Generator[[]operation] {
	whats := []string{"Add", "AddAfter", "AddRateLimited", "Forget", "Get", "Get", "Get", "time", "time", "time",
		"Done", "Done after AddAfter", "Done after AddRateLimited"}
	if priority {
		whats = append(whats, "AddWithOpts")
	}
	one := rapid.Custom(func(t *rapid.T) operation {
		return operation{
			what:     rapid.SampledFrom(whats).Draw(t, "what"),
			key:      rapid.IntRange(0, 1).Draw(t, "key"),
			delay:    grid * time.Duration(rapid.IntRange(0, 3).Draw(t, "delay")),
			priority: rapid.IntRange(0, 2).Draw(t, "priority"),
			aside:    aside && rapid.IntRange(0, 3).Draw(t, "aside") == 3,
		}
	})
	return rapid.Custom(func(t *rapid.T) []operation {
		ops := rapid.SliceOfN(one, 1, 60).Draw(t, "operations")
		if rapid.IntRange(0, 4).Draw(t, "end") == 4 {
			ops = append(ops, operation{what: "ShutDown"})
		}
		return ops
	})
}

// At each quiet moment, and once a millisecond, what the observer believes to be ready is what the
// real queue holds ready. This continues until every timer that the observer knows has fired, and
// for as long again as the longest delay. So the observer knows no timer that the queue does not
// have, and the queue has none that the observer does not know. Operations come from one goroutine
// or from several at a time.
func TestTheObserverAgreesWithTheQueue(t *testing.T) {
	for _, priority := range []bool{false, true} {
		t.Run(fmt.Sprintf("priority=%v", priority), func(t *testing.T) {
			check(t, func(rt *rapid.T) {
				ops := operations(priority, true).Draw(rt, "sequence")
				if _, err := observedQueue(t, priority, ops); err != nil {
					rt.Fatal(err)
				}
			})
		})
	}
}

// Two runs of one sequence give the same keys out at the same times for the same reasons.
func TestAQueueDoesTheSameTwice(t *testing.T) {
	for _, priority := range []bool{false, true} {
		t.Run(fmt.Sprintf("priority=%v", priority), func(t *testing.T) {
			check(t, func(rt *rapid.T) {
				ops := operations(priority, false).Draw(rt, "sequence")
				first, err := observedQueue(t, priority, ops)
				if err != nil {
					rt.Fatal(err)
				}
				second, err := observedQueue(t, priority, ops)
				if err != nil {
					rt.Fatal(err)
				}
				if diff := cmp.Diff(first, second); diff != "" {
					rt.Fatalf("the second run gave other keys out (- first, + second):\n%s", diff)
				}
			})
		})
	}
}

// check tries more sequences than rapid does by itself: some orders of goroutines are rare. It uses
// one processor, as runs do: with two, a worker may have its key before the goroutine that added it
// continues.
func check(t *testing.T, prop func(*rapid.T)) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for range 5 {
		rapid.Check(t, prop)
	}
}

// longest is the longest delay of an operation or of the limiter.
const longest = 4 * grid

// queueRun is one run of a sequence: a program without a manager that has a queue and two workers.
type queueRun struct {
	inner workQueue
	q     *queue
	outer workQueue
	err   error
	given []string

	mu    sync.Mutex
	asked int       // workers that wait for a key
	taken []request // keys that workers have, as they came
	shut  bool
}

// observedQueue runs a sequence in a bubble of its own, and returns what was dequeued.
func observedQueue(t *testing.T, priority bool, ops []operation) ([]string, error) {
	r := &queueRun{}
	synctest.Test(t, func(*testing.T) { r.run(priority, ops) })
	return r.given, r.err
}

func (q *queueRun) run(priority bool, ops []operation) {
	lim := &limiter{rateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[request](grid, longest)}
	q.inner = plainQueue(priority, lim)
	w := newWorld()
	s := w.Sched
	w.onQuiet = func() { q.compare(s.Now()) }
	over := false
	w.Start("p", func(ctx context.Context, cfg *rest.Config) error {
		l, err := IncarnationOf(cfg)
		if err != nil {
			return err
		}
		q.outer, q.q = l.controllers.observeQueue(&observedController{name: "c"}, q.inner)
		q.q.controller.working.Store(true)
		lim.q = q.q
		for _, o := range ops {
			if o.aside {
				go q.do(o)
			} else {
				q.do(o)
			}
		}
		time.Sleep(2 * longest)
		over = true
		<-ctx.Done()
		return nil
	}, Settings{})
	for !over {
		s.Step(s.Now() + time.Millisecond)
	}
	if q.outer != nil && !q.shut {
		q.outer.ShutDown()
	}
	w.Teardown(synctest.Wait)
	for _, e := range w.History.Events {
		if e.Kind == history.Dequeue {
			q.given = append(q.given, fmt.Sprintf("%v %s because of %s, delay %v, ready at %v",
				e.At, e.Reconcile, e.Cause, e.Wait, e.Ready))
			if e.Cause.Kind == history.CauseUnknown && q.err == nil {
				q.err = fmt.Errorf("the observer does not know why %s was dequeued at %v", e.Reconcile, e.At)
			}
		}
	}
}

// do performs an operation on the observed queue.
func (q *queueRun) do(o operation) {
	item := request{NamespacedName: types.NamespacedName{Namespace: "n", Name: fmt.Sprint(o.key)}}
	switch o.what {
	case "Add":
		q.outer.Add(item)
	case "AddAfter":
		q.outer.AddAfter(item, o.delay)
	case "AddRateLimited":
		q.outer.AddRateLimited(item)
	case "AddWithOpts":
		opts := priorityqueue.AddOpts{After: o.delay, RateLimited: o.key == 0, Priority: &o.priority}
		q.outer.(priorityQueue).AddWithOpts(opts, item, request{NamespacedName: types.NamespacedName{Name: "other"}})
	case "Forget":
		q.outer.Forget(item)
	case "Get":
		q.get()
	case "time":
		time.Sleep(o.delay)
	case "ShutDown":
		q.mu.Lock()
		q.shut = true
		q.mu.Unlock()
		q.outer.ShutDown()
	default:
		q.done(o)
	}
}

// get lets a worker that is free ask for a key.
func (q *queueRun) get() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.asked+len(q.taken) == 2 {
		return
	}
	q.asked++
	go func() {
		item, down := q.outer.Get()
		q.mu.Lock()
		defer q.mu.Unlock()
		q.asked--
		if !down {
			q.taken = append(q.taken, item)
		}
	}()
}

// done lets a worker that has a key finish with it, as controller-runtime's do.
func (q *queueRun) done(o operation) {
	q.mu.Lock()
	if len(q.taken) == 0 {
		q.mu.Unlock()
		return
	}
	item := q.taken[0]
	q.taken = q.taken[1:]
	q.mu.Unlock()
	switch o.what {
	case "Done after AddAfter":
		q.outer.Forget(item)
		q.outer.AddAfter(item, o.delay)
	case "Done after AddRateLimited":
		q.outer.AddRateLimited(item)
	}
	q.outer.Done(item)
}

// compare compares the observer's belief with the real queue. The bubble must be quiet.
func (q *queueRun) compare(now time.Duration) {
	q.mu.Lock()
	shut := q.shut
	q.mu.Unlock()
	if q.q == nil || q.err != nil {
		return
	}
	q.q.mu.Lock()
	var ready, pending []string
	for item, k := range q.q.keys.all {
		// The classic queue's length is without the keys that workers have.
		if len(k.causes) > 0 && (q.q.priority != nil || !k.taken) {
			ready = append(ready, item.String())
		}
		if k.timer != nil {
			pending = append(pending, fmt.Sprintf("%s at %v", item, k.timer.due))
			if k.timer.due <= now {
				q.err = fmt.Errorf("at %v the observer keeps the timer of %s, which was due at %v",
					now, item, k.timer.due)
			}
		}
	}
	q.q.mu.Unlock()
	slices.Sort(ready)
	slices.Sort(pending)
	switch n := q.inner.Len(); {
	case shut && len(ready)+len(pending) > 0:
		q.err = fmt.Errorf("at %v, after ShutDown, the observer believes %v to be ready and %v to be pending",
			now, ready, pending)
	case !shut && n != len(ready):
		q.err = fmt.Errorf("at %v the queue holds %d keys ready, the observer believes %v; pending: %v",
			now, n, ready, pending)
	}
}
