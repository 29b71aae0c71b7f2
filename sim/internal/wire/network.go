// Package wire carries requests between the processes of a world and the models behind them: an
// in-memory http.RoundTripper for each incarnation, the API server, services outside the cluster,
// and watch streams.
//
// A request takes two steps: it takes effect, and later its reply is delivered. Each watch event is
// a step of its own. Between two steps anything else may happen. The scheduler decides what and
// when, and [Rules] decide what goes wrong.
//
// It knows nothing of managers or reconcilers.
package wire

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// Rules decide how long things take and what goes wrong. They are called on the scheduling
// goroutine.
type Rules interface {
	// Latency is how long a request needs to arrive ([choice.Request]), or its reply to come back
	// ([choice.Reply]).
	Latency(c *Call, leg choice.Kind) time.Duration
	// Arrive is called when a request is about to take effect.
	Arrive(c *Call) Ruling
	// Landed is called when a request has taken effect, before its reply is sent.
	Landed(c *Call) Ruling
	// Webhook is called when the call of a webhook arrives; Answer and Lose of the ruling count. Of
	// the other rules only Latency is called for it.
	Webhook(c *Call) Ruling
	// Lag is how long after its commit a watch event may reach the stream.
	Lag(s *Stream, f apiserver.Frame) time.Duration
	// Fate is called when a watch event is about to reach its stream.
	Fate(s *Stream, f apiserver.Frame) Fate
}

// Observer is the world that a network serves: its rules, and who wants to know what happens.
type Observer interface {
	Rules
	// Committed is told of every change that a request made.
	Committed(apiserver.Change)
	// UnknownHost is told of requests to hosts that nobody has declared, on the goroutine that
	// makes them. clash names two patterns that fit the host equally well; "" for none.
	UnknownHost(call *Call, clash string)
	// Endpoints are the incarnations that serve a webhook at a path, in a fixed order. service is
	// nil for a webhook that is called by URL.
	Endpoints(service *apiserver.WebhookService, path string) []Endpoint
}

// Ruling is what goes wrong with a request; the zero value is nothing.
type Ruling struct {
	// Kill ends the caller's incarnation.
	Kill bool
	// Answer replaces the server's answer; the request does not take effect.
	Answer *apiserver.Response
	// Lose makes the caller see this error instead of a reply.
	Lose error
	// Again makes a request to the outside take effect twice.
	Again bool
	// Hold lets the request wait for another step: its caller was frozen as it was sent.
	Hold bool
	// Seen, when set, is called as the consequence reaches the caller.
	Seen func()
}

// Network is the side of the wire where the servers are.
type Network struct {
	Sched   *sched.Scheduler
	History *history.History
	// Callers, when set, gets the stack that made each request, by the index of its event.
	Callers map[int][]uintptr
	// ByTimer, set like Callers, says of each request whether nothing but time had passed before it
	// was sent.
	ByTimer map[int]bool

	observer Observer

	mu     sync.Mutex // the API server is not safe for concurrent use; discovery is served on the caller's goroutine
	server *apiserver.Server

	remotes map[string]*apiserver.Server // other clusters, by host
	outside outside
	streams []*Stream
	beside  map[string]time.Duration // see Beside
	// lostWatches are those that [Network.LostWatches] returned last, and those since.
	lostWatches []*LostWatch
	calls       []*Call // in flight, in canonical order
	lingering   []*Call // of dead incarnations, see [Call.lingers]; mu guards it
	ending      atomic.Bool

	admission admissionState
}

// New returns a network with an API server.
func New(s *sched.Scheduler, h *history.History, server *apiserver.Server, o Observer) *Network {
	return &Network{Sched: s, History: h, observer: o, server: server, remotes: map[string]*apiserver.Server{},
		outside: outside{exact: map[string]http.Handler{}, resolved: map[string]bool{}},
		beside:  map[string]time.Duration{}}
}

// Server is the API server. Use it only on the scheduling goroutine.
func (c *Network) Server() *apiserver.Server { return c.server }

// Remote adds the API server of another cluster at a host name.
func (c *Network) Remote(host string, server *apiserver.Server) error {
	if err := c.taken(host); err != nil {
		return err
	}
	c.remotes[host] = server
	return nil
}

// taken returns an error if a host name is used already.
func (c *Network) taken(host string) error {
	_, ok := c.outside.exact[host]
	pattern := slices.ContainsFunc(c.outside.patterns, func(p hostPattern) bool { return p.text == host })
	if ok || pattern || c.remotes[host] != nil || host == APIHost {
		return fmt.Errorf("host %q was declared twice", host)
	}
	return nil
}

// serverOf is the API server that a call goes to.
func (c *Network) serverOf(call *Call) *apiserver.Server {
	if call.Cluster != "" {
		return c.remotes[call.Cluster]
	}
	return c.server
}

// Read serves a request that changes nothing, at once and unrecorded. Call it on the scheduling
// goroutine.
func (c *Network) Read(req *apiserver.Request) *apiserver.Response {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server.Handle(req)
}

// Trim lets all API servers forget what was committed before a certain age.
func (c *Network) Trim(age time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server.Trim(age)
	for _, s := range c.remotes {
		s.Trim(age)
	}
}
