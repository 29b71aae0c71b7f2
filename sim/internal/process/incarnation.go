package process

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// turn is a goroutine that waits until gone is closed.
type turn struct {
	what string
	n    int // of those who began to wait
	gone chan struct{}
}

// waiter is a goroutine of an incarnation that is blocked until its action happens.
type waiter struct {
	action  *sched.Action
	granted chan bool // gets false when the run is over
	ofKey   bool      // the action is the dequeue of a key
}

// observedController is a controller that was added to a manager of the incarnation.
type observedController struct {
	name     string
	runnable manager.Runnable
	working  atomic.Bool // a worker has asked for its first key
}

type reconcileName struct{}

// Attribute names the reconcile that a context belongs to; the zero value for none.
func Attribute(ctx context.Context) history.Reconcile {
	name, _ := ctx.Value(reconcileName{}).(history.Reconcile)
	return name
}

// Incarnation is one start of a process.
type Incarnation struct {
	Process *Process
	N       int // 1 for the first
	Port    *wire.Port

	world  *Supervisor
	ctx    context.Context
	cancel context.CancelFunc
	exited bool
	ending atomic.Bool   // hands nothing out any more
	asked  bool          // asked to stop gracefully
	grace  *sched.Action // the SIGKILL that follows if it does not

	mu         sync.Mutex
	queues     []*queue
	informers  []*informer
	resyncs    map[schema.GroupKind]time.Duration // if it has caches of several namespaces: see resync
	turns      []turn                             // of goroutines that go on one at a time
	waits      int                                // how many have begun to
	runnables  int                                // of the program's own, that were added to managers
	waiters    []waiter
	handlers   []waitingHandler // until the next quiet moment
	managers   []*Manager
	webhooks   []*webhookServer
	hooked     []*observedController
	unobserved []string // controllers that cannot be observed
	released   bool
}

type incarnationKey struct{}

// Name is the process and incarnation, as "pipelines/2".
func (i *Incarnation) Name() string { return i.Port.Name() }

// spawn runs a function on a goroutine of the incarnation.
func (i *Incarnation) spawn(f func()) { go f() }

// Config is the rest.Config that the program is given.
func (i *Incarnation) Config() *rest.Config {
	return &rest.Config{
		Host:          "http://" + wire.APIHost,
		Transport:     i.Port,
		WrapTransport: i.wrap,
		QPS:           -1,
		ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
	}
}

// wrap numbers the clients that are made from the incarnation's rest.Config. A program's own
// transport stays.
func (i *Incarnation) wrap(rt http.RoundTripper) http.RoundTripper {
	if rt == http.RoundTripper(i.Port) {
		return i.Port.Client()
	}
	return rt
}

// event is an event of the incarnation, at this moment.
func (i *Incarnation) event(k history.Kind) history.Event {
	w := i.world
	return history.Event{
		Step: w.Sched.Steps(), At: w.Sched.Now(), Kind: k, Process: i.Process.Name, Incarnation: i.N,
		Server: w.Wire.Revision(),
	}
}

func (i *Incarnation) record(k history.Kind, outcome history.Outcome) *history.Event {
	e := i.event(k)
	e.Outcome = outcome
	i.world.History.Add(e)
	return &e
}

// Ending reports whether the incarnation was asked to end, or has ended and the world does not know
// yet.
func (i *Incarnation) Ending() bool { return i.ending.Load() }

// EndsByContext implements [wire.Owner]. A manager ends its own parts one after another, so only
// programs without one are concerned.
func (i *Incarnation) EndsByContext() bool {
	if !i.ending.Load() {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.managers) == 0
}

// dismiss lets an incarnation that is ending begin no reconcile any more. In production it may: a
// work queue that is shut down chooses at random between the next key and its end, and much of
// client-go chooses between an answer and a context that is done.
func (i *Incarnation) dismiss() {
	i.dismissKeys()
	i.world.Sched.Disturb()
}

// dismissKeys is dismiss for a goroutine of the incarnation. A program may end without being asked
// to, for example because one of its runnables has failed.
func (i *Incarnation) dismissKeys() {
	i.ending.Store(true)
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, h := range i.waiters {
		if h.ofKey && i.world.Sched.Drop(h.action) {
			h.granted <- false
		}
	}
}

// bury lets nothing of the incarnation happen any more. Its goroutines may be there still; those
// that are blocked stay blocked until the run ends.
func (i *Incarnation) bury() {
	i.world.Wire.Bury(i.Port)
	i.mu.Lock()
	for _, h := range i.waiters {
		i.world.Sched.Drop(h.action)
	}
	i.mu.Unlock()
	if i.grace != nil {
		i.world.Sched.Drop(i.grace)
	}
	if i.Process.current == i {
		i.Process.current = nil
	}
	i.cancel()
	i.world.Sched.Disturb()
}
