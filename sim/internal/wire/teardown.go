package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
)

// This file ends incarnations, and the run.

// Bury ends an incarnation: it withdraws everything that the incarnation waits for. Its calls stay
// blocked, see [Network.Release].
func (c *Network) Bury(p *Port) {
	p.Die()
	for _, call := range append([]*Call(nil), c.calls...) {
		if call.server == p {
			call.lost()
		}
	}
	for _, call := range c.calls {
		if call.Port == p {
			call.mu.Lock()
			if call.action != nil {
				c.Sched.Drop(call.action)
			}
			call.mu.Unlock()
		}
	}
	for _, s := range append([]*Stream(nil), c.streams...) {
		if s.Port == p {
			c.close(s)
		}
	}
}

// Dismiss lets the calls of a dead incarnation return an error, one at a time, so that their
// goroutines can end.
func (c *Network) Dismiss(p *Port, wait func()) {
	for i := 0; i < len(c.calls); {
		call := c.calls[i]
		if call.Port != p {
			i++
			continue
		}
		c.calls = append(c.calls[:i], c.calls[i+1:]...)
		c.abort(call, wait)
	}
	c.releaseLingering(p, wait)
}

// abort lets a parked call return an error.
func (c *Network) abort(call *Call, wait func()) {
	select {
	case call.reply <- outcome{err: ErrDead}:
		wait()
	default:
	}
}

// Release ends the run: no request is served any more. The calls that are still blocked return an
// error, one at a time, so that their goroutines can end.
func (c *Network) Release(wait func()) {
	c.ending.Store(true)
	c.abandon()
	for len(c.calls) > 0 {
		call := c.calls[0]
		c.calls = c.calls[1:]
		c.abort(call, wait)
	}
	c.releaseLingering(nil, wait)
	for _, s := range append([]*Stream(nil), c.streams...) {
		s.body.end(io.EOF)
		c.close(s)
		wait()
	}
}

// lingers says whether a call of a dead incarnation waits until its goroutines may end. Every other
// one is refused.
//
//   - After an error the event recorder draws a random number, to know when to try again. Later
//     incarnations would get other random numbers from run to run.
//   - After an error a leader loses its lease. controller-runtime notes that without a mutex while
//     it stops, which is a data race. No real process has it, as a killed one notes nothing.
func (c *Call) lingers() bool { return c.recorder() || c.Idle() && calledBy("LeaderElector).renew.") }

// linger blocks such a call.
func (p *Port) linger(call *Call) (*http.Response, error) {
	c := p.network
	c.mu.Lock()
	waits := !p.dismissed && !c.ending.Load()
	if waits {
		c.lingering = append(c.lingering, call)
	}
	c.mu.Unlock()
	if !waits {
		return nil, ErrDead
	}
	ctx := call.http.Context()
	select {
	case <-call.reply:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) { // it was not cancelled
			<-call.reply
		}
	}
	return nil, ErrDead
}

// releaseLingering lets such calls go on: those of one port or, for nil, all.
func (c *Network) releaseLingering(p *Port, wait func()) {
	var ending []*Call
	c.mu.Lock()
	if p != nil {
		p.dismissed = true
	}
	c.lingering = slices.DeleteFunc(c.lingering, func(call *Call) bool {
		ends := p == nil || call.Port == p
		if ends {
			ending = append(ending, call)
		}
		return ends
	})
	c.mu.Unlock()
	for _, call := range ending {
		c.abort(call, wait)
	}
}
