package process

import (
	"runtime"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/wavetank/wavetank/history"
)

// This file is about the instants at which the timers of a queue fire. A queue fires them on a
// goroutine of its own, and from outside it cannot be seen whether it has.

func (q *queue) Add(item request) { q.add(priorityqueue.AddOpts{}, item) }

func (q *queue) AddAfter(item request, d time.Duration) {
	q.add(priorityqueue.AddOpts{After: d}, item)
}

func (q *queue) AddRateLimited(item request) {
	q.add(priorityqueue.AddOpts{RateLimited: true}, item)
}
func (p priorityQueue) AddWithOpts(o priorityqueue.AddOpts, items ...request) { p.add(o, items...) }

// add handles all adds. A delayed one reaches the real queue at once if a worker has the key and no
// timer can have fired since the last quiet moment: the order of the goroutines that run now makes
// no difference to it.
func (q *queue) add(o priorityqueue.AddOpts, items ...request) {
	if !o.RateLimited && o.After <= 0 {
		q.plain(o, items...)
		if len(items) > 0 && mapsAgain() {
			q.pauses.wait(q.keys.named(items[len(items)-1]), &q.controller.working)
		}
		return
	}
	s := q.waiters.Sched
	for _, item := range items {
		q.mu.Lock()
		k := q.keys.of(item)
		waits := !k.taken || q.keys.next <= s.Now()
		if waits && !q.down {
			q.later = append(q.later, addition{item: item, opts: o})
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

func (q *queue) Done(item request) {
	q.waitForQuiet()
	q.with(item, (*key).done)
	q.workQueue.Done(item)
}

// ShutDown implements workqueue.TypedInterface. Which of the keys that are ready are still
// dequeued, the runtime would choose; so none is.
//
// The real queue is shut down at the next quiet moment. Until controller-runtime 0.25, its priority
// queue stops for good, and holds its lock, if it is handing out a key just then and the worker
// prefers the end: the runtime would choose between the two.
func (q *queue) ShutDown() { q.shut(q.workQueue.ShutDown) }

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
	q.waiters.dismiss()
	q.mu.Lock()
	q.down, q.closing = true, closing
	q.adds, q.later = nil, nil
	q.keys.shut()
	q.mu.Unlock()
	q.waiters.Sched.Wake()
}

// mapsAgain reports whether the caller adds a key in a handler that calls a mapping function again
// after that, with no function of the program on the stack.
func mapsAgain() (update bool) {
	const runtimePackages = "sigs.k8s.io/controller-runtime/pkg/"
	pcs := make([]uintptr, 24)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		name, library := strings.CutPrefix(f.Function, runtimePackages)
		switch {
		case strings.HasPrefix(name, "internal/source.(*EventHandler"):
			return update
		case strings.HasPrefix(name, "handler.(*enqueueRequestsFromMapFunc") && strings.HasSuffix(name, ").Update"):
			update = true
		case !library && !ofQueue(f.Function):
			return false
		}
	}
	return false
}

// ofQueue reports whether a function is a method of the observer around a queue.
func ofQueue(name string) bool {
	_, name, _ = strings.Cut(name, "/sim/internal/process.")
	return strings.HasPrefix(name, "(*queue).") || strings.HasPrefix(name, "priorityQueue.") ||
		strings.HasPrefix(name, "(*priorityQueue).")
}

// limiter tells the observer which delay the real rate limiter has chosen.
type limiter struct {
	rateLimiter
	q *queue
}

func (l *limiter) When(item request) time.Duration {
	d := l.rateLimiter.When(item)
	if l.q != nil {
		l.note(item, d)
		d = l.q.waiters.realDelay(d)
	}
	return d
}

// note notes a rate-limited add. If it has a delay as well, the shorter one counts
// (priorityqueue.go, lockedAddWithOpts).
func (l *limiter) note(item request, d time.Duration) {
	q := l.q
	q.mu.Lock()
	defer q.mu.Unlock()
	k := q.keys.of(item)
	if len(k.bounds) > 0 {
		if bound := k.bounds[0]; bound != 0 {
			d = min(d, bound)
		}
		k.bounds = k.bounds[1:]
	}
	switch {
	case q.down:
	case d <= 0: // the key is ready at once
		k.ready(cause{at: q.waiters.Sched.Now(), what: history.Cause{Kind: history.CauseRateLimited}})
	default:
		q.waiters.noteWait(d)
		q.keys.after(item, timer{history.CauseBackOff, d, q.waiters.Sched.Now() + d})
	}
}
