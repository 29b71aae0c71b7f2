package process

import (
	"sync"
	"sync/atomic"

	"github.com/wavetank/wavetank/sim/internal/sched"
)

// waiters are the goroutines of an incarnation that the harness blocks.
type waiters struct {
	*core
	exit   func(err error) // ends the incarnation; called on the scheduling goroutine
	ending atomic.Bool     // no key is dequeued any more

	mu       sync.Mutex
	blocked  []waiter
	released bool
}

// waiter is a goroutine that is blocked until its action happens.
type waiter struct {
	action  *sched.Action
	granted chan bool // gets false when the run is over
	ofKey   bool      // the action is the dequeue of a key
}

// add registers a waiter. It returns false if the waiter is not to wait.
func (w *waiters) add(a *sched.Action, granted chan bool, ofKey bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.released || ofKey && w.ending.Load() { // under the mutex, or it could miss the end of dequeues
		return false
	}
	w.blocked = append(w.blocked, waiter{a, granted, ofKey})
	return true
}

// remove forgets a waiter that continues.
func (w *waiters) remove(a *sched.Action) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for at, h := range w.blocked {
		if h.action == a {
			w.blocked = append(w.blocked[:at], w.blocked[at+1:]...)
			return
		}
	}
}

// await parks an action and blocks until it has happened. It returns false if the run is over, or
// if the action is the dequeue of a key and the incarnation dequeues none any more.
func (w *waiters) await(a *sched.Action, ofKey bool) bool {
	granted, do := make(chan bool, 1), a.Do
	a.Do = func() {
		if do != nil {
			do()
		}
		granted <- true
	}
	if !w.add(a, granted, ofKey) {
		return false
	}
	if !w.Port.Dead() { // else it stays blocked until the run ends
		w.Sched.Park(a)
	}
	ok := <-granted
	w.remove(a)
	return ok
}

// awaitQuiet blocks until something is sent, at the next quiet moment. It returns false when the
// run is over.
func (w *waiters) awaitQuiet(quiet chan bool) bool {
	a := &sched.Action{}
	if !w.add(a, quiet, false) {
		return false
	}
	w.Sched.Wake()
	again := <-quiet
	w.remove(a)
	return again
}

// stay blocks until the run ends. Before that, last is called on the scheduling goroutine.
func (w *waiters) stay(order string, last func()) {
	gone := make(chan bool, 1)
	if w.add(&sched.Action{}, gone, false) {
		w.Sched.Note(order, last)
		<-gone
	}
}

// catch ends the incarnation of a goroutine that panics. The goroutine stays blocked until the run
// ends. It must be deferred.
func (w *waiters) catch() {
	if v := recover(); v != nil {
		err := &PanicError{Value: v, Stack: stack()}
		w.stay(w.Name()+" panic", func() { w.exit(err) })
	}
}

// dismiss lets an incarnation that is ending begin no reconcile any more. In production it may: a
// work queue that is shut down chooses at random between the next key and its end, and much of
// client-go chooses between an answer and a context that is done. Any goroutine may call it: a
// program may end without being asked to, for example because one of its runnables has failed.
func (w *waiters) dismiss() {
	w.ending.Store(true)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.blocked {
		if h.ofKey && w.Sched.Drop(h.action) {
			h.granted <- false
		}
	}
}

// drop withdraws the actions of all waiters.
func (w *waiters) drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.blocked {
		w.Sched.Drop(h.action)
	}
}

// release lets no goroutine wait any more. It returns those that do.
func (w *waiters) release() []waiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	blocked := w.blocked
	w.released, w.blocked = true, nil
	return blocked
}
