package wire

// This file ends incarnations, and the run.

// Bury ends an incarnation: it withdraws everything that the incarnation waits for. Its calls stay
// blocked, see [Network.Release].
func (n *Network) Bury(p *Port) {
	p.Die()
	for _, call := range append([]*Call(nil), n.calls...) {
		if call.server == p {
			call.lost()
		}
	}
	for _, call := range n.calls {
		if call.Port == p {
			call.mu.Lock()
			if call.action != nil {
				n.Sched.Drop(call.action)
			}
			call.mu.Unlock()
		}
	}
	n.Watches.bury(p)
}

// Dismiss lets the calls of a dead incarnation return an error, one at a time, so that their
// goroutines can end.
func (n *Network) Dismiss(p *Port, wait func()) {
	for i := 0; i < len(n.calls); {
		call := n.calls[i]
		if call.Port != p {
			i++
			continue
		}
		n.calls = append(n.calls[:i], n.calls[i+1:]...)
		call.abort(wait)
	}
	n.releaseLingering(p, wait)
}

// releaseLingering lets the lingering calls of one port, or for nil of all, return.
func (n *Network) releaseLingering(p *Port, wait func()) {
	for _, call := range n.lingering.release(p) {
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
func (n *Network) Release(wait func()) {
	n.ending.Store(true)
	n.steps.stop()
	for _, ex := range n.waiting {
		ex.Abandon()
	}
	n.waiting = nil
	for len(n.calls) > 0 {
		call := n.calls[0]
		n.calls = n.calls[1:]
		call.abort(wait)
	}
	n.releaseLingering(nil, wait)
	n.Watches.release(wait)
}
