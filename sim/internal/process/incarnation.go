package process

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

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

func (i *Incarnation) run() {
	var err error
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{Value: r, Stack: stack()}
		}
		i.world.Sched.Note(i.Name(), func() { i.exit(err) })
	}()
	err = i.Process.main(i.ctx, i.Config())
}

// PanicError is what a program's main panicked with.
type PanicError struct {
	Value any
	Stack string
}

func (p *PanicError) Error() string { return repeatable(fmt.Sprintf("panic: %v", p.Value)) }

// stack is where a panic came from; it is called where the panic is recovered. It has no addresses,
// so that two runs have the same.
func stack() string {
	var b strings.Builder
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") {
			fmt.Fprintf(&b, "%s\n\t%s:%d\n", f.Function, f.File, f.Line)
		}
		if !more {
			return b.String()
		}
	}
}

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

// exit runs on the scheduling goroutine when main has returned.
func (i *Incarnation) exit(err error) {
	if i.Port.Dead() || i.exited {
		return
	}
	if i.Port.Frozen() { // nobody hears of it before it goes on
		i.dismiss()
		i.Port.Await(&sched.Action{
			Order: i.Name() + " exit",
			Actor: choice.Actor{Process: i.Name(), Name: "exit"},
			What:  func() string { return "the end of " + i.Name() },
			Do:    func() { i.exit(err) },
		})
		return
	}
	i.exited = true
	outcome := history.Outcome{Kind: history.Success}
	if err != nil {
		outcome = history.Outcome{Kind: history.Failure, Text: repeatable(err.Error())}
	}
	e := i.record(history.Stop, outcome)
	i.bury()
	if i.world.observer.Exited(i, err) {
		i.Process.scheduleRestart(err != nil || !i.asked, i.asked, e.Remark())
	}
}

// event is an event of the incarnation, at this moment.
func (i *Incarnation) event(k history.Kind) history.Event {
	w := i.world
	return history.Event{
		Step: w.Sched.Steps(), At: w.Sched.Now(), Kind: k, Process: i.Process.Name, Incarnation: i.N,
		Server: w.Wire.Server().Revision(),
	}
}

func (i *Incarnation) record(k history.Kind, outcome history.Outcome) *history.Event {
	e := i.event(k)
	e.Outcome = outcome
	i.world.History.Add(e)
	return &e
}

// Kill ends the incarnation as SIGKILL would: nothing of it takes effect any more.
func (i *Incarnation) Kill() {
	if i.Port.Dead() {
		return
	}
	i.record(history.Crash, history.Outcome{})
	i.bury()
	i.Process.scheduleRestart(true, i.asked, "crashed")
}

// grace is how long the kubelet waits between SIGTERM and SIGKILL: terminationGracePeriodSeconds,
// by default.
const grace = 30 * time.Second

// Stop asks the incarnation to end, as SIGTERM would. The kubelet kills it after 30 s, and starts
// the next one when it has ended.
func (i *Incarnation) Stop() {
	if i.Port.Dead() || i.asked {
		return
	}
	i.asked = true
	i.record(history.Stop, history.Outcome{Kind: history.Asked})
	i.dismiss()
	i.cancel()
	i.grace = &sched.Action{
		Order: i.Process.Name + " grace",
		Actor: choice.Actor{Process: i.Process.Name, Name: "grace"},
		What:  func() string { return "the end of " + i.Name() + "'s grace period" },
		Delay: func() time.Duration { return grace },
		Own:   grace,
		Do:    i.Kill,
	}
	i.world.Sched.Park(i.grace)
	i.world.Sched.Disturb()
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
