package process

import (
	"maps"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// queue observes one controller's work queue. The queue itself stays the real one. The observer
//
//   - records why keys were added, so that each dequeue has a cause, and what is pending
//     (queue_rules.go),
//   - puts the plain adds of one phase into canonical order before the real queue gets them, as
//     informers, resyncs and mapping functions may add in map order,
//   - lets operations wait for a quiet moment if the real queue could answer them in two ways
//     before,
//   - parks every dequeue, so that at most one worker starts in each step.
type queue struct {
	workQueue
	priority    priorityqueue.PriorityQueue[request] // nil for the classic queue
	incarnation *Incarnation
	controller  string
	onGet       func() // a worker asks for a key
	hooked      *observedController

	mu      sync.Mutex
	working time.Duration // since when there are workers: a process may have to lead before
	adds    []add         // plain adds of this phase, not yet passed on
	later   []add         // delayed adds that wait for the quiet moment
	blocked []chan bool   // workers that wait for it
	next    time.Duration // no timer is due before: if this has come, some may have fired since the last quiet moment
	down    bool          // ShutDown was called
	closing func()        // shuts the real queue down, at the next quiet moment
	keys    map[request]*key
	// live are the keys of which something may be pending or in progress: those that were used
	// since the last look through them, and those of which something was pending then.
	live map[request]*key
}

type add struct {
	item  request
	opts  priorityqueue.AddOpts
	cause cause
}

func (a *add) priority() int {
	if a.opts.Priority == nil {
		return 0
	}
	return *a.opts.Priority
}

// priorityQueue is the observer around controller-runtime's priority queue. It must be a
// PriorityQueue itself, or controller-runtime would put its adapter for classic queues around it.
type priorityQueue struct{ *queue }

func (i *Incarnation) observe(controller string, inner workQueue) workQueue {
	q := &queue{
		workQueue: inner, incarnation: i, controller: controller, next: never,
		keys: map[request]*key{}, live: map[request]*key{},
	}
	i.mu.Lock()
	i.queues = append(i.queues, q)
	i.mu.Unlock()
	if p, ok := inner.(priorityqueue.PriorityQueue[request]); ok {
		q.priority = p
		return priorityQueue{q}
	}
	return q
}

func (q *queue) key(item request) *key {
	k := q.keys[item]
	if k == nil {
		k = &key{priority: q.priority != nil}
		k.fired, k.owed = map[history.CauseKind]int{}, map[history.CauseKind]time.Duration{}
		q.keys[item] = k
	}
	q.live[item] = k
	return k
}

// each calls f for every key of which something is pending or in progress, in no order, until f
// returns false. The mutex must be held.
func (q *queue) each(f func(request, *key) bool) {
	for item, k := range q.live {
		if k.idle() {
			delete(q.live, item)
		} else if !f(item, k) {
			return
		}
	}
}

// plain holds a plain add until the phase is over.
func (q *queue) plain(o priorityqueue.AddOpts, items ...request) {
	s := q.incarnation.world.Sched
	now := s.Now()
	what, stepped := s.Current().(history.Cause)
	q.mu.Lock()
	for _, item := range items {
		why := what
		if !stepped {
			why = q.causeWithoutStep(item)
		}
		if !q.down {
			q.adds = append(q.adds, add{item, o, cause{at: now, what: why}})
		}
	}
	q.mu.Unlock()
	s.Wake()
}

// causeWithoutStep is the cause of an add that follows no step but the passing of time. It is an
// informer that repeats what it had already (for a handler that joins late, or as a resync), or a
// goroutine of the program's own through a channel.
func (q *queue) causeWithoutStep(item request) history.Cause {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		fromInformer := strings.Contains(f.Function, "tools/cache.(*processorListener)") ||
			strings.HasSuffix(f.Function, "(*orderedHandler).deliverReady")
		if fromInformer {
			if q.keys[item] == nil {
				return history.Cause{Kind: history.CauseInitialList}
			}
			return history.Cause{Kind: history.CauseResync}
		}
		if !more {
			return history.Cause{Kind: history.CauseChannel}
		}
	}
}

// flush is called at each quiet moment. It passes the held adds on and lets the blocked workers go
// on. It reports whether there were any.
func (q *queue) flush() bool {
	q.mu.Lock()
	q.fire()
	later, blocked := q.later, q.blocked
	q.later, q.blocked = nil, nil
	q.mu.Unlock()
	sort.SliceStable(later, func(i, j int) bool { return later[i].item.String() < later[j].item.String() })
	for _, a := range later {
		q.pass(a.opts, a.item)
		q.mu.Lock()
		k := q.key(a.item)
		k.held = max(0, k.held-1)
		q.mu.Unlock()
	}
	woke := q.flushPlain()
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
		k := q.key(a.item)
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

// Get implements workqueue.TypedInterface.
func (q *queue) Get() (request, bool) {
	q.onGet()
	q.waitForQuiet()
	item, down := q.workQueue.Get()
	return item, down || !q.admit(item)
}

// GetWithPriority implements priorityqueue.PriorityQueue.
func (q priorityQueue) GetWithPriority() (request, int, bool) {
	q.onGet()
	q.waitForQuiet()
	item, p, down := q.priority.GetWithPriority()
	return item, p, down || !q.admit(item)
}

// Get implements workqueue.TypedInterface.
func (q priorityQueue) Get() (request, bool) {
	item, _, down := q.GetWithPriority()
	return item, down
}

// admit lets the dequeue wait for its step. It returns false when the incarnation begins no
// reconcile any more.
func (q *queue) admit(item request) bool {
	if q.incarnation.ending.Load() {
		return false
	}
	q.mu.Lock()
	given := q.key(item).take(q.incarnation.world.Sched.Now())
	q.mu.Unlock()
	granted := make(chan bool, 1)
	name := q.keyOf(item).String()
	a := &sched.Action{
		Order: q.incarnation.Name() + " " + name,
		Actor: choice.Actor{Process: q.incarnation.Name(), Name: name}, // and its requests': see [wire.Call.Actor]
		What: func() string {
			return "hand-out of " + item.String() + " to " + q.incarnation.Name() + " " + q.controller
		},
		Do: func() {
			q.begin(item, given)
			granted <- true
		},
	}
	q.incarnation.block(a, granted, true)
	ok := <-granted
	q.incarnation.unblock(a)
	return ok
}

// begin records the dequeue. It runs on the scheduling goroutine.
func (q *queue) begin(item request, g dequeue) {
	w := q.incarnation.world
	now := w.Sched.Now()
	q.mu.Lock()
	k := q.key(item)
	g.ready = max(g.ready, q.working, q.incarnation.Port.Thawed())
	k.runs++
	k.name = history.Reconcile{Key: q.keyOf(item), N: k.runs}
	q.mu.Unlock()
	e := q.incarnation.event(history.Dequeue)
	e.Reconcile, e.Cause, e.Wait, e.Ready, e.Seen = k.name, g.why, g.wait, g.ready, q.incarnation.versionsSeen(item)
	at := w.History.Add(e)
	q.mu.Lock()
	for what, due := range k.owed {
		if due <= now {
			k.fired[what] = at
			delete(k.owed, what)
		}
	}
	q.mu.Unlock()
	w.Sched.SetCurrent(history.Cause{Kind: history.CauseReconcile, Of: k.name.String()})
	w.observer.Dequeued(q.incarnation, q.controller, item)
}

// keyOf names a key of the controller.
func (q *queue) keyOf(item request) history.Key {
	return history.Key{Controller: q.controller, Namespace: item.Namespace, Name: item.Name}
}

// inject adds a key without an event. why says in words which fault does it.
func (q *queue) inject(item request, why string) {
	q.incarnation.world.Sched.SetCurrent(history.Cause{Kind: history.CauseFault, Of: why})
	q.plain(priorityqueue.AddOpts{}, item)
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

// observed are the queues of the incarnation's controllers so far.
func (i *Incarnation) observed() []*queue {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.queues
}
