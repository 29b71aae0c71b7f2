// Package wire carries requests between the programs of a world and the models behind them: an in-memory
// http.RoundTripper per life, the API server, the outside world, and the watch streams.
//
// A request takes two steps: it takes effect, and later its reply is delivered. Each watch event is a step of its own.
// Between any two steps anything else may happen; which and when is the scheduler's business, and what goes wrong is
// the business of [Rules].
//
// It knows nothing of managers or reconcilers.
package wire

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// Rules decide how long things take and what goes wrong. They are asked on the scheduling goroutine.
type Rules interface {
	// Latency is how long a request takes to arrive (leg "request") or its reply to come back (leg "reply").
	Latency(c *Call, leg string) time.Duration
	// Arrive is asked when a request is about to take effect.
	Arrive(c *Call) Ruling
	// Landed is asked when it has taken effect and its reply is about to leave.
	Landed(c *Call) Ruling
	// Lag is how long after its commit a watch event may reach the stream.
	Lag(s *Stream, f apiserver.Frame) time.Duration
	// Fate is asked when a watch event is about to reach its stream.
	Fate(s *Stream, f apiserver.Frame) Fate
}

// Ruling is what goes wrong with a request; the zero value is nothing.
type Ruling struct {
	// Kill ends the caller's life here.
	Kill bool
	// Answer replaces the server's answer; the request does not take effect.
	Answer *apiserver.Response
	// Lose makes the caller see this error instead of a reply.
	Lose error
	// Again makes a request to the outside take effect twice.
	Again bool
	// Hold puts the request back to wait: its caller was frozen as it was sent.
	Hold bool
	// Seen, when set, is called as the consequence reaches the caller.
	Seen func()
}

// Cluster is the world's side of the wire.
type Cluster struct {
	Sched   *sched.Scheduler
	History *history.History
	Rules   Rules
	// Committed, when set, is told of every change that a request made.
	Committed func(apiserver.Change)
	// Kill ends the life that a port belongs to.
	Kill func(p *Port)
	// Unknown, when set, is told of requests to hosts that nobody has declared, on the goroutine that makes them. Clash
	// names two patterns of which it cannot be said which one is meant; "" for none.
	Unknown func(call *Call, clash string)
	// Callers, when set, takes from where the requests were made, by the index of their event.
	Callers map[int][]uintptr

	mu     sync.Mutex // the API server is not safe for concurrent use; discovery is served on the caller's goroutine
	server *apiserver.Server

	remotes map[string]*apiserver.Server // other clusters, by host
	outside outside
	streams []*Stream
	// silences are as [Cluster.Silences] found them last, and those since.
	silences []*Silence
	calls    []*Call // in flight, in canonical order
	unheard  []*Call // of dead lives, see [Call.lingers]; mu guards it
	ending   atomic.Bool

	// Serving are the lives that serve a webhook at a path, in a fixed order; service is nil for one that is called by URL.
	Serving   func(service *apiserver.WebhookService, path string) []Endpoint
	admission admission
}

// New returns a cluster around an API server.
func New(s *sched.Scheduler, h *history.History, server *apiserver.Server) *Cluster {
	return &Cluster{Sched: s, History: h, server: server, remotes: map[string]*apiserver.Server{},
		outside: outside{exact: map[string]http.Handler{}, resolved: map[string]bool{}}}
}

// Server is the API server. Use it only on the scheduling goroutine.
func (c *Cluster) Server() *apiserver.Server { return c.server }

// Remote puts the API server of another cluster behind a host name.
func (c *Cluster) Remote(host string, server *apiserver.Server) error {
	if err := c.taken(host); err != nil {
		return err
	}
	c.remotes[host] = server
	return nil
}

// taken complains if a host name is used already.
func (c *Cluster) taken(host string) error {
	_, ok := c.outside.exact[host]
	pattern := slices.ContainsFunc(c.outside.patterns, func(p hostPattern) bool { return p.text == host })
	if ok || pattern || c.remotes[host] != nil || host == APIHost {
		return fmt.Errorf("host %q was declared twice", host)
	}
	return nil
}

// serverOf is the API server that a call goes to.
func (c *Cluster) serverOf(call *Call) *apiserver.Server {
	if call.Cluster != "" {
		return c.remotes[call.Cluster]
	}
	return c.server
}

// ErrDead is what a dead life's requests see.
var ErrDead = errors.New("wavetank: this process is dead")

// Call is one request in flight.
type Call struct {
	Port      *Port
	Request   apiserver.Request
	Info      apiserver.Info
	Kind      string // Kubernetes kind, for requests to the API server
	Cluster   string // host of the cluster, for requests to another than the world's own
	Host      string // for requests to the outside
	Reconcile string
	Response  *apiserver.Response // once it has taken effect
	Webhook   string              // the webhook's name, for calls of the API server itself
	// Trails is how far behind the watch cache of the server is that the request was sent to, and Wait how long the server
	// keeps the reply back because of that. Rules set them in Arrive.
	Trails, Wait time.Duration

	http    *http.Request
	handler http.Handler // who answers, for requests to the outside that have arrived
	client  int          // which client of the program sends it, see [Port.Client]; 0 if nobody knows
	ordered sync.Once
	key     string
	// subjectKey is key without what tells informers of one kind apart.
	subjectKey string
	event      int
	callers    []uintptr
	reply      chan outcome
	mu         sync.Mutex
	action     *sched.Action
	// server is the life that works on the call of a webhook; lost tells the caller that this life is over.
	server *Port
	lost   func()
	sent   bool // its caller was frozen before it arrived: it takes effect whatever the caller does
	over   bool // its caller has the reply, or has given up
}

type outcome struct {
	response *apiserver.Response
	stream   *Stream
	err      error
}

// Ref is the object that the call is about.
func (c *Call) Ref() history.Ref {
	if c.Host != "" {
		return history.Ref{}
	}
	return history.Ref{Cluster: c.Cluster, Group: c.Info.Group, Kind: c.Kind, Namespace: c.Info.Namespace, Name: c.Info.Name}
}

// Object is Ref with the name that a create gives its object: its URL has none.
func (c *Call) Object() history.Ref {
	ref := c.Ref()
	if ref.Name == "" && c.Host == "" && c.Info.Verb == "create" {
		ref.Name = history.NameIn(c.Request.Body)
	}
	return ref
}

// Verb is the Kubernetes verb, or the HTTP method for the outside.
func (c *Call) Verb() string {
	if c.Host != "" {
		return c.Request.Method
	}
	return c.Info.Verb
}

// Writes says whether the request may change anything.
func (c *Call) Writes() bool {
	switch c.Verb() {
	case "get", "list", "watch", http.MethodGet, http.MethodHead:
		return false
	}
	return true
}

// Idle says whether the call belongs to the endless chatter that a settled world still has.
func (c *Call) Idle() bool {
	return c.Info.Group == "coordination.k8s.io" && c.Info.Resource == "leases"
}

// String is the call in words, without anything that differs between equal calls of two runs.
func (c *Call) String() string {
	if c.Host != "" {
		return c.Request.Method + " " + c.Host + c.Request.URL.Path
	}
	s := c.Info.Verb + " " + c.Ref().String()
	if c.Info.Subresource != "" {
		s += "/" + c.Info.Subresource
	}
	return s
}

// Told is String for stories: a create names its object, too. Labels of choices have String, lest they change.
func (c *Call) Told() string {
	if c.Host != "" || c.Info.Verb != "create" || c.Info.Name != "" {
		return c.String()
	}
	return "create " + c.Object().String()
}

// park hands the next leg of the call to the scheduler.
func (c *Cluster) park(call *Call, leg string, do func()) {
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
				// It was sent or ended in the very period in which its incarnation did. Whether it was may be chance (see
				// [Call.recorder]), so it is no step, and nothing is chosen for it.
				call.mu.Lock()
				c.Sched.Drop(call.action)
				call.mu.Unlock()
				return 0
			case leg == "held request" || leg == "end":
				return 0
			}
			return c.Rules.Latency(call, leg)
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
func (c *Cluster) effect(call *Call) {
	r := c.Rules.Arrive(call)
	switch {
	case r.Kill:
		c.Kill(call.Port)
	case r.Hold:
		c.park(call, "held request", func() { c.effect(call) })
	case r.Lose != nil: // lost on the way there: the server never hears of it
		c.answer(call, r)
	case r.Answer != nil:
		call.Response = r.Answer
		c.record(call, r.Answer)
		c.answer(call, r)
	default:
		if call.Host != "" {
			if err := c.find(call); err != nil {
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

// landed is when the request has taken effect: its answer leaves, unless something goes wrong there.
func (c *Cluster) landed(call *Call, r Ruling) {
	landed := c.Rules.Landed(call)
	if landed.Kill {
		c.Kill(call.Port)
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

// Read serves a request that changes nothing, at once and unrecorded. Call it on the scheduling goroutine.
func (c *Cluster) Read(req *apiserver.Request) *apiserver.Response {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server.Handle(req)
}

// Trim has all API servers forget what was committed longer ago than an age.
func (c *Cluster) Trim(age time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server.Trim(age)
	for _, s := range c.remotes {
		s.Trim(age)
	}
}

// answer sends the reply, or what the ruling says, on its way back.
func (c *Cluster) answer(call *Call, r Ruling) {
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
		c.heard(call, o.err == nil && call.Response.Code < http.StatusBadRequest)
		c.forget(call)
		if r.Seen != nil {
			r.Seen()
		}
		c.Sched.SetCurrent("reply to " + call.String())
		call.reply <- o
	})
}

func (c *Cluster) forget(call *Call) {
	for i, other := range c.calls {
		if other == call {
			c.calls = append(c.calls[:i], c.calls[i+1:]...)
			return
		}
	}
}

func (c *Cluster) event(call *Call, k history.Kind) history.Event {
	return history.Event{
		Step: c.Sched.Steps(), At: c.Sched.Now(), Kind: k, Process: call.Port.Process, Life: call.Port.Life,
		Reconcile: call.Reconcile, Verb: call.Verb(), Ref: call.Ref(), Sub: call.Info.Subresource,
		Host: call.Host, Server: c.server.Revision(),
	}
}

// record writes the request down as it took effect.
func (c *Cluster) record(call *Call, resp *apiserver.Response) {
	e := c.event(call, history.Request)
	if call.Host != "" {
		e.Path = call.Request.URL.RequestURI()
	}
	e.Sent = call.Request.Body
	if resp != nil {
		e.Code, e.Received = resp.Code, resp.Body
		for _, ch := range resp.Changes {
			e.Changes = append(e.Changes, change(ch, call.Cluster, c.Sched))
			e.Revision = ch.Revision
		}
		if len(resp.Changes) == 0 && call.Info.Name != "" && resp.Code < 300 {
			e.Revision = revisionOf(resp.Body)
		}
		if e.Ref.Name == "" && len(resp.Changes) == 1 { // generateName
			e.Ref.Name = resp.Changes[0].Name
		}
	}
	call.event = c.History.Add(e)
	if c.Callers != nil {
		c.Callers[call.event] = call.callers
	}
}

func change(ch apiserver.Change, cluster string, s *sched.Scheduler) history.Change {
	return history.Change{
		Type: ch.Type, Ref: history.Ref{Cluster: cluster, Group: ch.Group, Kind: ch.Kind, Namespace: ch.Namespace, Name: ch.Name},
		UID: ch.UID, Revision: ch.Revision, At: s.Now(), Object: ch.Object, Previous: ch.Previous,
	}
}
