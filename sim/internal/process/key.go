package process

import (
	"math"
	"sort"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
)

type (
	request     = reconcile.Request
	workQueue   = workqueue.TypedRateLimitingInterface[request]
	rateLimiter = workqueue.TypedRateLimiter[request]
)

// This file has the rules of a work queue for one key, for both kinds of queue:
//
//  - classic: k8s.io/client-go/util/workqueue, files queue.go and delaying_queue.go
//  - priority: sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue/priorityqueue.go
//
// A key's record is a function of the time and of the operations that reach the real queue. Two
// rules of the observer in queue.go make it so:
//
//  - An operation whose result depends on whether a timer has fired reaches the real queue at the
//    next quiet moment. By then every timer that is due has fired.
//  - So does an add of a key that no worker has, because a worker may be about to take it.
//
// TestTheObserverAgreesWithTheQueue compares the records with the real queues.

// key is the observer's record of one key.
type key struct {
	priority bool // which queue's rules hold
	// causes say why the real queue will give the key out as soon as it can; there are none if it
	// will not. The classic queue calls such a key dirty; the priority queue has a ready item for
	// it.
	causes []cause
	timer  *timer // the delayed add that is pending
	taken  bool   // a worker got it and has not called Done
	held   int    // delayed adds that have not reached the real queue
	queued bool   // the real priority queue holds it, ready or not,
	rank   int    // with this priority
	// bounds are the delays of rate-limited adds for which the limiter has not been called yet.
	bounds []time.Duration
	runs   int
	name   history.Reconcile // that is running; none when idle
	ended  time.Duration     // when its last reconcile did
	// fired is the index of the last dequeue that each kind of timer caused, or that came in its
	// place at its time; owed is that time. An event takes the timer away before it fires, and so
	// does a resync that comes more often than the timer is long.
	fired map[history.CauseKind]int
	owed  map[history.CauseKind]time.Duration
}

// cause is one reason to dequeue a key.
type cause struct {
	at   time.Duration
	what history.Cause
	wait time.Duration // the delay, if a timer did it
}

type timer struct {
	what  history.CauseKind // CauseBackOff or CauseRequeueAfter
	delay time.Duration
	due   time.Duration
}

// never is later than any timer is due.
const never = time.Duration(math.MaxInt64)

// ready applies an add without delay.
//
//   - classic, queue.go, Add: the key is dirty. A delayed add of it stays pending, as that is
//     another queue's (delaying_queue.go).
//   - priority, lockedAddWithOpts: a key has one item. If that was waiting, it is ready now, and
//     its time is forgotten.
func (k *key) ready(c cause) {
	k.causes = append(k.causes, c)
	if k.priority {
		k.timer = nil
	}
}

// after applies a delayed add. It reports whether the queue keeps that time for the key.
//
//   - classic, delaying_queue.go, insert: of two times the earlier one stays, whether the key is
//     dirty or not.
//   - priority, lockedAddWithOpts: an item that is ready stays ready. Of two times the earlier one
//     stays.
func (k *key) after(t timer) bool {
	if k.priority && len(k.causes) > 0 || k.timer != nil && k.timer.due <= t.due {
		return false
	}
	k.timer = &t
	if _, ok := k.owed[t.what]; !ok {
		k.owed[t.what] = t.due
	}
	return true
}

// fire applies the passing of time.
//
//   - classic, delaying_queue.go, waitingLoop: what is due leaves the delaying queue and is added,
//     even while a worker has the key.
//   - priority, handleWaitingItems: an item that is due is ready.
func (k *key) fire(now time.Duration) {
	if t := k.timer; t != nil && t.due <= now {
		k.timer = nil
		k.causes = append(k.causes, cause{t.due, history.Cause{Kind: t.what}, t.delay})
	}
}

// finish notes that a reconcile is no longer in progress.
func (k *key) finish(name history.Reconcile) {
	if k.name != name {
		return
	}
	k.name = history.Reconcile{}
	if k.timer == nil && k.held+len(k.causes) == 0 { // what was put off is not wanted any more
		clear(k.owed)
	}
}

// dequeue is what the observer knows of a dequeue.
type dequeue struct {
	why   history.Cause
	wait  time.Duration // that led to it
	ready time.Duration // when the queue could have handed it out
}

// take applies Get, and returns why the key was dequeued: the earliest cause, and an add before a
// timer.
//
//   - classic, queue.go, Get: the key is not dirty any more. A delayed add of it stays pending.
//   - priority, handleReadyItems: the key has no item any more.
func (k *key) take(now time.Duration) dequeue {
	k.fire(now)
	k.taken, k.queued = true, false
	g := dequeue{why: history.Cause{Kind: history.CauseUnknown}, ready: now}
	sort.SliceStable(k.causes, func(i, j int) bool {
		a, b := k.causes[i], k.causes[j]
		if a.at != b.at {
			return a.at < b.at
		}
		if (a.wait == 0) != (b.wait == 0) {
			return a.wait == 0
		}
		return a.what != b.what && a.what.String() < b.what.String()
	})
	if len(k.causes) > 0 {
		c := k.causes[0]
		g = dequeue{c.what, c.wait, c.at}
	}
	k.causes = nil
	g.ready = max(g.ready, k.ended) // one key is never reconciled twice at a time
	return g
}

// done applies Done: both queues give out a key that is ready once no worker has it (queue.go,
// Done; priorityqueue.go, handleReadyItems).
func (k *key) done() { k.taken = false }

// shut applies ShutDown: neither queue accepts anything any more, and no timer fires
// (delaying_queue.go, AddAfter and waitingLoop; priorityqueue.go, ShutDown). What is ready is not
// dequeued either: see [queue.ShutDown].
func (k *key) shut() { k.causes, k.timer, k.held = nil, nil, 0 }

// put notes that the real priority queue gets the key, and returns its priority there.
func (k *key) put(priority int) int {
	if !k.queued || priority > k.rank {
		k.queued, k.rank = true, priority
	}
	return k.rank
}

// idle reports whether nothing of the key is pending or in progress.
func (k *key) idle() bool { return k.name.None() && k.timer == nil && len(k.causes) == 0 }
