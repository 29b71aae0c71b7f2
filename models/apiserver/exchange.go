package apiserver

import (
	"errors"
	"iter"
	"net/http"
	"strings"
)

// Exchange is one request in progress: answered, or waiting for webhooks. Between its steps other
// requests may be served, as on a real server; they do not see what it has not committed yet.
type Exchange struct {
	// Response is the answer; nil while webhooks are being asked.
	Response *Response
	// Calls are the calls to make, all at once. Call [Exchange.Resume] when each has its answer.
	Calls []*WebhookCall

	effects *effects
	next    func() ([]*WebhookCall, bool)
	stop    func()
}

// errAbandoned unwinds a request whose client no longer waits for it.
var errAbandoned = errors.New("apiserver: the request was abandoned")

// Admits reports whether a write could have to wait for webhooks.
func (s *Server) Admits() bool { return s.admission != nil && s.admission.Active() }

// Begin starts to serve a request, as far as that goes without a webhook's answer.
func (s *Server) Begin(req *Request) *Exchange {
	e := &Exchange{effects: &effects{}}
	if req.Method == http.MethodGet || !s.Admits() {
		e.Response = s.respond(req, e.effects)
		return e
	}
	e.next, e.stop = iter.Pull(func(yield func([]*WebhookCall) bool) {
		defer func() {
			if r := recover(); r != nil && r != errAbandoned { //nolint:errorlint // what panicked, never wrapped
				panic(r)
			}
		}()
		e.effects.ask = func(calls []*WebhookCall) {
			e.effects.waited = true
			if !yield(calls) {
				panic(errAbandoned)
			}
		}
		e.Response = s.respond(req, e.effects)
	})
	e.Resume()
	return e
}

// Resume continues the request with the answers to Calls.
func (e *Exchange) Resume() { e.Calls, _ = e.next() }

// Abandon gives the request up; nothing more of it takes effect.
func (e *Exchange) Abandon() {
	if e.stop != nil {
		e.stop()
	}
}

// Committed are the changes that a waiting request has committed already and that were not asked
// for before: deletions of a collection, whose objects go one after the other. They are not in
// Response.Changes.
func (e *Exchange) Committed() []Change {
	out := e.effects.changes
	e.effects.changes = nil
	return out
}

// SetWebhooks says how [Server.Handle] reaches webhooks. Owners that use [Server.Begin] make the
// calls themselves.
func (s *Server) SetWebhooks(reach func(*WebhookCall) WebhookAnswer) { s.reach = reach }

// Handle performs one request to its end.
func (s *Server) Handle(req *Request) *Response {
	e := s.Begin(req)
	for e.Response == nil {
		for _, w := range e.Calls {
			answer := WebhookAnswer{Err: errors.New("connect: connection refused")}
			if s.reach != nil {
				answer = s.reach(w)
			}
			w.Answered(answer)
		}
		e.Resume()
	}
	return e.Response
}

// respond performs a request and makes the answer.
func (s *Server) respond(req *Request, e *effects) *Response {
	r, err := s.serve(req, e)
	if err != nil {
		r = errorResponse(err)
	}
	r.Changes = e.changes
	for _, w := range e.warnings {
		r.Header.Add("Warning", warningHeader(w))
	}
	return r
}

// serve performs a request under the identity that it is made for. A request starts again
// if another writer changed the object that it had read while it waited for webhooks.
func (s *Server) serve(req *Request, e *effects) (*Response, error) {
	info, ok := req.Info()
	if s.authorizer != nil {
		var err error
		if req, err = s.authorizer.Authorize(req, info); err != nil {
			return nil, err
		}
	}
	if !ok {
		return discovery{&s.registry}.serve(req)
	}
	for {
		r, err := s.perform(req, info, e)
		if !errors.Is(err, errMoved) {
			return r, err
		}
		e.warnings, e.waited = nil, false
	}
}

// warningHeader is the form of RFC 7234, section 5.5, as apimachinery's util/net/http.go makes it.
func warningHeader(text string) string {
	var b strings.Builder
	b.WriteString(`299 - "`)
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
