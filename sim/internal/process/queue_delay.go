package process

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/wavetank/wavetank/history"
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

// limiter tells the observer which delay the real rate limiter has chosen.
type limiter struct {
	rateLimiter
	q *queue
}

func (l *limiter) When(item request) time.Duration {
	d := l.rateLimiter.When(item)
	if l.q != nil {
		if limit := l.q.incarnation.world.BackOff; limit > 0 {
			d = min(d, limit)
		}
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

// Add implements workqueue.TypedInterface.
func (q *queue) Add(item request) {
	q.plain(priorityqueue.AddOpts{}, item)
	q.waitAfterAdd(item)
}
