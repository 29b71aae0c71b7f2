package wire

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// A request that webhooks must be asked about waits at the server. Each call of a webhook takes two
// steps, like any other request: it arrives, and its answer comes back. Between them the process
// that serves the webhook works on goroutines of its own, and may itself send requests.

// ServerName is the process name under which calls of the API server itself are recorded.
const ServerName = "kube-apiserver"

// askAll makes the calls that a request waits for, and resumes the exchange and calls then when all
// are answered.
func (c *Network) askAll(call *Call, ex *apiserver.Exchange, then func()) {
	left := len(ex.Calls)
	for _, w := range ex.Calls {
		c.ask(w, func() {
			if left--; left > 0 {
				return
			}
			if call.Port.Dead() { // its connection is gone: the server gives up
				c.forgetExchange(ex)
				ex.Abandon()
				return
			}
			c.Hosts.resume(ex)
			then()
		})
	}
}

// forgetExchange takes an exchange out of those that wait.
func (c *Network) forgetExchange(ex *apiserver.Exchange) {
	if i := slices.Index(c.waiting, ex); i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
	}
}

// webhookCall is one call of a webhook under way.
type webhookCall struct {
	*Call
	c        *Network
	asked    *apiserver.WebhookCall
	deadline *sched.Action
	cancel   context.CancelFunc
	over     bool
	done     func()
}

func (c *Network) ask(w *apiserver.WebhookCall, done func()) {
	u, err := url.Parse(w.Address())
	if err != nil {
		u = &url.URL{Scheme: "https", Host: w.Host(), Path: w.Path()}
	}
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}
	req := &http.Request{Method: http.MethodPost, URL: u, Host: u.Host, Header: header}
	call := &Call{
		Port: &Port{Process: ServerName}, Host: w.Host(), Webhook: w.Name,
		reply: make(chan outcome, 1), event: -1, http: req.WithContext(context.Background()),
		Request: apiserver.Request{Method: http.MethodPost, URL: u, Header: header, Body: w.Body},
	}
	h := &webhookCall{Call: call, c: c, asked: w, done: done, cancel: func() {}}
	call.lost = func() { h.reply(nil, errors.New("EOF")) }
	h.deadline = &sched.Action{
		Order: call.order() + " deadline",
		Actor: choice.Actor{Process: ServerName, Name: call.order() + " deadline"},
		What:  func() string { return "time-out of webhook " + w.Name },
		Own:   w.Timeout,
		Delay: func() time.Duration { return w.Timeout },
		Do: func() {
			h.cancel()
			h.finish(nil, context.DeadlineExceeded)
		},
	}
	c.Sched.Park(h.deadline)
	c.park(call, "request", h.arrive)
}

// arrive is the first leg: the call reaches an endpoint of the webhook.
func (h *webhookCall) arrive() {
	if h.over {
		return
	}
	c := h.c
	if r := c.observer.Webhook(h.Call); r.Lose != nil || r.Answer != nil {
		h.reply(r.Answer, r.Lose)
		return
	}
	hosts := []string{h.Host, h.Request.URL.Hostname()}
	for _, host := range hosts {
		if handler := c.Hosts.exact[host]; handler != nil {
			h.answerFrom(host, handler)
			return
		}
	}
	all := c.observer.Endpoints(h.asked.Service, h.asked.Path())
	if len(all) == 0 {
		// A process that serves the webhook comes before a host pattern and a model of Services.
		for _, host := range hosts {
			if handler := c.Hosts.handlerOf(c.Hosts.resolve(host, h.Request.URL.Scheme)); handler != nil {
				h.answerFrom(host, handler)
				return
			}
		}
		h.reply(nil, fmt.Errorf("dial tcp %s: connect: connection refused", cmp.Or(h.Request.URL.Host, h.Host)))
		return
	}
	at := all[c.Sched.Choices.Choose(choice.Label{Kind: choice.Endpoint, What: h.Host}, len(all))]
	if at.Port.Frozen() { // the call waits until it goes on
		at.Port.Await(&sched.Action{
			Order: at.Port.Name() + " webhook " + h.order(),
			Actor: choice.Actor{Process: at.Port.Name(), Name: "webhook " + h.order()},
			What:  func() string { return "call of webhook " + h.asked.Name + " at " + at.Port.Name() },
			Do:    h.arrive,
		})
		return
	}
	h.server = at.Port
	ctx, cancel := context.WithCancel(at.Context)
	h.cancel = cancel
	req := h.http.Clone(ctx)
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(h.Request.Body)), int64(len(h.Request.Body))
	req.RequestURI = h.Request.URL.RequestURI()
	c.Sched.SetCurrent(history.Cause{Kind: history.CauseWebhook, Of: h.asked.Name})
	at.Go(func() { h.reply(handled(at.Handler, req)) })
}

// answerFrom lets the model of an outside service answer the call.
func (h *webhookCall) answerFrom(host string, handler http.Handler) {
	h.Host, h.handler = host, handler
	h.reply(h.c.serveOutside(h.Call), nil)
}

// handled serves a request as net/http's server does, which closes the connection when a handler
// panics.
func handled(handler http.Handler, req *http.Request) (resp *apiserver.Response, err error) {
	defer func() {
		if v := recover(); v != nil {
			resp, err = nil, fmt.Errorf("%w (its handler panicked: %v)", io.EOF, v)
		}
	}()
	w := &answerWriter{header: http.Header{}, code: http.StatusOK}
	handler.ServeHTTP(w, req)
	return &apiserver.Response{Code: w.code, Header: w.header, Body: sortPatch(w.body.Bytes())}, nil
}

// reply sends the answer on its way back, or the error that comes in its place. Any goroutine may
// call it.
func (h *webhookCall) reply(resp *apiserver.Response, err error) {
	h.c.park(h.Call, "reply", func() { h.finish(resp, err) })
}

// finish is the second leg: the server gets the answer.
func (h *webhookCall) finish(resp *apiserver.Response, err error) {
	if h.over {
		return
	}
	h.over = true
	c := h.c
	c.Sched.Drop(h.deadline)
	h.mu.Lock()
	if h.action != nil {
		c.Sched.Drop(h.action)
	}
	h.mu.Unlock()
	c.forget(h.Call)
	answer := apiserver.WebhookAnswer{Err: err}
	if err != nil {
		e := c.event(h.Call, history.Reply)
		e.Path, e.Note, e.Call = h.asked.Path(), err.Error(), h.event
		c.History.Add(e)
	} else {
		answer.Code, answer.Body = resp.Code, resp.Body
		if h.event < 0 { // an outside model has recorded it already
			c.record(h.Call, resp)
		}
	}
	h.asked.Answered(answer)
	h.done()
}
