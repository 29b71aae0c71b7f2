package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"runtime"

	jsonpatch "github.com/evanphx/json-patch"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
)

// transport carries the requests of one port.
type transport struct {
	*Network
	port *Port
}

// NewPort returns the end of the wire for one incarnation of a process.
func (n *Network) NewPort(process string, incarnation int) *Port {
	none := func(context.Context) (r history.Reconcile) { return r }
	p := &Port{Process: process, Incarnation: incarnation, sched: n.Sched, Attribute: none}
	p.carrier = transport{n, p}
	if n.Far != nil {
		p.carrier = farCarrier{n.Far, p}
	}
	return p
}

func (t transport) freeze() { t.calls.freeze(t.port) }

// call reads a request and its subject.
func (t transport) call(req *http.Request) (*Call, error) {
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		req.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	call := &Call{
		Port: t.port, http: req, reply: make(chan outcome, 1), Reconcile: t.port.Attribute(req.Context()), event: -1,
		Request: apiserver.Request{
			Method: req.Method, URL: req.URL, Header: req.Header, Body: body,
			User: t.port.User, Groups: t.port.Groups, UID: t.port.UID,
		},
	}
	switch {
	case req.URL.Host == APIHost:
	case t.Hosts.remotes[req.URL.Host] != nil:
		call.Cluster = req.URL.Host
	default:
		call.Host = req.URL.Host
		return call, nil
	}
	// The history keeps bodies in JSON. A body that is no object of a built-in type stays as it is,
	// and the server refuses it.
	if header, body, err := apiserver.JSONBody(req.Header, body); err == nil {
		call.Request.Header, call.Request.Body = header, body
	}
	if info, ok := call.Request.Info(); ok {
		call.Info = info
		call.Kind = t.Hosts.kindOf(call.Cluster, info)
	}
	return call, nil
}

// roundTrip implements carrier.
func (t transport) roundTrip(req *http.Request, client int) (*http.Response, error) {
	call, err := t.call(req)
	if err != nil {
		return nil, err
	}
	call.client = client
	p := t.port
	if p.Owner != nil && !call.Idle() {
		from := callingGoroutine()
		call.source, call.beside = from.line, sentBeside(call, from)
		if from.reconciles {
			call.reads = TakeReads(req.Context())
		}
	}
	if t.Callers != nil {
		call.callers = make([]uintptr, 64)
		call.callers = call.callers[:runtime.Callers(2, call.callers)]
		call.byTimer = p.Owner != nil && t.Sched.Slept()
	}
	if p.dead.Load() && lingers(call) || call.mayHaveShutDown() {
		return t.linger(call)
	}
	if p.dead.Load() || t.ending.Load() {
		return nil, ErrDead
	}
	if p.Owner != nil && call.expired() {
		<-req.Context().Done()
		return nil, context.DeadlineExceeded
	}
	if call.Host != "" {
		if to := t.Hosts.resolve(call.Host, req.URL.Scheme); to.clash != "" || !to.found() {
			return nil, t.outside.noSuchHost(call, to)
		}
	}
	if call.Host == "" && call.Info.Verb == "" || p.Direct != nil && p.Direct() && !call.Writes() {
		// Discovery, version and OpenAPI: informers ask for them while holding their map's lock,
		// and a goroutine that waits for a mutex never lets the bubble go quiet. So they are
		// answered at once.
		return httpResponse(req, t.Hosts.handle(call.Cluster, &call.Request), nil), nil
	}
	if streamsList(call) && !isSorted(req.Context()) {
		return httpResponse(req, withoutWatchList(), nil), nil
	}
	if underLock(call) {
		resp, err := t.acknowledge(call)
		if err != nil {
			return nil, err
		}
		return httpResponse(req, resp, nil), nil
	}
	t.park(call, "request", func() { t.effect(call) })
	if p.Drive != nil {
		p.Drive(func() bool { return len(call.reply) > 0 })
	}
	return t.wait(req, call)
}

// wait blocks until the reply is delivered or the caller's context has ended the call.
func (t transport) wait(req *http.Request, call *Call) (*http.Response, error) {
	select {
	case o := <-call.reply: // before a context that has ended as well, for the two are ready at once after Drive
		return finish(req, o)
	default:
	}
	ctx := req.Context()
	select {
	case o := <-call.reply:
		return finish(req, o)
	case <-ctx.Done():
	}
	if thaw := t.port.thaw.Load(); thaw != nil {
		select {
		case o := <-call.reply:
			return finish(req, o)
		case <-*thaw:
		}
	}
	select {
	case o := <-call.reply: // both at once: the reply was first
		return finish(req, o)
	default:
	}
	if !t.port.dead.Load() {
		t.giveUp(call, ctx.Err())
	}
	// A killed process gets no answer at all. An error now would let its goroutines run on, in an
	// order that the scheduler does not choose. So the call stays blocked until the run is torn
	// down.
	return finish(req, <-call.reply)
}

func finish(req *http.Request, o outcome) (*http.Response, error) {
	if o.err != nil {
		return nil, o.err
	}
	return httpResponse(req, o.response, o.stream), nil
}

// acknowledge sends such a request like every other one, and answers the broadcaster at once as the
// server would in this moment. The later reply is not delivered: Events are written with best
// effort.
func (t transport) acknowledge(call *Call) (*apiserver.Response, error) {
	answer := &apiserver.Response{Code: http.StatusCreated, Body: call.Request.Body}
	if call.Request.Method == http.MethodPatch {
		get := call.Request
		get.Method, get.Body, get.URL = http.MethodGet, nil, &url.URL{Path: call.Request.URL.Path}
		answer = t.Hosts.handle(call.Cluster, &get)
		if answer.Code != http.StatusOK {
			return answer, nil
		}
		var err error
		if answer.Body, err = jsonpatch.MergePatch(answer.Body, call.Request.Body); err != nil {
			return nil, err
		}
	}
	if t.port.acknowledged.first(call.order(), t.Sched.Now()) {
		t.park(call, "request", func() { t.effect(call) })
	}
	return answer, nil
}

// linger blocks a call until its goroutine may end.
func (t transport) linger(call *Call) (*http.Response, error) {
	if t.ending.Load() || !t.lingering.add(call) {
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

// sentBeside reports whether a goroutine that works next to the controllers of a manager sends the
// call, and may send more by timers of its own: a runnable of the manager, or a goroutine that a
// timer woke, that runs no reconcile and that asks an outside host. The context does not tell: a
// goroutine may outlive the reconcile that began it.
func sentBeside(c *Call, from sender) bool {
	switch {
	case c.Host == "" && c.Kind == "", c.Ref().Chatter(), c.Verb() == "watch", from.reflects:
		return false
	}
	// A goroutine that asks the API server may help a reconcile, as those of the Helm SDK do.
	return from.runs || c.Host != "" && !from.reconciles && c.Port.sched.Slept()
}
