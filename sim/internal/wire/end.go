package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
)

// This file is about the end: of a life, and of the run.

// Bury withdraws everything that a dead life was waiting for. Its calls stay parked: see [Cluster.Release].
func (c *Cluster) Bury(p *Port) {
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

// Dismiss lets the calls of a dead life return an error, one at a time, so that their goroutines can end.
func (c *Cluster) Dismiss(p *Port, wait func()) {
	for i := 0; i < len(c.calls); {
		call := c.calls[i]
		if call.Port != p {
			i++
			continue
		}
		c.calls = append(c.calls[:i], c.calls[i+1:]...)
		c.abort(call, wait)
	}
	c.unlinger(p, wait)
}

// abort lets a parked call return an error.
func (c *Cluster) abort(call *Call, wait func()) {
	select {
	case call.reply <- outcome{err: ErrDead}:
		wait()
	default:
	}
}

// Release ends the run: no request is served any more, and the calls that are still parked return an error, one at a
// time, so that their goroutines can end.
func (c *Cluster) Release(wait func()) {
	c.ending.Store(true)
	c.abandon()
	for len(c.calls) > 0 {
		call := c.calls[0]
		c.calls = c.calls[1:]
		c.abort(call, wait)
	}
	c.unlinger(nil, wait)
	for _, s := range append([]*Stream(nil), c.streams...) {
		s.body.end(io.EOF)
		c.close(s)
		wait()
	}
}

// lingers says whether a call of a dead life waits until its goroutines may end; every other one is refused.
//
// An error would have the recorder draw the dice to know when to try again, and then choose again: the lives after it would find the
// dice elsewhere from run to run. And it would have a leader lose its lease, of which controller-runtime takes note without a lock that
// its end, which waits for reconciles that have no answer, does not take either: a data race that no program has, as one that is dead
// writes nothing.
func (c *Call) lingers() bool { return c.recorder() || c.Idle() && calledBy("LeaderElector).renew.") }

// linger keeps such a call waiting.
func (p *Port) linger(call *Call) (*http.Response, error) {
	c := p.cluster
	c.mu.Lock()
	waits := !p.dismissed && !c.ending.Load()
	if waits {
		c.unheard = append(c.unheard, call)
	}
	c.mu.Unlock()
	if !waits {
		return nil, ErrDead
	}
	ctx := call.http.Context()
	select {
	case <-call.reply:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) { // nobody asked it to end
			<-call.reply
		}
	}
	return nil, ErrDead
}

// unlinger lets such calls go on, those of one port or, for nil, all.
func (c *Cluster) unlinger(p *Port, wait func()) {
	var ending []*Call
	c.mu.Lock()
	if p != nil {
		p.dismissed = true
	}
	c.unheard = slices.DeleteFunc(c.unheard, func(call *Call) bool {
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
