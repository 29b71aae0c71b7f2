package process

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

type (
	request     = reconcile.Request
	workQueue   = workqueue.TypedRateLimitingInterface[request]
	rateLimiter = workqueue.TypedRateLimiter[request]
)

// queue observes one controller's work queue. The queue itself stays the real one; the observer
//
//   - records why keys were added, so that each hand-out has a cause, and what is pending (queue_rules.go),
//   - puts the plain adds of one stretch into canonical order (informers, resyncs and mapping functions may add in map
//     order) before the real queue sees them,
//   - lets operations wait for a quiet moment if the real queue could answer them in two ways before,
//   - parks every hand-out at the gate, so that at most one worker starts per step.
type queue struct {
	workQueue
	priority   priorityqueue.PriorityQueue[request] // nil for the classic queue
	life       *Life
	controller string
	onGet      func() // a worker asks for a key
	hooked     *hooked

	mu      sync.Mutex
	working time.Duration // since when there are workers: a process may have to lead before
	adds    []add         // plain adds of this stretch, not yet passed on
	later   []add         // delayed adds that wait for the quiet moment
	blocked []chan bool   // workers that wait for it
	next    time.Duration // no timer is due before: if this has come, some may have fired since the last quiet moment
	down    bool          // ShutDown was called
	keys    map[request]*key
	// live are the keys of which something may be pending or under way: those touched since somebody last looked through
	// them, and those of which something was then.
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

// priorityQueue is the observer around controller-runtime's priority queue. It must itself be a PriorityQueue, or
// controller-runtime would quietly put its adapter for classic queues around it.
type priorityQueue struct{ *queue }

func (l *Life) observe(controller string, inner workQueue) workQueue {
	q := &queue{workQueue: inner, life: l, controller: controller, next: never, keys: map[request]*key{}, live: map[request]*key{}}
	l.mu.Lock()
	l.queues = append(l.queues, q)
	l.mu.Unlock()
	if p, ok := inner.(priorityqueue.PriorityQueue[request]); ok {
		q.priority = p
		return priorityQueue{q}
	}
	return q
}

func (q *queue) key(item request) *key {
	k := q.keys[item]
	if k == nil {
		k = &key{priority: q.priority != nil, fired: map[string]int{}, owed: map[string]time.Duration{}}
		q.keys[item] = k
	}
	q.live[item] = k
	return k
}

// each calls f for every key of which something is pending or under way, in no order, until f returns false. The mutex
// must be held.
func (q *queue) each(f func(request, *key) bool) {
	for item, k := range q.live {
		if k.idle() {
			delete(q.live, item)
		} else if !f(item, k) {
			return
		}
	}
}

// Add implements workqueue.TypedInterface: an event handler wants the key reconciled.
func (q *queue) Add(item request) { q.plain(priorityqueue.AddOpts{}, item) }

// plain holds a plain add until the stretch is over.
func (q *queue) plain(o priorityqueue.AddOpts, items ...request) {
	s := q.life.world.Sched
	what, now := s.Current(), s.Now()
	q.mu.Lock()
	for _, item := range items {
		why := what
		if what == sched.Time {
			why = q.untimely(item)
		}
		if !q.down {
			q.adds = append(q.adds, add{item, o, cause{at: now, what: why}})
		}
	}
	q.mu.Unlock()
	s.Wake()
}

// untimely names the cause of an add that no granted step led to, only the passing of time: an informer that hands over
// what it already had (to a handler that joined late, or as a resync), or a program's own goroutine through a channel.
func (q *queue) untimely(item request) string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if strings.Contains(f.Function, "tools/cache.(*processorListener)") || strings.HasSuffix(f.Function, "(*orderedHandler).tellReady") {
			if q.keys[item] == nil {
				return "initial-list"
			}
			return "resync"
		}
		if !more {
			return "channel"
		}
	}
}

// flush is called at each quiet moment. It passes the held adds on and lets the blocked workers go on. It reports whether
// there were any.
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
	return woke || len(later)+len(blocked) > 0
}

// flushPlain passes the plain adds on, in canonical order. It reports whether there were any. The runtime may interrupt it at any
// place, and a worker that takes a key meanwhile must take the one that it would take at its end. A classic queue gives out
// what came first. A priority queue gets all keys of one priority in one call, the highest first; a key that it already
// holds with a higher priority stands among those, where it changes nothing but that it is ready now.
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

// admit parks the hand-out until it is granted. False means that the run is over.
func (q *queue) admit(item request) bool {
	if q.life.ending.Load() {
		return false
	}
	q.mu.Lock()
	given := q.key(item).take(q.life.world.Sched.Now())
	q.mu.Unlock()
	granted := make(chan bool, 1)
	name := fmt.Sprintf("%s %s %s", q.life.Name(), q.controller, item)
	a := &sched.Action{
		Order: name,
		Actor: name, // and its requests': see [wire.Call.Actor]
		What:  func() string { return fmt.Sprintf("hand-out of %s to %s", item, q.life.Name()+" "+q.controller) },
		Do: func() {
			q.begin(item, given)
			granted <- true
		},
	}
	q.life.parkHandout(a, granted, true)
	ok := <-granted
	q.life.unparkHandout(a)
	return ok
}

// begin records the hand-out. It runs on the scheduling goroutine.
func (q *queue) begin(item request, g given) {
	w := q.life.world
	now := w.Sched.Now()
	q.mu.Lock()
	k := q.key(item)
	g.ready = max(g.ready, q.working, q.life.Port.Thawed())
	k.runs++
	k.name = fmt.Sprintf("%s %s #%d", q.controller, item, k.runs)
	q.mu.Unlock()
	at := w.History.Add(history.Event{
		Step: w.Sched.Steps(), At: now, Kind: history.Handout, Process: q.life.Process.Name, Life: q.life.N,
		Reconcile: k.name, Cause: g.why, Wait: g.wait, Ready: g.ready, Server: w.Wire.Server().Revision(), Seen: q.life.seen(item),
	})
	q.mu.Lock()
	for what, due := range k.owed {
		if due <= now {
			k.fired[what] = at
			delete(k.owed, what)
		}
	}
	q.mu.Unlock()
	w.Sched.SetCurrent("reconcile " + k.name)
	w.observer.Dequeued(q.life, q.controller, item)
}

// inject adds a key as a spurious event would.
func (q *queue) inject(item request, why string) {
	q.life.world.Sched.SetCurrent(why)
	q.plain(priorityqueue.AddOpts{}, item)
}
