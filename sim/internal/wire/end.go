package wire

import (
	"io"
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
	for _, s := range append([]*Stream(nil), c.streams...) {
		s.body.end(io.EOF)
		c.close(s)
		wait()
	}
}
