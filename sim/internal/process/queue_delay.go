package process

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// This file is about the instants at which the timers of a queue fire. A queue fires them on a
// goroutine of its own, and from outside it cannot be seen whether it has.

// AddAfter implements workqueue.TypedDelayingInterface.
func (q *queue) AddAfter(item request, d time.Duration) { q.add(priorityqueue.AddOpts{After: d}, item) }

// AddRateLimited implements workqueue.TypedRateLimitingInterface.
func (q *queue) AddRateLimited(item request) { q.add(priorityqueue.AddOpts{RateLimited: true}, item) }

// AddWithOpts implements priorityqueue.PriorityQueue.
func (q priorityQueue) AddWithOpts(o priorityqueue.AddOpts, items ...request) { q.add(o, items...) }

// add handles all adds. A delayed one reaches the real queue at once if a worker has the key and no
// timer can have fired since the last quiet moment: the order of the goroutines that run now makes
// no difference to it.
func (q *queue) add(o priorityqueue.AddOpts, items ...request) {
	if !o.RateLimited && o.After <= 0 {
		q.plain(o, items...)
		if len(items) > 0 {
			q.waitAfterAdd(items[len(items)-1])
		}
		return
	}
	s := q.incarnation.world.Sched
	for _, item := range items {
		q.mu.Lock()
		k := q.key(item)
		waits := !k.taken || q.next <= s.Now()
		if waits && !q.down {
			q.later = append(q.later, add{item: item, opts: o})
			k.held++
		}
		q.mu.Unlock()
		if waits {
			s.Wake()
		} else {
			q.pass(o, item)
		}
	}
}

// pass passes a delayed add to the real queue. The delay of a rate-limited one comes from the
// limiter.
func (q *queue) pass(o priorityqueue.AddOpts, item request) {
	q.mu.Lock()
	if q.down {
		q.mu.Unlock()
		return
	}
	if !o.RateLimited {
		q.delayed(item, history.CauseRequeueAfter, o.After)
	}
	if q.priority != nil {
		k := q.key(item)
		k.put((&add{opts: o}).priority())
		if o.RateLimited {
			k.bounds = append(k.bounds, o.After)
		}
		q.priority.AddWithOpts(o, item) // which does not wait: the order of adds is that of bounds
	}
	q.mu.Unlock()
	switch {
	case q.priority != nil:
	case o.RateLimited:
		q.workQueue.AddRateLimited(item)
	default:
		q.workQueue.AddAfter(item, o.After)
	}
}

// delayed notes a timer. The mutex must be held.
func (q *queue) delayed(item request, what history.CauseKind, d time.Duration) {
	q.incarnation.world.noteWait(d)
	due := q.incarnation.world.Sched.Now() + d
	if q.key(item).after(timer{what, d, due}) {
		q.next = min(q.next, due)
	}
}

// limiter tells the observer which delay the real rate limiter has chosen.
type limiter struct {
	rateLimiter
	q *queue
}

func (l *limiter) When(item request) time.Duration {
	d := l.rateLimiter.When(item)
	if l.q != nil {
		l.q.limited(item, d)
	}
	return d
}

// limited notes a rate-limited add. If it has a delay as well, the shorter one counts
// (priorityqueue.go, lockedAddWithOpts).
func (q *queue) limited(item request, d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	k := q.key(item)
	if len(k.bounds) > 0 {
		if bound := k.bounds[0]; bound != 0 {
			d = min(d, bound)
		}
		k.bounds = k.bounds[1:]
	}
	switch {
	case q.down:
	case d <= 0: // the key is ready at once
		k.ready(cause{at: q.incarnation.world.Sched.Now(), what: history.Cause{Kind: history.CauseRateLimited}})
	default:
		q.delayed(item, history.CauseBackOff, d)
	}
}

// waitForQuiet lets a worker wait for the next quiet moment if a timer may have fired since the
// last one.
func (q *queue) waitForQuiet() {
	for again := true; again; {
		q.mu.Lock()
		if q.down || q.next > q.incarnation.world.Sched.Now() {
			q.mu.Unlock()
			return
		}
		quiet := make(chan bool, 1)
		q.blocked = append(q.blocked, quiet)
		q.mu.Unlock()
		again = q.incarnation.blockUntil(quiet)
	}
}

// blockUntil blocks a goroutine of the incarnation until the next quiet moment. It returns false
// when the run is over.
func (i *Incarnation) blockUntil(quiet chan bool) bool {
	i.mu.Lock()
	a := &sched.Action{}
	released := i.released
	if !released {
		i.waiters = append(i.waiters, waiter{a, quiet, false})
	}
	i.mu.Unlock()
	if released {
		return false
	}
	i.world.Sched.Wake()
	again := <-quiet
	i.unblock(a)
	return again
}

// fire fires the timers that are due. The world must be quiet, and the mutex held.
func (q *queue) fire() {
	now := q.incarnation.world.Sched.Now()
	if q.next > now {
		return
	}
	q.next = never
	q.each(func(_ request, k *key) bool {
		if k.fire(now); k.timer != nil {
			q.next = min(q.next, k.timer.due)
		}
		return true
	})
}

// Done implements workqueue.TypedInterface.
func (q *queue) Done(item request) {
	q.waitForQuiet()
	q.mu.Lock()
	q.key(item).done()
	q.mu.Unlock()
	q.workQueue.Done(item)
}

// ShutDown implements workqueue.TypedInterface. Which of the keys that are ready are still
// dequeued, the runtime would choose; so none is.
//
// The real queue is shut down at the next quiet moment. Until controller-runtime 0.25, its priority
// queue stops for good, and holds its lock, if it is handing out a key just then and the worker
// prefers the end: the runtime would choose between the two.
func (q *queue) ShutDown() { q.shut(q.workQueue.ShutDown) }

// ShutDownWithDrain implements workqueue.TypedInterface.
func (q *queue) ShutDownWithDrain() {
	if q.priority != nil {
		q.ShutDown() // the priority queue does not drain
		return
	}
	q.shut(nil)
	q.workQueue.ShutDownWithDrain()
}

// shut forgets what is pending. closing is called at the next quiet moment.
func (q *queue) shut(closing func()) {
	q.incarnation.dismissKeys()
	q.mu.Lock()
	q.down, q.next, q.closing = true, never, closing
	q.adds, q.later = nil, nil
	for _, k := range q.live {
		k.shut()
	}
	q.mu.Unlock()
	q.incarnation.world.Sched.Wake()
}

// close shuts the real queue down if that is due, and reports whether it was. Every goroutine must
// be blocked.
func (q *queue) close() bool {
	q.mu.Lock()
	closing := q.closing
	q.closing = nil
	q.mu.Unlock()
	if closing == nil {
		return false
	}
	closing()
	return true
}
