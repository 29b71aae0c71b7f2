package wire

import (
	"fmt"
	"slices"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// calls are the requests in flight, in canonical order.
type calls struct {
	*recorder
	rules     Rules
	all       []*Call
	lingering lingering
}

// park lets the next leg of the call wait for its step.
func (c *calls) park(call *Call, leg string, do func()) {
	a := &sched.Action{
		Order:  call.order(),
		Actor:  call.Actor(),
		What:   func() string { return fmt.Sprintf("%s of %s by %s", leg, call, call.Port.Name()) },
		Detail: call.Description,
		Delay: func() time.Duration {
			if (leg == "request" || leg == "end") && !slices.Contains(c.all, call) {
				c.all = append(c.all, call)
			}
			switch {
			case leg != "reply" && leg != "held request" && call.Port.Dead():
				// It was sent, or it ended, in the phase in which its incarnation ended. That may
				// be chance (see [Call.recorder]), so it is no step, and no choice is made for it.
				call.mu.Lock()
				c.Sched.Drop(call.action)
				call.mu.Unlock()
				return 0
			case leg == "held request" || leg == "end":
				return 0
			}
			return c.rules.Latency(call, story.Kind(leg))
		},
		Do:   do,
		Idle: call.Idle(), Chatter: call.Ref().Chatter(),
	}
	call.mu.Lock()
	call.action = a
	call.mu.Unlock()
	c.Sched.Park(a)
}

// forget takes a call out of those in flight.
func (c *calls) forget(call *Call) {
	for i, other := range c.all {
		if other == call {
			c.all = append(c.all[:i], c.all[i+1:]...)
			return
		}
	}
}

// giveUp withdraws a call whose context has ended. Its end is a step of its own: one context may
// end many calls, and Go goes through a context's children in map order.
func (c *calls) giveUp(call *Call, err error) {
	call.mu.Lock()
	if call.action != nil && !call.sent {
		c.Sched.Drop(call.action)
	}
	call.mu.Unlock()
	c.park(call, "end", func() {
		if call.over || call.Port.Dead() {
			return // a dead caller's call stays parked until the run tears down
		}
		e := c.event(call, history.Reply)
		e.Note = "the caller gave up"
		e.Call = call.event
		if at := c.History.Add(e); call.event < 0 {
			c.noteCaller(at, call)
		}
		call.over = true
		c.forget(call)
		c.Sched.SetCurrent(call.cause(history.CauseCallEnd))
		call.reply <- outcome{err: err}
	})
}

// freeze lets what the process has sent arrive in any case.
func (c *calls) freeze(p *Port) {
	for _, call := range c.all {
		if call.Port == p && call.Writes() {
			call.sent = true
		}
	}
}

// bury withdraws the calls of a dead incarnation, and those of webhooks that it works on.
func (c *calls) bury(p *Port) {
	for _, call := range append([]*Call(nil), c.all...) {
		if call.server == p {
			call.lost()
		}
	}
	for _, call := range c.all {
		if call.Port == p {
			call.mu.Lock()
			if call.action != nil {
				c.Sched.Drop(call.action)
			}
			call.mu.Unlock()
		}
	}
}

// Dismiss lets the calls of a dead incarnation, or for nil all, return an error, one at a time, so
// that their goroutines can end.
func (c *calls) Dismiss(p *Port, wait func()) {
	for i := 0; i < len(c.all); {
		call := c.all[i]
		if p != nil && call.Port != p {
			i++
			continue
		}
		c.all = append(c.all[:i], c.all[i+1:]...)
		call.abort(wait)
	}
	for _, call := range c.lingering.release(p) {
		call.abort(wait)
	}
}

// abort lets a parked call return an error.
func (c *Call) abort(wait func()) {
	select {
	case c.reply <- outcome{err: ErrDead}:
		wait()
	default:
	}
}
