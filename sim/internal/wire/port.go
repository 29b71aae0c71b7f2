package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// APIHost is the host name of the simulated API server.
const APIHost = "kubernetes.sim"

// Port is one life's end of the wire: an http.RoundTripper that lives and dies with it.
type Port struct {
	Process string
	Life    int
	// User, Groups and UID are whom its requests come from; see apiserver.Request.
	User   string
	Groups []string
	UID    string
	// Attribute names the reconcile that a request's context belongs to; "" for none.
	Attribute func(context.Context) string
	// Drive, when set, runs the scheduler until replied reports true: for calls made on the scheduling goroutine itself.
	Drive func(replied func() bool)

	// Direct, when it reports true, serves requests at once and unrecorded: for properties that read through a client.
	Direct func() bool
	// Owner is for the package that made the port.
	Owner any

	cluster *Cluster
	clients atomic.Int64 // made so far, see Client
	dead    atomic.Bool
	// dismissed is set when the goroutines of a dead life were let go; the cluster's mu guards it.
	dismissed bool
	thaw      atomic.Pointer[chan struct{}] // closed when a frozen program goes on; nil while it is not frozen
	waiting   []*sched.Action               // parked when it does
	thawed    time.Duration                 // when a frozen program went on last
}

// NewPort returns the end of the wire for one life of a process.
func (c *Cluster) NewPort(process string, life int) *Port {
	return &Port{Process: process, Life: life, cluster: c, Attribute: func(context.Context) string { return "" }}
}

// Name is the process and life, as "pipelines/2".
func (p *Port) Name() string {
	if p.Life == 0 {
		return p.Process
	}
	return p.Process + "/" + strconv.Itoa(p.Life)
}

// Die makes every later request of this life fail, and leaves those in flight without an answer until the run ends.
func (p *Port) Die() { p.dead.Store(true) }

// Dead reports whether the life is over.
func (p *Port) Dead() bool { return p.dead.Load() }

// Freeze stops the program: what it has sent arrives, but its goroutines learn of nothing, not even that their contexts
// are done, until Thaw. Whoever freezes it sees to it that the scheduler holds its actions.
func (p *Port) Freeze() {
	for _, call := range p.cluster.calls {
		if call.Port == p && call.Writes() {
			call.sent = true
		}
	}
	thaw := make(chan struct{})
	p.thaw.Store(&thaw)
}

// Frozen reports whether the program stands still.
func (p *Port) Frozen() bool { return p.thaw.Load() != nil }

// Thaw lets a frozen program go on.
func (p *Port) Thaw() {
	thaw := p.thaw.Swap(nil)
	if thaw == nil {
		return
	}
	close(*thaw)
	p.thawed = p.cluster.Sched.Now()
	waiting := p.waiting
	p.waiting = nil
	for _, a := range waiting {
		p.cluster.Sched.Park(a)
	}
}

// Thawed is when the program went on that was frozen last; 0 for never.
func (p *Port) Thawed() time.Duration { return p.thawed }

// Await parks an action of the world as soon as the frozen program goes on. Parked before, it would become due with the
// end of the pause and could come first, for ever: a schedule may prefer it to all else.
func (p *Port) Await(a *sched.Action) { p.waiting = append(p.waiting, a) }

// Client returns a transport over the port for one more client of the program. Clients are numbered as they are made,
// which tells apart the requests of two caches that watch the same: without it, goroutines would race for who is first.
func (p *Port) Client() http.RoundTripper {
	return client{p, int(p.clients.Add(1))}
}

type client struct {
	port *Port
	n    int
}

// RoundTrip implements http.RoundTripper.
func (c client) RoundTrip(req *http.Request) (*http.Response, error) {
	return c.port.roundTrip(req, c.n)
}

// RoundTrip implements http.RoundTripper. Any goroutine of the incarnation may call it.
func (p *Port) RoundTrip(req *http.Request) (*http.Response, error) { return p.roundTrip(req, 0) }

func (p *Port) roundTrip(req *http.Request, client int) (*http.Response, error) {
	call, err := p.call(req)
	if err != nil {
		return nil, err
	}
	call.client = client
	c := p.cluster
	if c.Callers != nil {
		call.callers = make([]uintptr, 64)
		call.callers = call.callers[:runtime.Callers(2, call.callers)]
	}
	if p.dead.Load() && call.lingers() {
		return p.linger(call)
	}
	if p.dead.Load() || c.ending.Load() {
		return nil, ErrDead
	}
	if call.Host != "" {
		if t := c.resolve(call, call.Host); t.clash != "" || !t.found() {
			return nil, c.nowhere(call, t)
		}
	}
	if call.Host == "" && call.Info.Verb == "" || p.Direct != nil && p.Direct() && !call.Writes() {
		// Discovery, version and OpenAPI: informers ask for them while holding their map's lock, and a goroutine that
		// waits for a mutex never lets the bubble go quiet. So they are answered at once.
		c.mu.Lock()
		resp := c.serverOf(call).Handle(&call.Request)
		c.mu.Unlock()
		return response(req, resp, nil), nil
	}
	if call.streamsList() && !isSorted(req.Context()) {
		return response(req, withoutWatchList(), nil), nil
	}
	if call.underLock() {
		resp, err := p.acknowledge(call)
		if err != nil {
			return nil, err
		}
		return response(req, resp, nil), nil
	}
	c.park(call, "request", func() { c.effect(call) })
	if p.Drive != nil {
		p.Drive(func() bool { return len(call.reply) > 0 })
	}
	return p.wait(req, call)
}

// wait blocks until the reply is delivered or the caller's context has ended the call.
func (p *Port) wait(req *http.Request, call *Call) (*http.Response, error) {
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
	if thaw := p.thaw.Load(); thaw != nil {
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
	if !p.dead.Load() {
		call.giveUp(ctx.Err())
	}
	// A killed program gets no answer at all. An error now would let its goroutines run on, in an order that the
	// scheduler does not choose; so the call stays parked until the run tears down.
	return finish(req, <-call.reply)
}

func finish(req *http.Request, o outcome) (*http.Response, error) {
	if o.err != nil {
		return nil, o.err
	}
	return response(req, o.response, o.stream), nil
}

// giveUp withdraws a call whose context has ended, and parks its end as a step of its own. One context may end many
// calls, and Go goes through a context's children in map order: so each caller learns of it when it is granted.
func (c *Call) giveUp(err error) {
	cl := c.Port.cluster
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
		cl.History.Add(e)
		c.over = true
		cl.forget(c)
		cl.Sched.SetCurrent("end of " + c.String())
		c.reply <- outcome{err: err}
	})
}

// call reads the request and finds out what it is about.
func (p *Port) call(req *http.Request) (*Call, error) {
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
		Port: p, http: req, reply: make(chan outcome, 1), Reconcile: p.Attribute(req.Context()), event: -1,
		Request: apiserver.Request{Method: req.Method, URL: req.URL, Header: req.Header, Body: body, User: p.User, Groups: p.Groups, UID: p.UID},
	}
	switch {
	case req.URL.Host == APIHost:
	case p.cluster.remotes[req.URL.Host] != nil:
		call.Cluster = req.URL.Host
	default:
		call.Host = req.URL.Host
		return call, nil
	}
	// The history keeps bodies in JSON. One that is no object of a built-in type stays: the server
	// refuses it.
	if header, body, err := apiserver.JSONBody(req.Header, body); err == nil {
		call.Request.Header, call.Request.Body = header, body
	}
	if info, ok := apiserver.ParseInfo(req.Method, req.URL); ok {
		call.Info = info
		p.cluster.mu.Lock()
		call.Kind = p.cluster.serverOf(call).KindOf(info.Group, info.Resource)
		p.cluster.mu.Unlock()
		if call.Kind == "" {
			call.Kind = info.Resource
		}
	}
	return call, nil
}

// order is the call's place among those that arrive in one stretch.
func (c *Call) order() string {
	c.ordered.Do(func() {
		f := fnv.New64a()
		f.Write(c.Request.Body)
		u := c.Request.URL.String()
		if strings.Contains(u, "timeout") {
			u = clientTimeout.ReplaceAllString(u, "")
		}
		c.subjectKey = c.Port.Name() + " " + c.Reconcile + " " + c.Request.Method + " " + u + " " + strconv.FormatUint(f.Sum64(), 16)
		c.key = c.subjectKey
		if as := c.Request.Header.Get("Accept"); strings.Contains(as, ";as=") { // an informer of metadata, beside one of whole objects
			c.key += " " + as
		}
		if sort := c.sort(); sort != "" {
			c.key += " " + sort
		}
		if c.client > 0 {
			c.key += fmt.Sprintf(" client %03d", c.client)
		}
	})
	return c.key
}

type sortKey struct{}

// WithSort tells requests apart that are otherwise the same: a program may have informers of two sorts for one kind.
func WithSort(ctx context.Context, sort string) context.Context {
	return context.WithValue(ctx, sortKey{}, sort)
}

func (c *Call) sort() (s string) {
	if c.http != nil {
		s, _ = c.http.Context().Value(sortKey{}).(string)
	}
	return s
}

// Actor says who sends the call: the worker at a key, whichever attempt it is, or else all that the program sends about one
// sort of thing, as an informer's list and watch.
func (c *Call) Actor() string {
	if at := strings.LastIndex(c.Reconcile, " #"); at >= 0 {
		return c.Port.Name() + " " + c.Reconcile[:at]
	}
	return c.Port.Name() + " at " + c.Host + c.Request.URL.Path
}

// clientTimeout is the time-out that a reflector draws for each watch. Reflectors that start together draw in an order
// that nobody chooses, so the number must not matter: see [Stream.patience].
var clientTimeout = regexp.MustCompile(`[?&]timeout(Seconds)?=[^&]*`)

func response(req *http.Request, r *apiserver.Response, s *Stream) *http.Response {
	h := r.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
	}
	out := &http.Response{
		StatusCode: r.Code, Status: fmt.Sprintf("%d %s", r.Code, http.StatusText(r.Code)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, Request: req, ContentLength: int64(len(r.Body)),
	}
	if s != nil {
		out.ContentLength = -1
		out.Body = s.body
		return out
	}
	out.Body = io.NopCloser(bytes.NewReader(r.Body))
	return out
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
