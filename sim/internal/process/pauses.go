package process

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
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

// pauses are the event handlers of an incarnation that wait after an addition.
type pauses struct {
	*waiters

	mu      sync.Mutex
	waiting []waitingHandler // until the next quiet moment
}

// waitingHandler is a handler that has added a key and has not continued.
type waitingHandler struct {
	key     string
	working *atomic.Bool  // whether the controller has workers
	action  *sched.Action // lets it continue after a pause
	granted chan bool
}

// wait is called by a handler that maps again, after it has added a key.
func (p *pauses) wait(key history.Key, working *atomic.Bool) {
	h := waitingHandler{key.String(), working, &sched.Action{}, make(chan bool, 1)}
	if !p.add(h.action, h.granted, false) {
		return
	}
	p.mu.Lock()
	p.waiting = append(p.waiting, h)
	p.mu.Unlock()
	p.Sched.Wake()
	<-h.granted
	p.remove(h.action)
}

// flush lets the waiting handlers continue, or pause if a choice says so. Those that have added the
// same key are interchangeable. It is called at each quiet moment, and reports whether one
// continues.
func (p *pauses) flush() (woke bool) {
	p.mu.Lock()
	waiting := p.waiting
	p.waiting = nil
	p.mu.Unlock()
	slices.SortStableFunc(waiting, func(a, b waitingHandler) int { return strings.Compare(a.key, b.key) })
	for len(waiting) > 0 {
		n := 1
		for n < len(waiting) && waiting[n].key == waiting[0].key {
			n++
		}
		woke = p.continueOrPause(waiting[:n]) || woke
		waiting = waiting[n:]
	}
	return woke
}

// continueOrPause makes the choice for handlers that have added the same key. It reports whether
// they continue.
func (p *pauses) continueOrPause(same []waitingHandler) bool {
	key := same[0].key
	actor := p.Port.Actor("handler of " + key)
	var pause time.Duration
	if same[0].working.Load() {
		label := story.Label{Kind: story.Handler, Who: p.Port.Process, Verb: "add", What: key}
		pause = handlerPauses[p.Sched.Choices.Pace(label, actor, len(handlerPauses), 6)]
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
	e := p.Wire.Event(p.Port, history.HandlerPause)
	e.Note = fmt.Sprintf("pauses for %v in an event handler that has added %s", pause, key)
	p.History.Add(e)
	a := same[0].action
	a.Order, a.Actor, a.Do = p.Name()+" handler "+key, actor, grant
	a.What = func() string { return "the rest of an event handler of " + p.Name() + " that has added " + key }
	a.Delay = func() time.Duration { return pause }
	p.Sched.Park(a)
	return false
}
