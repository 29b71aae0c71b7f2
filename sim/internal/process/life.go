// Package process runs the programs of a world: their lives, their real controller-runtime managers, and the
// observation of their work queues. A life is one run of a program's main from nothing: a crash ends it, a restart
// calls main again, so memory is truly lost.
//
// It does not decide when a life ends; faults and scenarios do.
package process

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// World is what all processes of a run share.
type World struct {
	Sched   *sched.Scheduler
	History *history.History
	Wire    *wire.Cluster
	Log     logr.Logger
	// OnHandout is told of every hand-out as it begins.
	OnHandout func(l *Life, controller string, item request)
	// OnExit is told when a program's main returned by itself. It reports whether the kubelet should start it again.
	OnExit func(l *Life, err error) (restart bool)
	// OnDial is told when a program dials an address by itself, with a context of its own incarnation.
	OnDial func(process, address, at string)

	processes []*Process
	longest   atomic.Int64 // see LongestWait
	unserved  sync.Map     // by schema.GroupKind, what was looked for in vain
	lives     []*Life
	alive     []*Life       // room for flush, which is called at each quiet moment
	served    int           // see Served
	servedAt  time.Duration // see Served
}

// Main is a program. It returns when ctx is done or when it fails.
type Main func(ctx context.Context, cfg *rest.Config) error

// Process is one program in the world.
type Process struct {
	Name string

	main      Main
	settings  Settings
	world     *World
	life      *Life // nil between lives
	lives     int
	failures  int  // in a row, for the kubelet's back-off
	fresh     bool // the next failure may count as the first
	forgiven  bool // and one has
	restart   *sched.Action
	startedAt time.Duration
}

// New wires the world together.
func New(s *sched.Scheduler, h *history.History, w *wire.Cluster, log logr.Logger) *World {
	world := &World{Sched: s, History: h, Wire: w, Log: log}
	w.Kill = func(p *wire.Port) { p.Owner.(*Life).Kill() }
	w.Serving = world.serving
	s.Quiet = world.flush
	return world
}

// Settings are what a cluster says about a program, and the program itself does not know.
type Settings struct {
	// Account is the ServiceAccount that it runs as, as "namespace/name"; "" for a cluster administrator.
	Account string
	// Services are the Services that lead to it, as "namespace/name"; any may when there are none.
	Services []string
	// ListThenWatch makes the informers of its managers list first and watch then.
	ListThenWatch bool
}

// Start adds a process and begins its first life.
func (w *World) Start(name string, main Main, settings Settings) *Process {
	p := &Process{Name: name, main: main, settings: settings, world: w}
	w.processes = append(w.processes, p)
	p.begin()
	w.Sched.Disturb()
	return p
}

// Processes are all processes, in the order in which they were started.
func (w *World) Processes() []*Process { return w.processes }

// Find returns a process by name, or nil.
func (w *World) Find(name string) *Process {
	for _, p := range w.processes {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// flush lets those who have waited for a cache go on, one by one, then informers' handlers hear their news in order. When
// that is done it passes held queue adds on, process by process, controller by controller. It reports whether any
// goroutine can go on.
func (w *World) flush() (woke bool) {
	w.alive = slices.DeleteFunc(append(w.alive[:0], w.lives...), func(l *Life) bool { return l.Port.Dead() })
	alive := w.alive
	if slices.ContainsFunc(alive, (*Life).nextTurn) {
		return true
	}
	for _, l := range alive {
		l.mu.Lock()
		informers := l.informers
		l.mu.Unlock()
		for _, i := range informers {
			woke = i.look() || woke
		}
	}
	if woke {
		return true
	}
	for _, l := range alive {
		for _, q := range l.observed() {
			woke = q.flush() || woke
		}
	}
	return woke
}

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

type handout struct {
	action  *sched.Action
	granted chan bool
	ofKey   bool // and not of the end of something
}

// observed are the queues of the life's controllers so far.
func (l *Life) observed() []*queue {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queues
}

type lifeOf struct{}

// Name is the process and life, as "pipelines/2".
func (l *Life) Name() string { return l.Port.Name() }

func (p *Process) begin() {
	w := p.world
	p.lives++
	p.restart = nil
	p.startedAt = w.Sched.Now()
	l := &Life{Process: p, N: p.lives, Port: w.Wire.NewPort(p.Name, p.lives), world: w}
	l.Port.Owner = l
	l.Port.Attribute = Attribute
	l.identify()
	l.ctx, l.cancel = context.WithCancel(l.own(context.Background()))
	p.life = l
	w.lives = append(w.lives, l)
	w.History.Add(history.Event{Step: w.Sched.Steps(), At: w.Sched.Now(), Kind: history.Start, Process: p.Name, Life: l.N,
		Server: w.Wire.Server().Revision()})
	go l.run()
}

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
	if w.OnExit == nil || w.OnExit(l, err) {
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

// Life is the current life; nil while the process is down.
func (p *Process) Life() *Life { return p.life }

// Lives is how many lives there were, the current one included.
func (p *Process) Lives() int { return p.lives }

// parkHandout registers a hand-out and parks it at the gate.
func (l *Life) parkHandout(a *sched.Action, granted chan bool, ofKey bool) {
	l.mu.Lock()
	if l.released || ofKey && l.ending.Load() { // under the mutex, or it could miss the end of the life's hand-outs
		l.mu.Unlock()
		granted <- false
		return
	}
	l.handouts = append(l.handouts, handout{a, granted, ofKey})
	l.mu.Unlock()
	if l.Port.Dead() {
		return // stays parked until the run ends
	}
	l.world.Sched.Park(a)
}

// unparkHandout forgets a hand-out that was granted.
func (l *Life) unparkHandout(a *sched.Action) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, h := range l.handouts {
		if h.action == a {
			l.handouts = append(l.handouts[:i], l.handouts[i+1:]...)
			return
		}
	}
}
