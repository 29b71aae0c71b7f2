package wire

import (
	"net/http"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
)

// effect is the first leg: the request arrives and takes effect.
func (n *Network) effect(call *Call) {
	r := n.observer.Arrive(call)
	switch {
	case r.Kill:
		call.Port.Owner.Kill()
	case r.Hold:
		n.park(call, "held request", func() { n.effect(call) })
	case r.Lose != nil: // lost on the way: it does not take effect
		n.answer(call, r)
	case r.Answer != nil:
		call.Response = r.Answer
		n.recordAnswer(call, r.Answer, true)
		n.answer(call, r)
	default:
		if call.Host != "" {
			if err := n.outside.findHandler(call); err != nil {
				n.answer(call, Ruling{Lose: err})
				return
			}
		}
		n.serve(call, func() {
			if r.Again && call.Host != "" {
				call.Response = n.outside.serve(call)
			}
			n.landed(call, r)
		})
	}
}

// serve lets the request take effect and calls then: at once, or when webhooks have answered.
func (n *Network) serve(call *Call, then func()) {
	if call.Host != "" {
		call.Response = n.outside.serve(call)
		then()
		return
	}
	if n.backend != nil && call.Cluster == "" && call.Info.Verb == "watch" {
		n.openAtBackend(call)
		n.recordEffect(call, call.Response)
		then()
		return
	}
	if n.backend != nil && call.Cluster == "" && n.backend.Admits() && call.Request.Method != http.MethodGet {
		n.waiting.perform(call, func() {
			n.recordEffect(call, call.Response)
			then()
		})
		return
	}
	ex := n.Hosts.begin(call.Cluster, &call.Request)
	if ex.Response == nil {
		n.webhooks.waiting = append(n.webhooks.waiting, ex)
	}
	n.advance(call, ex, then)
}

func (n *Network) advance(call *Call, ex *apiserver.Exchange, then func()) {
	if ex.Response == nil {
		if changes := ex.Committed(); len(changes) > 0 {
			n.recordEffect(call, &apiserver.Response{Code: http.StatusOK, Changes: changes})
		}
		n.webhooks.askAll(call, ex, func() { n.advance(call, ex, then) })
		return
	}
	n.webhooks.forget(ex)
	call.Response = ex.Response
	n.recordEffect(call, call.Response)
	then()
}

// recordEffect records what a request has done, and tells the watch streams and the observer.
func (n *Network) recordEffect(call *Call, resp *apiserver.Response) {
	n.record(call, resp)
	if len(resp.Changes) > 0 {
		n.Watches.Pump()
	}
	if call.Cluster == "" {
		for _, ch := range resp.Changes {
			n.observer.Committed(ch)
		}
	}
}

// landed sends the answer to a request that has taken effect, unless the rules say otherwise.
func (n *Network) landed(call *Call, r Ruling) {
	landed := n.observer.Landed(call)
	if landed.Kill {
		call.Port.Owner.Kill()
		return
	}
	if landed.Answer != nil {
		call.Response, call.events = landed.Answer, nil
	}
	if landed.Seen == nil {
		landed.Seen = r.Seen
	}
	n.answer(call, landed)
}

// answer sends the reply, or what the ruling puts in its place.
func (n *Network) answer(call *Call, r Ruling) {
	n.park(call, "reply", func() {
		if call.over {
			return
		}
		call.over = true
		o := outcome{response: call.Response, err: r.Lose}
		e := n.event(call, history.Reply)
		e.Call = call.event
		if r.Lose != nil {
			e.Note = r.Lose.Error()
			if e.Call < 0 {
				e.Sent = call.Request.Body // no other event has it
			}
		} else {
			e.Code = call.Response.Code
		}
		n.History.Add(e)
		if o.err == nil {
			o.response = n.passing.reply(call, o.response)
		}
		if o.err == nil && call.Watched() != nil && call.http.Context().Err() == nil {
			o.stream = n.Watches.open(call).body
		}
		n.Watches.lost.replied(call, o.err == nil && call.Response.Code < http.StatusBadRequest, n.History.Len()-1)
		n.calls.forget(call)
		if r.Seen != nil {
			r.Seen()
		}
		n.Sched.SetCurrent(call.cause(history.CauseReply))
		call.reply <- o
	})
}
