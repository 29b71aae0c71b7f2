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
func (l *Incarnation) Name() string { return l.Port.Name() }

// spawn runs a function on a goroutine of the incarnation.
func (l *Incarnation) spawn(f func()) { go f() }

func (l *Incarnation) run() {
	var err error
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{Value: r, Stack: stack()}
		}
		l.world.Sched.Note(l.Name(), func() { l.exit(err) })
	}()
	err = l.Process.main(l.ctx, l.Config())
}

// PanicError is what a program's main panicked with.
type PanicError struct {
	Value any
	Stack string
}

func (e *PanicError) Error() string { return repeatable(fmt.Sprintf("panic: %v", e.Value)) }

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
func (l *Incarnation) Config() *rest.Config {
	return &rest.Config{
		Host:          "http://" + wire.APIHost,
		Transport:     l.Port,
		WrapTransport: l.wrap,
		QPS:           -1,
		ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
	}
}

// wrap numbers the clients that are made from the incarnation's rest.Config. A program's own
// transport stays.
func (l *Incarnation) wrap(rt http.RoundTripper) http.RoundTripper {
	if rt == http.RoundTripper(l.Port) {
		return l.Port.Client()
	}
	return rt
}

// exit runs on the scheduling goroutine when main has returned.
func (l *Incarnation) exit(err error) {
	if l.Port.Dead() || l.exited {
		return
	}
	if l.Port.Frozen() { // nobody hears of it before it goes on
		l.dismiss()
		l.Port.Await(&sched.Action{
			Order: l.Name() + " exit",
			Actor: choice.Actor{Process: l.Name(), Name: "exit"},
			What:  func() string { return "the end of " + l.Name() },
			Do:    func() { l.exit(err) },
		})
		return
	}
	l.exited = true
	outcome := history.Outcome{Kind: history.Success}
	if err != nil {
		outcome = history.Outcome{Kind: history.Failure, Text: repeatable(err.Error())}
	}
	e := l.record(history.Stop, outcome)
	l.bury()
	if l.world.observer.Exited(l, err) {
		l.Process.scheduleRestart(err != nil || !l.asked, l.asked, e.Remark())
	}
}

// event is an event of the incarnation, at this moment.
func (l *Incarnation) event(k history.Kind) history.Event {
	w := l.world
	return history.Event{
		Step: w.Sched.Steps(), At: w.Sched.Now(), Kind: k, Process: l.Process.Name, Incarnation: l.N,
		Server: w.Wire.Server().Revision(),
	}
}

func (l *Incarnation) record(k history.Kind, outcome history.Outcome) *history.Event {
	e := l.event(k)
	e.Outcome = outcome
	l.world.History.Add(e)
	return &e
}

// Kill ends the incarnation as SIGKILL would: nothing of it takes effect any more.
func (l *Incarnation) Kill() {
	if l.Port.Dead() {
		return
	}
	l.record(history.Crash, history.Outcome{})
	l.bury()
	l.Process.scheduleRestart(true, l.asked, "crashed")
}

// grace is how long the kubelet waits between SIGTERM and SIGKILL: terminationGracePeriodSeconds,
// by default.
const grace = 30 * time.Second

// Stop asks the incarnation to end, as SIGTERM would. The kubelet kills it after 30 s, and starts
// the next one when it has ended.
func (l *Incarnation) Stop() {
	if l.Port.Dead() || l.asked {
		return
	}
	l.asked = true
	l.record(history.Stop, history.Outcome{Kind: history.Asked})
	l.dismiss()
	l.cancel()
	l.grace = &sched.Action{
		Order: l.Process.Name + " grace",
		Actor: choice.Actor{Process: l.Process.Name, Name: "grace"},
		What:  func() string { return "the end of " + l.Name() + "'s grace period" },
		Delay: func() time.Duration { return grace },
		Own:   grace,
		Do:    l.Kill,
	}
	l.world.Sched.Park(l.grace)
	l.world.Sched.Disturb()
}

// Ending reports whether the incarnation was asked to end, or has ended and the world does not know
// yet.
func (l *Incarnation) Ending() bool { return l.ending.Load() }

// EndsByContext implements [wire.Owner]. A manager ends its own parts one after another, so only
// programs without one are concerned.
func (l *Incarnation) EndsByContext() bool {
	if !l.ending.Load() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.managers) == 0
}

// dismiss lets an incarnation that is ending begin no reconcile any more. In production it may: a
// work queue that is shut down chooses at random between the next key and its end, and much of
// client-go chooses between an answer and a context that is done.
func (l *Incarnation) dismiss() {
	l.dismissKeys()
	l.world.Sched.Disturb()
}

// dismissKeys is dismiss for a goroutine of the incarnation. A program may end without being asked
// to, for example because one of its runnables has failed.
func (l *Incarnation) dismissKeys() {
	l.ending.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.waiters {
		if h.ofKey && l.world.Sched.Drop(h.action) {
			h.granted <- false
		}
	}
}

// bury lets nothing of the incarnation happen any more. Its goroutines may be there still; those
// that are blocked stay blocked until the run ends.
func (l *Incarnation) bury() {
	l.world.Wire.Bury(l.Port)
	l.mu.Lock()
	for _, h := range l.waiters {
		l.world.Sched.Drop(h.action)
	}
	l.mu.Unlock()
	if l.grace != nil {
		l.world.Sched.Drop(l.grace)
	}
	if l.Process.current == l {
		l.Process.current = nil
	}
	l.cancel()
	l.world.Sched.Disturb()
}
