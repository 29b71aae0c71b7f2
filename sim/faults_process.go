package sim

import (
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// StaleCache makes watch events trail the server by up to d, for each process and kind on its own, so that kinds may
// arrive in another order than they were written. Without it a watch event arrives before the reply to the write that
// caused it.
func StaleCache(d time.Duration, scopes ...Scope) Fault {
	return &staleCache{newFault(fmt.Sprintf("StaleCache(%v)", d), scopes).taking("In", "OfKind", "Named"), d}
}

type staleCache struct {
	fault
	max time.Duration
}

func (f *staleCache) fresh() Fault { c := *f; return &c }

// lagLevels are the steps of lag, as shares of the longest.
var lagLevels = []int64{0, 1024, 256, 64, 16, 4, 2, 1}

func (s *staleCache) lag(w *World, st *wire.Stream, f apiserver.Frame) time.Duration {
	ref := history.Ref{Kind: st.Kind, Namespace: f.Namespace, Name: f.Name}
	if !s.scope.covers(st.Port.Process, st.Kind, "", ref) {
		return 0
	}
	v := s.strikes(w, st.Port.Process+" "+f.Type+" "+ref.String(), len(lagLevels), 8, 2)
	if v == 0 {
		return 0
	}
	return max(0, w.changedAt(st, f)+s.max/time.Duration(lagLevels[v])-w.sched.Now()) // it may have waited for the one before it
}

// changedAt is when what a watch is about to tell was committed.
func (w *World) changedAt(s *wire.Stream, f apiserver.Frame) history.Time {
	if s.Call.Cluster == "" {
		return w.committedAt(f.Revision)
	}
	for _, e := range slices.Backward(w.history.Events) {
		for _, c := range e.Changes {
			if c.Ref.Cluster == s.Call.Cluster && c.Revision == f.Revision {
				return e.At
			}
		}
	}
	return w.sched.Now()
}

// Crash kills the process, as SIGKILL would, before or after any of its writes takes effect. The kubelet starts it
// again after its back-off of 10 s to 5 min, as one that has failed before; with [AtOnce] the first restart comes at once.
func Crash(process string, scopes ...Scope) Fault {
	return &crash{fault: newOwned("Crash("+process+")", process, scopes, "AtOnce")}
}

type crash struct {
	fault
	felt int // the latest life that began to reconcile with empty memory
}

func (f *crash) fresh() Fault { c := *f; return &c }

func (c *crash) String() string { return c.name }

func (c *crash) arrive(w *World, call *wire.Call) wire.Ruling { return c.kill(w, call, "before") }
func (c *crash) land(w *World, call *wire.Call) wire.Ruling   { return c.kill(w, call, "after") }

func (c *crash) kill(w *World, call *wire.Call, when string) wire.Ruling {
	if !call.Writes() || c.hits(w, call, when, 2, 24, 6) == 0 {
		return wire.Ruling{}
	}
	c.mark(w, call, when)
	if l, ok := call.Port.Owner.(*process.Incarnation); ok && c.scope.atOnce {
		l.Process.Fresh()
	}
	return wire.Ruling{Kill: true}
}

// RacingRequeue hands keys to reconcilers once more than their events would: at once, while the key is still being
// reconciled, or up to a minute later, as a resync, a duplicate event or a leftover timer does.
func RacingRequeue(scopes ...Scope) Fault {
	return &racingRequeue{newFault("RacingRequeue", scopes).taking("In", "Named")}
}

type racingRequeue struct{ fault }

func (f *racingRequeue) fresh() Fault { c := *f; return &c }

var requeueLevels = []time.Duration{0, 0, time.Millisecond, 5 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second, time.Minute}

// race may hand the key out once more, in a moment.
func (f *racingRequeue) race(w *World, l *process.Incarnation, controller string, item reconcile.Request) {
	if !f.scope.covers(l.Process.Name, "", "", history.Ref{Namespace: item.Namespace, Name: item.Name}) {
		return
	}
	where := l.Process.Name + " " + controller + " " + item.String()
	v := f.strikes(w, where, len(requeueLevels), 10, 3)
	if v == 0 {
		return
	}
	w.sched.Park(&sched.Action{
		Order: "requeue " + where,
		What:  func() string { return "racing requeue of " + where },
		Delay: func() time.Duration { return requeueLevels[v] },
		Do: func() {
			for _, c := range w.procs.Controllers() { // none, if that life is over
				if c.Life == l && c.Name == controller {
					f.seen()
					w.note(history.Event{Kind: history.Fault, Process: l.Process.Name, Life: l.N, Note: "RacingRequeue: of " + item.String()})
					c.Inject(item, "racing requeue")
					return
				}
			}
		},
	})
}
