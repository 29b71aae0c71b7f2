package process

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// queue observes one controller's work queue. The queue itself stays the real one. The observer
//
//   - records why keys were added, so that each dequeue has a cause, and what is pending
//     (key.go),
//   - puts the plain adds of one phase into canonical order before the real queue gets them, as
//     informers, resyncs and mapping functions may add in map order,
//   - lets operations wait for a quiet moment if the real queue could answer them in two ways
//     before,
//   - parks every dequeue, so that at most one worker starts in each step.
type queue struct {
	workQueue
	priority   priorityqueue.PriorityQueue[request] // nil for the classic queue
	waiters    *waiters
	pauses     *pauses
	controller *observedController
	seen       func(request) []history.Seen                    // compares the caches with the server
	dequeued   func(controller string, item reconcile.Request) // see [Observer]

	mu      sync.Mutex
	adds    []addition  // plain adds of this phase, not yet passed on
	later   []addition  // delayed adds that wait for the quiet moment
	blocked []chan bool // workers that wait for it
	down    bool        // ShutDown was called
	closing func()      // shuts the real queue down, at the next quiet moment
	keys    keys
}

// observedController is a controller that was added to a manager of the incarnation.
type observedController struct {
	name     string
	runnable manager.Runnable
	working  atomic.Bool  // a worker has asked for its first key
	since    atomic.Int64 // when that was: a process may have to lead before
}

// asked notes that a worker asks for a key.
func (o *observedController) asked(s *sched.Scheduler) {
	if !o.working.Swap(true) {
		o.since.Store(int64(s.Now()))
		s.Wake()
	}
}

// waitsForLease reports whether the controller starts only in the leader.
func (o *observedController) waitsForLease() bool {
	r, ok := o.runnable.(manager.LeaderElectionRunnable)
	return !ok || r.NeedLeaderElection()
}

// addition is an add that has not reached the real queue.
type addition struct {
	item  request
	opts  priorityqueue.AddOpts
	cause cause
}

func (a *addition) priority() int {
	if a.opts.Priority == nil {
		return 0
	}
	return *a.opts.Priority
}

// priorityQueue is the observer around controller-runtime's priority queue. It must be a
// PriorityQueue itself, or controller-runtime would put its adapter for classic queues around it.
type priorityQueue struct{ *queue }

// plain holds a plain add until the phase is over.
func (q *queue) plain(o priorityqueue.AddOpts, items ...request) {
	s := q.waiters.Sched
	now := s.Now()
	what, stepped := s.Current().(history.Cause)
	q.mu.Lock()
	for _, item := range items {
		why := what
		if !stepped {
			why = q.keys.causeWithoutStep(item)
		}
		if !q.down {
			q.adds = append(q.adds, addition{item, o, cause{at: now, what: why}})
		}
	}
	q.mu.Unlock()
	s.Wake()
}

// flush is called at each quiet moment. It passes the held adds on and lets the blocked workers go
// on. It reports whether there were any.
func (q *queue) flush() bool {
	now := q.waiters.Sched.Now()
	woke := q.waiters.ScriptedTimers && q.fireTimers(func(_ request, t *timer) bool { return t.due <= now })
	q.mu.Lock()
	q.keys.fire(now)
	later, blocked := q.later, q.blocked
	q.later, q.blocked = nil, nil
	q.mu.Unlock()
	sort.SliceStable(later, func(i, j int) bool { return later[i].item.String() < later[j].item.String() })
	for _, a := range later {
		q.pass(a.opts, a.item)
		q.with(a.item, func(k *key) { k.held = max(0, k.held-1) })
	}
	woke = q.flushPlain() || woke
	for _, quiet := range blocked {
		quiet <- true
	}
	if woke || len(later)+len(blocked) > 0 {
		return true
	}
	return q.close()
}

// flushPlain passes the plain adds on, in canonical order, and reports whether there were any.
//
// The runtime may interrupt it at any place, and a worker that takes a key meanwhile must take the
// same one as at its end. A classic queue is first in, first out. A priority queue gets all keys of
// one priority in one call, the highest priority first. A key that it already holds with a higher
// priority is among those; there it only becomes ready.
func (q *queue) flushPlain() bool {
	q.mu.Lock()
	adds := q.adds
	q.adds = nil
	if len(adds) == 0 {
		q.mu.Unlock()
		return false
	}
	sort.SliceStable(adds, func(i, j int) bool {
		if a, b := adds[i].priority(), adds[j].priority(); a != b {
			return a > b
		}
		return adds[i].item.String() < adds[j].item.String()
	})
	ranks := map[int][]request{}
	for _, a := range adds {
		k := q.keys.of(a.item)
		k.ready(a.cause)
		if q.priority != nil {
			rank := k.put(a.priority())
			ranks[rank] = append(ranks[rank], a.item)
		}
	}
	q.mu.Unlock()
	if q.priority == nil {
		for _, a := range adds {
			q.workQueue.Add(a.item)
		}
	}
	for _, rank := range slices.Backward(slices.Sorted(maps.Keys(ranks))) {
		q.priority.AddWithOpts(priorityqueue.AddOpts{Priority: &rank}, ranks[rank]...)
	}
	return true
}

func (q *queue) Get() (request, bool) {
	q.controller.asked(q.waiters.Sched)
	q.waitForQuiet()
	item, down := q.workQueue.Get()
	return item, down || !q.admit(item)
}

func (p priorityQueue) GetWithPriority() (request, int, bool) {
	p.controller.asked(p.waiters.Sched)
	p.waitForQuiet()
	item, priority, down := p.priority.GetWithPriority()
	return item, priority, down || !p.admit(item)
}

func (p priorityQueue) Get() (request, bool) {
	item, _, down := p.GetWithPriority()
	return item, down
}

// admit lets the dequeue wait for its step. It returns false when the incarnation begins no
// reconcile any more.
func (q *queue) admit(item request) bool {
	if q.waiters.ending.Load() {
		return false
	}
	q.mu.Lock()
	given := q.keys.of(item).take(q.waiters.Sched.Now())
	q.mu.Unlock()
	port, name := q.waiters.Port, q.keys.named(item).String()
	return q.waiters.await(&sched.Action{
		Order: port.Name() + " " + name,
		Actor: port.Actor(name), // and its requests': see [wire.Call.Actor]
		What:  func() string { return q.handOut(item) },
		Do:    func() { q.begin(item, given) },
	}, true)
}

// handOut is the dequeue of a key in words.
func (q *queue) handOut(item request) string {
	return "hand-out of " + item.String() + " to " + q.waiters.Name() + " " + q.controller.name
}

// begin records the dequeue. It runs on the scheduling goroutine.
func (q *queue) begin(item request, g dequeue) {
	now := q.waiters.Sched.Now()
	q.mu.Lock()
	k := q.keys.of(item)
	g.ready = max(g.ready, time.Duration(q.controller.since.Load()), q.waiters.Port.Thawed())
	k.runs++
	k.name = history.Reconcile{Key: q.keys.named(item), N: k.runs}
	q.mu.Unlock()
	e := q.waiters.Wire.Event(q.waiters.Port, history.Dequeue)
	e.Reconcile, e.Cause, e.Wait, e.Ready, e.Seen = k.name, g.why, g.wait, g.ready, q.seen(item)
	at := q.waiters.History.Add(e)
	q.mu.Lock()
	for what, due := range k.owed {
		if due <= now {
			k.fired[what] = at
			delete(k.owed, what)
		}
	}
	q.mu.Unlock()
	q.waiters.Sched.SetCurrent(history.Cause{Kind: history.CauseReconcile, Of: k.name.String()})
	q.dequeued(q.controller.name, item)
}

// waitForQuiet lets a worker wait for the next quiet moment if a timer may have fired since the
// last one.
func (q *queue) waitForQuiet() {
	for again := true; again; {
		q.mu.Lock()
		if q.down || q.keys.next > q.waiters.Sched.Now() {
			q.mu.Unlock()
			return
		}
		quiet := make(chan bool, 1)
		q.blocked = append(q.blocked, quiet)
		q.mu.Unlock()
		again = q.waiters.awaitQuiet(quiet)
	}
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

// pass passes a delayed add to the real queue. The delay of a rate-limited one comes from the
// limiter.
func (q *queue) pass(o priorityqueue.AddOpts, item request) {
	q.mu.Lock()
	if q.down {
		q.mu.Unlock()
		return
	}
	if !o.RateLimited {
		q.waiters.noteWait(o.After)
		q.keys.after(item, timer{history.CauseRequeueAfter, o.After, q.waiters.Sched.Now() + o.After})
	}
	if q.priority != nil {
		k := q.keys.of(item)
		k.put((&addition{opts: o}).priority())
		if o.RateLimited {
			k.bounds = append(k.bounds, o.After)
		}
		o.After = q.waiters.realDelay(o.After)
		q.priority.AddWithOpts(o, item) // which does not wait: the order of adds is that of bounds
	}
	q.mu.Unlock()
	switch {
	case q.priority != nil:
	case o.RateLimited:
		q.workQueue.AddRateLimited(item)
	default:
		q.workQueue.AddAfter(item, q.waiters.realDelay(o.After))
	}
}

// with gives a function the record of a key.
func (q *queue) with(item request, do func(*key)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	do(q.keys.of(item))
}

// fireTimers fires some timers, due or not, and reports whether there were any. The world must be
// quiet.
func (q *queue) fireTimers(which func(request, *timer) bool) bool {
	now := q.waiters.Sched.Now()
	var items []request
	q.mu.Lock()
	q.keys.each(func(item request, k *key) bool {
		if k.timer != nil && which(item, k.timer) {
			k.timer.due = min(k.timer.due, now)
			if owed, ok := k.owed[k.timer.what]; ok {
				k.owed[k.timer.what] = min(owed, now)
			}
			k.fire(now)
			items = append(items, item)
		}
		return true
	})
	slices.SortFunc(items, func(a, b request) int { return cmp.Compare(a.String(), b.String()) })
	ranks := make([]int, len(items))
	for i, item := range items {
		ranks[i] = q.keys.of(item).rank
	}
	q.mu.Unlock()
	for i, item := range items {
		if q.priority == nil {
			q.workQueue.Add(item)
		} else {
			q.priority.AddWithOpts(priorityqueue.AddOpts{Priority: &ranks[i]}, item)
		}
	}
	return len(items) > 0
}
