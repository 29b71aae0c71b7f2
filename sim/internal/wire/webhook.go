package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// A request that webhooks must be asked about waits at the server. Each call of a webhook takes two
// steps, like any other request: it arrives, and its answer comes back. Between them the process
// that serves the webhook works on goroutines of its own, and may itself send requests.

// ServerName is the process name under which calls of the API server itself are recorded.
const ServerName = "kube-apiserver"

// webhooks are the requests that wait for webhooks.
type webhooks struct {
	*calls
	outside  *outside
	observer Observer
	waiting  []*apiserver.Exchange
}

// askAll makes the calls that a request waits for, and resumes the exchange and calls then when all
// are answered.
func (w *webhooks) askAll(call *Call, ex *apiserver.Exchange, then func()) {
	left := len(ex.Calls)
	for _, hook := range ex.Calls {
		w.ask(hook, func(answer apiserver.WebhookAnswer) {
			hook.Answered(answer)
			if left--; left > 0 {
				return
			}
			if call.Port.Dead() { // its connection is gone: the server gives up
				w.forget(ex)
				ex.Abandon()
				return
			}
			w.outside.hosts.resume(ex)
			then()
		})
	}
}

// forget takes an exchange out of those that wait.
func (w *webhooks) forget(ex *apiserver.Exchange) {
	if i := slices.Index(w.waiting, ex); i >= 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
	}
}

// abandon gives up all requests that wait.
func (w *webhooks) abandon() {
	for _, ex := range w.waiting {
		ex.Abandon()
	}
	w.waiting = nil
}

// webhookCall is one call of a webhook under way.
type webhookCall struct {
	*Call
	webhooks *webhooks
	asked    *apiserver.WebhookCall
	deadline *sched.Action
	cancel   context.CancelFunc
	over     bool
	done     func(apiserver.WebhookAnswer)
}

func (w *webhooks) ask(hook *apiserver.WebhookCall, done func(apiserver.WebhookAnswer)) {
	u, err := url.Parse(hook.Address())
	if err != nil {
		u = &url.URL{Scheme: "https", Host: hook.Host(), Path: hook.Path()}
	}
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}
	req := &http.Request{Method: http.MethodPost, URL: u, Host: u.Host, Header: header}
	call := &Call{
		Port: &Port{Process: ServerName}, Host: hook.Host(), Webhook: hook.Name,
		reply: make(chan outcome, 1), event: -1, http: req.WithContext(context.Background()),
		Request: apiserver.Request{Method: http.MethodPost, URL: u, Header: header, Body: hook.Body},
	}
	h := &webhookCall{Call: call, webhooks: w, asked: hook, done: done, cancel: func() {}}
	call.lost = func() { h.reply(nil, errors.New("EOF")) }
	h.deadline = &sched.Action{
		Order: call.order() + " deadline",
		Actor: choice.Actor{Process: ServerName, Name: call.order() + " deadline"},
		What:  func() string { return "time-out of webhook " + hook.Name },
		Own:   hook.Timeout,
		Delay: func() time.Duration { return hook.Timeout },
		Do: func() {
			h.cancel()
			h.finish(nil, context.DeadlineExceeded)
		},
	}
	w.Sched.Park(h.deadline)
	w.park(call, "request", h.arrive)
}

// arrive is the first leg: the call reaches an endpoint of the webhook.
func (w *webhookCall) arrive() {
	if w.over {
		return
	}
	c := w.webhooks
	if r := c.observer.Webhook(w.Call); r.Lose != nil || r.Answer != nil {
		w.reply(r.Answer, r.Lose)
		return
	}
	hosts := []string{w.Host, w.Request.URL.Hostname()}
	for _, host := range hosts {
		if handler := c.outside.hosts.exact[host]; handler != nil {
			w.answerFrom(host, handler)
			return
		}
	}
	all := c.observer.Endpoints(w.asked.Service, w.asked.Path())
	if len(all) == 0 {
		// A process that serves the webhook comes before a host pattern and a model of Services.
		for _, host := range hosts {
			hosts := c.outside.hosts
			if handler := hosts.handlerOf(hosts.resolve(host, w.Request.URL.Scheme)); handler != nil {
				w.answerFrom(host, handler)
				return
			}
		}
		w.reply(nil, fmt.Errorf("dial tcp %s: connect: connection refused", cmp.Or(w.Request.URL.Host, w.Host)))
		return
	}
	at := all[c.Sched.Choices.Choose(story.Label{Kind: story.Endpoint, What: w.Host}, len(all))]
	if at.Port.Frozen() { // the call waits until it resumes
		at.Port.Await(&sched.Action{
			Order: at.Port.Name() + " webhook " + w.order(),
			Actor: at.Port.Actor("webhook " + w.order()),
			What:  func() string { return "call of webhook " + w.asked.Name + " at " + at.Port.Name() },
			Do:    w.arrive,
		})
		return
	}
	w.server = at.Port
	ctx, cancel := context.WithCancel(at.Context)
	w.cancel = cancel
	req := w.http.Clone(ctx)
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(w.Request.Body)), int64(len(w.Request.Body))
	req.RequestURI = w.Request.URL.RequestURI()
	c.Sched.SetCurrent(history.Cause{Kind: history.CauseWebhook, Of: w.asked.Name})
	at.Go(func() { w.reply(handled(at.Handler, req)) })
}

// answerFrom lets the model of an outside service answer the call.
func (w *webhookCall) answerFrom(host string, handler http.Handler) {
	w.Host, w.handler = host, handler
	w.reply(w.webhooks.outside.serve(w.Call), nil)
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
func (w *webhookCall) reply(resp *apiserver.Response, err error) {
	w.webhooks.park(w.Call, "reply", func() { w.finish(resp, err) })
}

// finish is the second leg: the server gets the answer.
func (w *webhookCall) finish(resp *apiserver.Response, err error) {
	if w.over {
		return
	}
	w.over = true
	c := w.webhooks.calls
	c.Sched.Drop(w.deadline)
	w.mu.Lock()
	if w.action != nil {
		c.Sched.Drop(w.action)
	}
	w.mu.Unlock()
	c.forget(w.Call)
	answer := apiserver.WebhookAnswer{Err: err}
	if err != nil {
		e := c.event(w.Call, history.Reply)
		e.Path, e.Note, e.Call = w.asked.Path(), err.Error(), w.event
		c.History.Add(e)
	} else {
		answer.Code, answer.Body = resp.Code, resp.Body
		if w.event < 0 { // an outside model has recorded it already
			c.record(w.Call, resp)
		}
	}
	w.done(answer)
}

// sortPatch sorts the operations of the patch in a webhook's answer, where they mean the same in
// any order. controller-runtime makes patches with gomodules.xyz/jsonpatch, which goes through
// objects in map order. Two runs of a correct webhook would send different bytes.
func sortPatch(body []byte) []byte {
	if !bytes.Contains(body, []byte(`"patch"`)) {
		return body
	}
	var review, response map[string]json.RawMessage
	var patch []byte
	var raw []json.RawMessage
	if json.Unmarshal(body, &review) != nil || json.Unmarshal(review["response"], &response) != nil ||
		json.Unmarshal(response["patch"], &patch) != nil || json.Unmarshal(patch, &raw) != nil {
		return body // the API server will say what is wrong with it
	}
	ops := make([]operation, len(raw))
	for i, r := range raw {
		var o struct{ Op, Path string }
		if json.Unmarshal(r, &o) != nil || !strings.HasPrefix(o.Path, "/") {
			return body
		}
		if !slices.Contains([]string{"add", "remove", "replace"}, o.Op) {
			return body // the others are about more than one place
		}
		ops[i] = operation{strings.Split(o.Path[1:], "/"), r}
	}
	sortOperations(ops, 0)
	for i := range ops {
		raw[i] = ops[i].raw
	}
	patch, _ = json.Marshal(raw) // all of it has just been read
	response["patch"], _ = json.Marshal(patch)
	review["response"], _ = json.Marshal(response)
	body, _ = json.Marshal(review)
	return body
}

type operation struct {
	path []string
	raw  json.RawMessage
}

// sortOperations sorts operations whose paths are equal up to depth, by the part at depth.
// Operations on different fields of an object can be done in any order. Those on an array, or on an
// object and on a field of it, cannot.
func sortOperations(ops []operation, depth int) {
	if len(ops) < 2 || slices.ContainsFunc(ops, func(o operation) bool { return len(o.path) <= depth }) {
		return
	}
	if slices.ContainsFunc(ops, func(o operation) bool { return !isIndex(o.path[depth]) }) {
		slices.SortStableFunc(ops, func(a, b operation) int { return strings.Compare(a.path[depth], b.path[depth]) })
	}
	for len(ops) > 0 {
		n := 1
		for n < len(ops) && ops[n].path[depth] == ops[0].path[depth] {
			n++
		}
		sortOperations(ops[:n], depth+1)
		ops = ops[n:]
	}
}

// isIndex reports whether a part of a path may be the index of an array.
func isIndex(part string) bool {
	return part == "-" || strings.Trim(part, "0123456789") == ""
}
