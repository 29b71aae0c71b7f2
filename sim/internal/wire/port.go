package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// APIHost is the host name of the simulated API server.
const APIHost = "kubernetes.sim"

// ErrDead is the error of requests of an incarnation that has ended.
var ErrDead = errors.New("wavetank: this process is dead")

// Port is an incarnation's end of the wire, an http.RoundTripper.
type Port struct {
	Process     string
	Incarnation int
	// User, Groups and UID are who sends its requests; see apiserver.Request.
	User   string
	Groups []string
	UID    string
	// Attribute names the reconcile that a request's context belongs to; the zero
	// value for none.
	Attribute func(context.Context) history.Reconcile
	// Drive, when set, runs the scheduler until replied reports true, for calls made on the
	// scheduling goroutine.
	Drive func(replied func() bool)
	// Direct, when set, reports whether reads are served at once and unrecorded, for properties
	// that use a client.
	Direct func() bool
	// Owner is the incarnation that the port belongs to; nil for a user.
	Owner Owner

	network *Network
	clients atomic.Int64 // made so far, see Client
	dead    atomic.Bool
	// dismissed is set when the goroutines of a dead incarnation may end. The network's mu guards
	// it.
	dismissed bool
	// acknowledged are requests of a broadcaster of Events.
	acknowledged acknowledged
	thaw         atomic.Pointer[chan struct{}] // closed when a frozen process goes on; nil while it is not frozen
	waiting      []*sched.Action               // parked when it does
	thawed       time.Duration                 // when it went on last
	eventless    map[string]int                // watches in a row that timed out without an event, by order
}

// Owner is an incarnation, as its port knows it.
type Owner interface {
	// Kill ends the incarnation at once.
	Kill()
	// EndsByContext reports whether parts of the program may have ended because the context of its
	// main function is done.
	EndsByContext() bool
}

// NewPort returns the end of the wire for one incarnation of a process.
func (c *Network) NewPort(process string, incarnation int) *Port {
	none := func(context.Context) (r history.Reconcile) { return r }
	return &Port{Process: process, Incarnation: incarnation, network: c, Attribute: none}
}

// Name is the process and incarnation, as "pipelines/2".
func (p *Port) Name() string {
	if p.Incarnation == 0 {
		return p.Process
	}
	return p.Process + "/" + strconv.Itoa(p.Incarnation)
}

// Die makes every later request fail, and leaves those in flight without an answer until the run
// ends.
func (p *Port) Die() { p.dead.Store(true) }

// Dead reports whether the incarnation has ended.
func (p *Port) Dead() bool { return p.dead.Load() }

// Freeze stops the process until Thaw. What it has sent arrives, but its goroutines learn of
// nothing, not even that their contexts are done. The scheduler's observer must hold its actions.
func (p *Port) Freeze() {
	for _, call := range p.network.calls {
		if call.Port == p && call.Writes() {
			call.sent = true
		}
	}
	thaw := make(chan struct{})
	p.thaw.Store(&thaw)
}

// WasFrozen reports whether the call was under way, and a write, when its caller was frozen.
func (c *Call) WasFrozen() bool { return c.sent }

// Frozen reports whether the process is frozen.
func (p *Port) Frozen() bool { return p.thaw.Load() != nil }

// Thaw lets a frozen process go on.
func (p *Port) Thaw() {
	thaw := p.thaw.Swap(nil)
	if thaw == nil {
		return
	}
	close(*thaw)
	p.thawed = p.network.Sched.Now()
	waiting := p.waiting
	p.waiting = nil
	for _, a := range waiting {
		p.network.Sched.Park(a)
	}
}

// Thawed returns when the process last resumed, or 0 if it was never frozen. It is called when the
// process acts. One that is still marked as frozen resumes at this instant: its first action may
// come before Thaw.
func (p *Port) Thawed() time.Duration {
	if p.Frozen() {
		return p.network.Sched.Now()
	}
	return p.thawed
}

// Await parks an action as soon as the frozen process goes on. Parked before, it would be due when
// the pause ends, and a schedule might prefer it to all other actions for ever.
func (p *Port) Await(a *sched.Action) { p.waiting = append(p.waiting, a) }

// Client returns a transport over the port for one more client of the process. Clients are numbered
// as they are made. The number distinguishes the requests of two caches that watch the same, which
// would have no canonical order otherwise.
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
	c := p.network
	if p.Owner != nil && !call.Idle() {
		from := callingGoroutine()
		call.source, call.beside = from.line, call.sentBeside(from)
	}
	if c.Callers != nil {
		call.callers = make([]uintptr, 64)
		call.callers = call.callers[:runtime.Callers(2, call.callers)]
		call.byTimer = p.Owner != nil && c.Sched.Slept()
	}
	if p.dead.Load() && call.lingers() || p.mayHaveShutDown(call) {
		return p.linger(call)
	}
	if p.dead.Load() || c.ending.Load() {
		return nil, ErrDead
	}
	if p.Owner != nil && call.expired() {
		<-req.Context().Done()
		return nil, context.DeadlineExceeded
	}
	if call.Host != "" {
		if t := c.resolve(call, call.Host); t.clash != "" || !t.found() {
			return nil, c.noSuchHost(call, t)
		}
	}
	if call.Host == "" && call.Info.Verb == "" || p.Direct != nil && p.Direct() && !call.Writes() {
		// Discovery, version and OpenAPI: informers ask for them while holding their map's lock,
		// and a goroutine that waits for a mutex never lets the bubble go quiet. So they are
		// answered at once.
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
	// A killed process gets no answer at all. An error now would let its goroutines run on, in an
	// order that the scheduler does not choose. So the call stays blocked until the run is torn
	// down.
	return finish(req, <-call.reply)
}

func finish(req *http.Request, o outcome) (*http.Response, error) {
	if o.err != nil {
		return nil, o.err
	}
	return response(req, o.response, o.stream), nil
}

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
