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
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// Network is the side of the wire where the servers are. It owns the requests that are under way.
type Network struct {
	*recorder
	*calls
	// Hosts are what answers the requests.
	Hosts *Hosts
	// Watches are the open watch streams.
	Watches *Watches
	// Far, if set, is where the requests of programs go: the servers are in another process.
	Far *Far

	observer Observer
	outside  *outside
	webhooks *webhooks
	steps    builtinSteps
	passing  *passing
	waiting  backendWrites
	ending   atomic.Bool
}

// New returns a network with an API server.
func New(s *sched.Scheduler, h *history.History, server *apiserver.Server, o Observer) *Network {
	r := &recorder{Sched: s, History: h, server: server, beside: map[string]time.Duration{}}
	hosts := &Hosts{server: server, remotes: map[string]*apiserver.Server{},
		exact: map[string]http.Handler{}, resolved: map[string]bool{}}
	c, out, passing := &calls{recorder: r, rules: o}, &outside{r, hosts, o}, &passing{}
	return &Network{recorder: r, calls: c, observer: o, Hosts: hosts, outside: out, passing: passing,
		Watches:  &Watches{recorder: r, rules: o, lost: lostWatches{scheduler: s}, passing: passing},
		webhooks: &webhooks{calls: c, outside: out, observer: o}}
}

// Server is the API server. Use it only on the scheduling goroutine.
func (n *Network) Server() *apiserver.Server { return n.Hosts.server }

// Read serves a request that changes nothing, at once and unrecorded. Call it on the scheduling
// goroutine.
func (n *Network) Read(req *apiserver.Request) *apiserver.Response { return n.Hosts.handle("", req) }

// Bury ends an incarnation: it withdraws everything that the incarnation waits for. Its calls stay
// blocked, see [Network.Release].
func (n *Network) Bury(p *Port) {
	p.Die()
	n.calls.bury(p)
	n.Watches.bury(p)
}

// Release ends the run: no request is served any more. The calls that are still blocked return an
// error, one at a time, so that their goroutines can end.
func (n *Network) Release(wait func()) {
	n.ending.Store(true)
	n.steps.stop()
	n.webhooks.abandon()
	n.Dismiss(nil, wait)
	n.Watches.release(wait)
}

// Use lets a backend answer in place of the model of the world's own cluster.
func (n *Network) Use(b Backend) {
	n.backend, n.Hosts.backend = b, b
	n.waiting.webhooks = n.webhooks
	b.AskWebhooks(n.waiting.ask)
}

// Mapper finds the kinds of the world's own cluster.
func (n *Network) Mapper() meta.RESTMapper {
	if n.backend != nil {
		return n.backend.Mapper()
	}
	return n.server.Mapper()
}

// Change is a change of the world's own cluster as the history has it.
func (n *Network) Change(ch apiserver.Change) history.Change { return change(ch, "", n.Sched) }

// openAtBackend opens a watch at the backend.
func (n *Network) openAtBackend(call *Call) {
	call.Response, call.events = n.backend.Watch(&call.Request, func() {
		n.Sched.Note(call.order(), func() {
			if stream := n.Watches.of(call); stream != nil {
				n.Watches.arrived(stream)
			}
		})
	})
}
