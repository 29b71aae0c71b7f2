package process

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// This file lets workers start while an event handler is still running.
//
// handler.EnqueueRequestsFromMapFunc calls the program's mapping function for the old object, adds
// the keys, and calls it again for the new object. In a cluster a worker may take a key before the
// second call. So such a handler waits at each addition for the next quiet moment, and a choice
// decides whether it continues at once, which is the default choice, or pauses.
//
// Only that handler waits, because nothing of the program is on the stack while it adds a key. A
// handler of the program's own may hold a mutex there.

// handlerPauses are how long a handler may pause.
var handlerPauses = []time.Duration{0, time.Millisecond, 20 * time.Millisecond}

// waitingHandler is a handler that has added a key and has not continued.
type waitingHandler struct {
	queue   *queue
	item    request
	action  *sched.Action // lets it continue after a pause
	granted chan bool
}

// label is the choice how long the handler pauses. Handlers of one label are interchangeable.
func (w *waitingHandler) label() story.Label {
	l := w.queue.incarnation
	return story.Label{Kind: story.Handler, Who: l.Process.Name, Verb: "add",
		What: w.queue.keyOf(w.item).String()}
}

// mapsAgain reports whether the caller adds a key in a handler that calls a mapping function again
// after that, with no function of the program on the stack.
func mapsAgain() (update bool) {
	const runtimePackages = "sigs.k8s.io/controller-runtime/pkg/"
	pcs := make([]uintptr, 24)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
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

// waitAfterAdd is called after a key was added. A handler that maps again waits there.
func (q *queue) waitAfterAdd(item request) {
	if !mapsAgain() {
		return
	}
	l := q.incarnation
	h := waitingHandler{q, item, &sched.Action{}, make(chan bool, 1)}
	l.mu.Lock()
	released := l.released
	if !released {
		l.handlers = append(l.handlers, h)
		l.waiters = append(l.waiters, waiter{h.action, h.granted, false})
	}
	l.mu.Unlock()
	if released {
		return
	}
	l.world.Sched.Wake()
	<-h.granted
	l.unblock(h.action)
}

// continueHandlers lets the waiting handlers continue, or pause if a choice says so. It is called
// at each quiet moment, and reports whether one continues.
func (i *Incarnation) continueHandlers() (woke bool) {
	i.mu.Lock()
	waiting := i.handlers
	i.handlers = nil
	i.mu.Unlock()
	slices.SortStableFunc(waiting, func(a, b waitingHandler) int {
		return strings.Compare(a.label().What, b.label().What)
	})
	for len(waiting) > 0 {
		label, n := waiting[0].label(), 1
		for n < len(waiting) && waiting[n].label() == label {
			n++
		}
		woke = i.continueOrPause(label, waiting[:n]) || woke
		waiting = waiting[n:]
	}
	return woke
}

// continueOrPause makes the choice for handlers of one label. It reports whether they continue.
func (i *Incarnation) continueOrPause(label story.Label, same []waitingHandler) bool {
	actor := choice.Actor{Process: i.Name(), Name: "handler of " + label.What}
	var pause time.Duration
	if q := same[0].queue; q.hooked != nil && q.hooked.working.Load() {
		pause = handlerPauses[i.world.Sched.Choices.Pace(label, actor, len(handlerPauses), 6)]
	}
	grant := func() {
		for _, h := range same {
			h.granted <- true
		}
	}
	if pause == 0 {
		grant()
		return true
	}
	e := i.event(history.HandlerPause)
	e.Note = fmt.Sprintf("pauses for %v in an event handler that has added %s", pause, label.What)
	i.world.History.Add(e)
	a := same[0].action
	a.Order, a.Actor, a.Do = i.Name()+" handler "+label.What, actor, grant
	a.What = func() string { return "the rest of an event handler of " + i.Name() + " that has added " + label.What }
	a.Delay = func() time.Duration { return pause }
	i.world.Sched.Park(a)
	return false
}
