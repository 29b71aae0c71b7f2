package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// park lets the next leg of the call wait for its step.
func (c *Network) park(call *Call, leg string, do func()) {
	a := &sched.Action{
		Order: call.order(),
		Actor: call.Actor(),
		What:  func() string { return fmt.Sprintf("%s of %s by %s", leg, call, call.Port.Name()) },
		Delay: func() time.Duration {
			if (leg == "request" || leg == "end") && !slices.Contains(c.calls, call) {
				c.calls = append(c.calls, call)
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
			return c.observer.Latency(call, choice.Kind(leg))
		},
		Do:   do,
		Idle: call.Idle(),
	}
	call.mu.Lock()
	call.action = a
	call.mu.Unlock()
	c.Sched.Park(a)
}

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
	c.mu.Lock()
	ex := c.serverOf(call).Begin(&call.Request)
	c.mu.Unlock()
	if ex.Response == nil {
		c.admission.waiting = append(c.admission.waiting, ex)
	}
	c.advance(call, ex, then)
}

func (c *Network) advance(call *Call, ex *apiserver.Exchange, then func()) {
	if ex.Response == nil {
		if changes := ex.Committed(); len(changes) > 0 {
			c.recordEffect(call, &apiserver.Response{Code: http.StatusOK, Changes: changes})
		}
		c.askAll(call, ex, then)
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
		c.Pump()
	}
	if call.Cluster == "" {
		for _, ch := range resp.Changes {
			c.observer.Committed(ch)
		}
	}
}

func (c *Network) forgetExchange(ex *apiserver.Exchange) {
	for i, other := range c.admission.waiting {
		if other == ex {
			c.admission.waiting = append(c.admission.waiting[:i], c.admission.waiting[i+1:]...)
			return
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
			o.stream = c.open(call)
		}
		c.noteReply(call, o.err == nil && call.Response.Code < http.StatusBadRequest)
		c.forget(call)
		if r.Seen != nil {
			r.Seen()
		}
		c.Sched.SetCurrent(call.cause(history.CauseReply))
		call.reply <- o
	})
}

// giveUp withdraws a call whose context has ended. Its end is a step of its own: one context may
// end many calls, and Go goes through a context's children in map order.
func (c *Call) giveUp(err error) {
	cl := c.Port.network
	c.mu.Lock()
	if c.action != nil && !c.sent {
		cl.Sched.Drop(c.action)
	}
	c.mu.Unlock()
	cl.park(c, "end", func() {
		if c.over || c.Port.Dead() {
			return // a dead caller's call stays parked until the run tears down
		}
		e := cl.event(c, history.Reply)
		e.Note = "the caller gave up"
		e.Call = c.event
		if at := cl.History.Add(e); c.event < 0 {
			cl.noteCaller(at, c)
		}
		c.over = true
		cl.forget(c)
		cl.Sched.SetCurrent(c.cause(history.CauseCallEnd))
		c.reply <- outcome{err: err}
	})
}

func (c *Network) forget(call *Call) {
	for i, other := range c.calls {
		if other == call {
			c.calls = append(c.calls[:i], c.calls[i+1:]...)
			return
		}
	}
}

func (c *Network) event(call *Call, k history.Kind) history.Event {
	if call.beside {
		c.beside[call.Port.Process] = c.Sched.Now()
	}
	return history.Event{
		Step: c.Sched.Steps(), At: c.Sched.Now(), Kind: k,
		Process: call.Port.Process, Incarnation: call.Port.Incarnation, Reconcile: call.Reconcile,
		Verb: call.Verb(), Ref: call.Ref(), Sub: call.Info.Subresource,
		Host: call.Host, Server: c.server.Revision(),
	}
}

// record writes the request down as it took effect.
func (c *Network) record(call *Call, resp *apiserver.Response) { c.recordAnswer(call, resp, false) }

// recordAnswer writes the request down with its answer, which may be a fault's.
func (c *Network) recordAnswer(call *Call, resp *apiserver.Response, injected bool) {
	e := c.event(call, history.Request)
	e.Injected = injected
	if call.Host != "" {
		e.Path = call.Request.URL.RequestURI()
	}
	e.Sent, e.Source = call.Request.Body, call.source
	if resp != nil {
		e.Code, e.Received = resp.Code, resp.Body
		for _, ch := range resp.Changes {
			e.Changes = append(e.Changes, change(ch, call.Cluster, c.Sched))
			e.Revision = ch.Revision
		}
		if len(resp.Changes) == 0 && call.Info.Name != "" && resp.Code < 300 {
			e.Revision = revisionOf(resp.Body)
		}
		if e.Ref.Name == "" && len(resp.Changes) == 1 { // of a create, whose URL has no name
			e.Ref.Name = resp.Changes[0].Name
		}
	}
	if e.Ref.Name == "" {
		e.Ref.Name = call.given()
	}
	call.event = c.History.Add(e)
	c.noteCaller(call.event, call)
}

// noteCaller notes from where and when the call was sent that an event is about.
func (c *Network) noteCaller(event int, call *Call) {
	if c.Callers != nil {
		c.Callers[event] = call.callers
	}
	if c.ByTimer != nil {
		c.ByTimer[event] = call.byTimer
	}
}

func change(ch apiserver.Change, cluster string, s *sched.Scheduler) history.Change {
	ref := history.Ref{Cluster: cluster, Group: ch.Group, Kind: ch.Kind, Namespace: ch.Namespace, Name: ch.Name}
	return history.Change{
		Type: ch.Type, Ref: ref,
		UID: ch.UID, Revision: ch.Revision, At: s.Now(), Object: ch.Object, Previous: ch.Previous,
	}
}

// revisionOf reads the resource version of an encoded object; 0 when it has none.
func revisionOf(object []byte) int64 {
	var o struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if json.Unmarshal(object, &o) != nil {
		return 0
	}
	n, _ := strconv.ParseInt(o.Metadata.ResourceVersion, 10, 64)
	return n
}
