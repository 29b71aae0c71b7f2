package wire

import (
	"fmt"
	"slices"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// park lets the next leg of the call wait for its step.
func (n *Network) park(call *Call, leg string, do func()) {
	a := &sched.Action{
		Order: call.order(),
		Actor: call.Actor(),
		What:  func() string { return fmt.Sprintf("%s of %s by %s", leg, call, call.Port.Name()) },
		Delay: func() time.Duration {
			if (leg == "request" || leg == "end") && !slices.Contains(n.calls, call) {
				n.calls = append(n.calls, call)
			}
			switch {
			case leg != "reply" && leg != "held request" && call.Port.Dead():
				// It was sent, or it ended, in the phase in which its incarnation ended. That may
				// be chance (see [Call.recorder]), so it is no step, and no choice is made for it.
				call.mu.Lock()
				n.Sched.Drop(call.action)
				call.mu.Unlock()
				return 0
			case leg == "held request" || leg == "end":
				return 0
			}
			return n.observer.Latency(call, story.Kind(leg))
		},
		Do:   do,
		Idle: call.Idle(), Chatter: call.Ref().Chatter(),
	}
	call.mu.Lock()
	call.action = a
	call.mu.Unlock()
	n.Sched.Park(a)
}

// forget takes a call out of those in flight.
func (n *Network) forget(call *Call) {
	for i, other := range n.calls {
		if other == call {
			n.calls = append(n.calls[:i], n.calls[i+1:]...)
			return
		}
	}
}

// giveUp withdraws a call whose context has ended. Its end is a step of its own: one context may
// end many calls, and Go goes through a context's children in map order.
func (n *Network) giveUp(call *Call, err error) {
	call.mu.Lock()
	if call.action != nil && !call.sent {
		n.Sched.Drop(call.action)
	}
	call.mu.Unlock()
	n.park(call, "end", func() {
		if call.over || call.Port.Dead() {
			return // a dead caller's call stays parked until the run tears down
		}
		e := n.event(call, history.Reply)
		e.Note = "the caller gave up"
		e.Call = call.event
		if at := n.History.Add(e); call.event < 0 {
			n.noteCaller(at, call)
		}
		call.over = true
		n.forget(call)
		n.Sched.SetCurrent(call.cause(history.CauseCallEnd))
		call.reply <- outcome{err: err}
	})
}
