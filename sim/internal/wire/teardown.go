package wire

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
	c.Watches.bury(p)
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
		call.abort(wait)
	}
	c.releaseLingering(p, wait)
}

// releaseLingering lets the lingering calls of one port, or for nil of all, return.
func (c *Network) releaseLingering(p *Port, wait func()) {
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

// Release ends the run: no request is served any more. The calls that are still blocked return an
// error, one at a time, so that their goroutines can end.
func (c *Network) Release(wait func()) {
	c.ending.Store(true)
	c.steps.stop()
	for _, ex := range c.waiting {
		ex.Abandon()
	}
	c.waiting = nil
	for len(c.calls) > 0 {
		call := c.calls[0]
		c.calls = c.calls[1:]
		call.abort(wait)
	}
	c.releaseLingering(nil, wait)
	c.Watches.release(wait)
}
