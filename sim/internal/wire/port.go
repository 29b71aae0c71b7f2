package wire

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
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

	carrier carrier
	sched   *sched.Scheduler
	clients atomic.Int64 // made so far, see Client
	dead    atomic.Bool
	// acknowledged are requests of a broadcaster of Events.
	acknowledged acknowledged
	thaw         atomic.Pointer[chan struct{}] // closed when a frozen process resumes; nil while it is not frozen
	waiting      []*sched.Action               // parked when it does
	thawed       time.Duration                 // when it went on last
	eventless    map[string]int                // watches in a row that timed out without an event, by order
}

// carrier is the network, as a port knows it.
type carrier interface {
	// roundTrip carries a request of a client of the port's process.
	roundTrip(req *http.Request, client int) (*http.Response, error)
	// freeze is called when the process is being frozen.
	freeze()
}

// Owner is an incarnation, as its port knows it.
type Owner interface {
	// Kill ends the incarnation at once.
	Kill()
	// EndsByContext reports whether parts of the program may have ended because the context of its
	// main function is done.
	EndsByContext() bool
}

// Name is the process and incarnation, as "pipelines/2".
func (p *Port) Name() string {
	if p.Incarnation == 0 {
		return p.Process
	}
	return p.Process + "/" + strconv.Itoa(p.Incarnation)
}

// Actor is the incarnation, or a part of it, as an actor of the scheduler.
func (p *Port) Actor(part string) choice.Actor {
	return choice.Actor{Process: p.Name(), Name: part}
}

// Die makes every later request fail, and leaves those in flight without an answer until the run
// ends.
func (p *Port) Die() { p.dead.Store(true) }

// Dead reports whether the incarnation has ended.
func (p *Port) Dead() bool { return p.dead.Load() }

// Freeze stops the process until Thaw. What it has sent arrives, but its goroutines learn of
// nothing, not even that their contexts are done. The scheduler's observer must hold its actions.
func (p *Port) Freeze() {
	p.carrier.freeze()
	thaw := make(chan struct{})
	p.thaw.Store(&thaw)
}

// Frozen reports whether the process is frozen.
func (p *Port) Frozen() bool { return p.thaw.Load() != nil }

// Thaw resumes a frozen process.
func (p *Port) Thaw() {
	thaw := p.thaw.Swap(nil)
	if thaw == nil {
		return
	}
	close(*thaw)
	p.thawed = p.sched.Now()
	waiting := p.waiting
	p.waiting = nil
	for _, a := range waiting {
		p.sched.Park(a)
	}
}

// Thawed returns when the process last resumed, or 0 if it was never frozen. It is called when the
// process acts. One that is still marked as frozen resumes at this instant: its first action may
// come before Thaw.
func (p *Port) Thawed() time.Duration {
	if p.Frozen() {
		return p.sched.Now()
	}
	return p.thawed
}

// Await parks an action as soon as the frozen process resumes. Parked before, it would be due when
// the pause ends, and a schedule might always prefer it to all other actions.
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

func (c client) RoundTrip(req *http.Request) (*http.Response, error) {
	return c.port.carrier.roundTrip(req, c.n)
}

// RoundTrip implements http.RoundTripper. Any goroutine of the incarnation may call it.
func (p *Port) RoundTrip(req *http.Request) (*http.Response, error) {
	return p.carrier.roundTrip(req, 0)
}

// acknowledged are the requests that were acknowledged at one instant. A series that is over is
// both refreshed and ended in minute 30, by two goroutines that wake up at one instant. If it is
// ended first, it is not refreshed any more; if not, the same request is sent twice. So the second
// one is left out.
type acknowledged struct {
	mu   sync.Mutex
	at   time.Duration
	keys map[string]bool
}

// first reports whether no equal request was acknowledged at the same instant.
func (a *acknowledged) first(key string, now time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.keys == nil || a.at != now {
		a.at, a.keys = now, map[string]bool{}
	}
	known := a.keys[key]
	a.keys[key] = true
	return !known
}
