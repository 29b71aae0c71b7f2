package process

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/child"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// environment is what all incarnations of a world share.
type environment struct {
	Sched   *sched.Scheduler
	History *history.History
	Wire    *wire.Network
	Log     logr.Logger
	// ScriptedTimers has timers of queues fire by the scheduler's time, which is set, and not by
	// themselves.
	ScriptedTimers bool
	// Children, if set, say how incarnations are started as processes of their own.
	Children *child.Launcher
	// InChild is set in such a process: the world is in another one.
	InChild bool
	// NoteReads has reconciles note what they read from caches.
	NoteReads bool

	dialled func(process, address, at string, byHTTP bool) // see [Observer]
	longest atomic.Int64                                   // see LongestWait
	lookups
	serving
}

// noteWait remembers the longest delay of a dequeue. Any goroutine of the world may call it.
func (e *environment) noteWait(d time.Duration) {
	for {
		was := e.longest.Load()
		if int64(d) <= was || e.longest.CompareAndSwap(was, int64(d)) {
			return
		}
	}
}

// LongestWait is the longest delay of a dequeue since the last call.
func (e *environment) LongestWait() time.Duration { return time.Duration(e.longest.Swap(0)) }

// Unserved are the kinds that processes have looked up and that the cluster does not serve, in
// order.
func (e *environment) Unserved() (out []string) {
	e.unserved.Range(func(k, _ any) bool {
		if _, err := e.Wire.Mapper().RESTMapping(k.(schema.GroupKind)); err != nil {
			out = append(out, k.(schema.GroupKind).String())
		}
		return true
	})
	slices.Sort(out)
	return out
}

// serving remembers when a process last began to serve webhooks.
type serving struct {
	served   int
	servedAt time.Duration
}

// Served is the index of the last event before a process began to serve webhooks, and the time.
func (s *serving) Served() (index int, at time.Duration) { return s.served, s.servedAt }

// lookups are what processes have looked up and not found.
type lookups struct {
	unserved sync.Map // by schema.GroupKind
	missing  sync.Map // by history.Ref, objects that caches were asked for
}

// unservedKinds remembers the kinds that a mapper does not find.
type unservedKinds struct {
	meta.RESTMapper
	lookups *lookups
}

func (u unservedKinds) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m, err := u.RESTMapper.RESTMapping(gk, versions...)
	if meta.IsNoMatchError(err) {
		u.lookups.unserved.Store(gk, true)
	}
	return m, err
}

// noteMissing remembers what a cache was asked for and did not have. The error has its kind.
func (l *lookups) noteMissing(key client.ObjectKey, err error) {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return
	}
	of := status.Status().Details
	l.missing.Store(history.Ref{Group: of.Group, Kind: of.Kind, Namespace: key.Namespace, Name: key.Name}, true)
}

// Missing are the objects that caches were asked for and did not have, in order.
func (l *lookups) Missing() (out []history.Ref) {
	l.missing.Range(func(ref, _ any) bool {
		out = append(out, ref.(history.Ref))
		return true
	})
	slices.SortFunc(out, history.Ref.Compare)
	return out
}

// farOff is longer than a run takes whose timers are scripted.
const farOff = 1000 * time.Hour

// realDelay is the delay that a real queue gets. Scripted timers of real queues are far off: the
// observer fires them when virtual time, which is set, reaches their time.
func (e *environment) realDelay(d time.Duration) time.Duration {
	if d > 0 && e.ScriptedTimers {
		return farOff
	}
	return d
}
