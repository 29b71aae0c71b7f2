// Package process runs the processes of a world: their incarnations, their real controller-runtime
// managers, and the observation of their work queues. An incarnation is one call of a program's
// main: a crash ends it and a restart calls main again, so memory is lost.
//
// It does not decide when an incarnation ends; faults and scenarios do.
package process

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Supervisor starts the processes of a world, and starts them again as the kubelet does.
type Supervisor struct {
	Sched   *sched.Scheduler
	History *history.History
	Wire    *wire.Network
	Log     logr.Logger
	// BackOff, when not 0, is the longest that the queues back off.
	BackOff time.Duration

	observer     Observer
	processes    []*Process
	longest      atomic.Int64 // see LongestWait
	unserved     sync.Map     // by schema.GroupKind, what was not found
	missing      sync.Map     // by history.Ref, what caches were asked for and did not have
	incarnations []*Incarnation
	alive        []*Incarnation // room for Flush, which is called at each quiet moment
	served       int            // see Served
	servedAt     time.Duration  // see Served
}

// Observer observes what processes do by themselves.
type Observer interface {
	// Dequeued is called for every key that a worker gets, as its reconcile begins.
	Dequeued(l *Incarnation, controller string, item reconcile.Request)
	// Exited is called if a program's main returns by itself. It reports whether the kubelet
	// should start it again.
	Exited(l *Incarnation, err error) (restart bool)
	// Dialled is called if a program dials an address by itself, with a context of its own
	// incarnation. It may be called on any goroutine. at is the operator's line, as file:line.
	Dialled(process, address, at string, byHTTP bool)
}

// New returns a supervisor without processes. The observer of its scheduler must call
// [Supervisor.Flush] at each quiet moment. That of its network takes the endpoints of webhooks from
// [Supervisor.Endpoints].
func New(s *sched.Scheduler, h *history.History, w *wire.Network, log logr.Logger, o Observer) *Supervisor {
	return &Supervisor{Sched: s, History: h, Wire: w, Log: log, observer: o}
}

// Processes are all processes, in the order in which they were started.
func (s *Supervisor) Processes() []*Process { return s.processes }

// Find returns a process by name, or nil.
func (s *Supervisor) Find(name string) *Process {
	for _, p := range s.processes {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// noteWait remembers the longest delay of a dequeue. Any goroutine of the world may call it.
func (s *Supervisor) noteWait(d time.Duration) {
	for {
		was := s.longest.Load()
		if int64(d) <= was || s.longest.CompareAndSwap(was, int64(d)) {
			return
		}
	}
}

// LongestWait is the longest delay of a dequeue since the last call.
func (s *Supervisor) LongestWait() time.Duration { return time.Duration(s.longest.Swap(0)) }
