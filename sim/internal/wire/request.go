package wire

import (
	"net/http"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
)

// effect is the first leg: the request arrives and takes effect.
func (c *Network) effect(call *Call) {
	r := c.observer.Arrive(call)
	switch {
	case r.Kill:
		call.Port.Owner.Kill()
	case r.Hold:
		c.park(call, "held request", func() { c.effect(call) })
	case r.Lose != nil: // lost on the way: it does not take effect
		c.answer(call, r)
	case r.Answer != nil:
		call.Response = r.Answer
		c.recordAnswer(call, r.Answer, true)
		c.answer(call, r)
	default:
		if call.Host != "" {
			if err := c.findHandler(call); err != nil {
				c.answer(call, Ruling{Lose: err})
				return
			}
		}
		c.serve(call, func() {
			if r.Again && call.Host != "" {
				call.Response = c.serveOutside(call)
			}
			c.landed(call, r)
		})
	}
}

// serve lets the request take effect and calls then: at once, or when webhooks have answered.
func (c *Network) serve(call *Call, then func()) {
	if call.Host != "" {
		call.Response = c.serveOutside(call)
		then()
		return
	}
	ex := c.Hosts.begin(call.Cluster, &call.Request)
	if ex.Response == nil {
		c.waiting = append(c.waiting, ex)
	}
	c.advance(call, ex, then)
}

func (c *Network) advance(call *Call, ex *apiserver.Exchange, then func()) {
	if ex.Response == nil {
		if changes := ex.Committed(); len(changes) > 0 {
			c.recordEffect(call, &apiserver.Response{Code: http.StatusOK, Changes: changes})
		}
		c.askAll(call, ex, func() { c.advance(call, ex, then) })
		return
	}
	c.forgetExchange(ex)
	call.Response = ex.Response
	c.recordEffect(call, call.Response)
	then()
}

// recordEffect records what a request has done, and tells the watch streams and the observer.
func (c *Network) recordEffect(call *Call, resp *apiserver.Response) {
	c.record(call, resp)
	if len(resp.Changes) > 0 {
		c.Watches.Pump()
	}
	if call.Cluster == "" {
		for _, ch := range resp.Changes {
			c.observer.Committed(ch)
		}
	}
}

// landed sends the answer to a request that has taken effect, unless the rules say otherwise.
func (c *Network) landed(call *Call, r Ruling) {
	landed := c.observer.Landed(call)
	if landed.Kill {
		call.Port.Owner.Kill()
		return
	}
	if landed.Answer != nil {
		call.Response = landed.Answer
	}
	if landed.Seen == nil {
		landed.Seen = r.Seen
	}
	c.answer(call, landed)
}

// answer sends the reply, or what the ruling puts in its place.
func (c *Network) answer(call *Call, r Ruling) {
	c.park(call, "reply", func() {
		if call.over {
			return
		}
		call.over = true
		o := outcome{response: call.Response, err: r.Lose}
		e := c.event(call, history.Reply)
		e.Call = call.event
		if r.Lose != nil {
			e.Note = r.Lose.Error()
			if e.Call < 0 {
				e.Sent = call.Request.Body // no other event has it
			}
		} else {
			e.Code = call.Response.Code
		}
		c.History.Add(e)
		if o.err == nil && call.Response.Watch != nil && call.http.Context().Err() == nil {
			o.stream = c.Watches.open(call).body
		}
		c.Watches.lost.replied(call, o.err == nil && call.Response.Code < http.StatusBadRequest, c.History.Len()-1)
		c.forget(call)
		if r.Seen != nil {
			r.Seen()
		}
		c.Sched.SetCurrent(call.cause(history.CauseReply))
		call.reply <- o
	})
}
