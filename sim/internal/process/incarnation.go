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
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Life is one life of a process.
type Life struct {
	Process *Process
	N       int // 1 for the first
	Port    *wire.Port

	world  *World
	ctx    context.Context
	cancel context.CancelFunc
	exited bool
	ending atomic.Bool   // hands nothing out any more
	asked  bool          // asked to stop gracefully
	grace  *sched.Action // the SIGKILL that follows if it does not

	mu        sync.Mutex
	queues    []*queue
	informers []*informer
	resyncs   map[schema.GroupKind]time.Duration // if it has caches of several namespaces: see resync
	turns     []turn                             // of goroutines that have waited for a cache
	waits     int                                // how many have begun to
	handouts  []handout
	managers  []*Manager
	webhooks  []*webhookServer
	hooked    []*hooked
	unseen    []string // controllers that cannot be observed
	released  bool
}

type lifeOf struct{}

// Name is the process and life, as "pipelines/2".
func (l *Life) Name() string { return l.Port.Name() }

// spawn runs a function on a goroutine of the life.
func (l *Life) spawn(f func()) { go f() }

func (l *Life) run() {
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

// stack is where a panic came from, to be called where it is recovered. It has no addresses, so that two runs say the same.
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

// Config is the rest.Config that the life's program is given.
func (l *Life) Config() *rest.Config {
	return &rest.Config{
		Host:          "http://" + wire.APIHost,
		Transport:     l.Port,
		WrapTransport: l.wrap,
		QPS:           -1,
		ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
	}
}

// wrap numbers the clients that are made from the incarnation's rest.Config. A transport of the program's own stays.
func (l *Life) wrap(rt http.RoundTripper) http.RoundTripper {
	if rt == http.RoundTripper(l.Port) {
		return l.Port.Client()
	}
	return rt
}

// exit runs on the scheduling goroutine when main has returned.
func (l *Life) exit(err error) {
	if l.Port.Dead() || l.exited {
		return
	}
	w := l.world
	if l.Port.Frozen() { // nobody hears of it before it goes on
		l.dismiss()
		l.Port.Await(&sched.Action{
			Order: l.Name() + " exit",
			What:  func() string { return "the end of " + l.Name() },
			Do:    func() { l.exit(err) },
		})
		return
	}
	l.exited = true
	note := "exited"
	if err != nil {
		note += ": " + repeatable(err.Error())
	}
	w.History.Add(history.Event{Step: w.Sched.Steps(), At: w.Sched.Now(), Kind: history.Stop, Process: l.Process.Name, Life: l.N,
		Note: note, Server: w.Wire.Server().Revision()})
	l.bury()
	if w.observer.Exited(l, err) {
		l.Process.again(err != nil || !l.asked, l.asked, note)
	}
}

// Kill ends the life as SIGKILL would: nothing of it takes effect any more.
func (l *Life) Kill() {
	if l.Port.Dead() {
		return
	}
	w := l.world
	w.History.Add(history.Event{Step: w.Sched.Steps(), At: w.Sched.Now(), Kind: history.Crash, Process: l.Process.Name, Life: l.N,
		Server: w.Wire.Server().Revision()})
	l.bury()
	l.Process.again(true, l.asked, "crashed")
}

// grace is how long the kubelet waits between SIGTERM and SIGKILL: terminationGracePeriodSeconds, by default.
const grace = 30 * time.Second

// Stop asks the life to end, as SIGTERM would. The kubelet starts the next one when it has, and kills it after 30 s.
func (l *Life) Stop() {
	if l.Port.Dead() || l.asked {
		return
	}
	w := l.world
	l.asked = true
	w.History.Add(history.Event{Step: w.Sched.Steps(), At: w.Sched.Now(), Kind: history.Stop, Process: l.Process.Name, Life: l.N,
		Note: "asked to stop", Server: w.Wire.Server().Revision()})
	l.dismiss()
	l.cancel()
	l.grace = &sched.Action{
		Order: l.Process.Name + " grace",
		What:  func() string { return "the end of " + l.Name() + "'s grace period" },
		Delay: func() time.Duration { return grace },
		Own:   grace,
		Do:    l.Kill,
	}
	w.Sched.Park(l.grace)
	w.Sched.Disturb()
}

// Ending reports whether the life was asked to end, or has ended without anybody knowing yet.
func (l *Life) Ending() bool { return l.ending.Load() }

// dismiss sees to it that a life that is ending begins no reconcile any more. In production it may: a work queue that is
// shutting down chooses at random between the next key and its end, and so does much of client-go between an answer and
// a context that is done.
func (l *Life) dismiss() {
	l.dismissKeys()
	l.world.Sched.Disturb()
}

// dismissKeys is dismiss for a goroutine of the life: a program may end without being asked to, as one does whose runnable has
// failed.
func (l *Life) dismissKeys() {
	l.ending.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.handouts {
		if h.ofKey && l.world.Sched.Drop(h.action) {
			h.granted <- false
		}
	}
}

// bury makes sure that nothing of the life happens any more. Its goroutines may still be there; whatever they are
// parked at stays parked until the run ends.
func (l *Life) bury() {
	l.world.Wire.Bury(l.Port)
	l.mu.Lock()
	for _, h := range l.handouts {
		l.world.Sched.Drop(h.action)
	}
	l.mu.Unlock()
	if l.grace != nil {
		l.world.Sched.Drop(l.grace)
	}
	if l.Process.life == l {
		l.Process.life = nil
	}
	l.cancel()
	l.world.Sched.Disturb()
}
