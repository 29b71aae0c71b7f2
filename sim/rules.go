package sim

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/history"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// rules put the declared faults and the ordinary vagaries of a network onto the wire.
type rules struct{ w *World }

// latencies are what a request or a reply may take; the first is the dull one.
var latencies = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond,
}

// Latency implements wire.Rules.
func (r rules) Latency(c *wire.Call, leg string) time.Duration {
	if c.Idle() {
		return latencies[0]
	}
	return latencies[r.w.choices.Rarely(leg+" "+c.Port.Process+" "+c.String(), len(latencies), 3)]
}

// Arrive implements wire.Rules.
func (r rules) Arrive(c *wire.Call) wire.Ruling {
	if c.Port.Process == userName {
		return wire.Ruling{}
	}
	for _, f := range r.w.faults {
		if f, ok := f.(*crash); ok && f.kills(r.w, c, "before") {
			return wire.Ruling{Kill: true}
		}
	}
	return wire.Ruling{}
}

// Landed implements wire.Rules.
func (r rules) Landed(c *wire.Call) wire.Ruling {
	if c.Port.Process == userName {
		return wire.Ruling{}
	}
	for _, f := range r.w.faults {
		if f, ok := f.(*crash); ok && f.kills(r.w, c, "after") {
			return wire.Ruling{Kill: true}
		}
	}
	return wire.Ruling{}
}

// Lag implements wire.Rules.
func (r rules) Lag(s *wire.Stream, f apiserver.Frame) time.Duration {
	if f.Initial || s.Call.Idle() {
		return 0
	}
	var lag time.Duration
	for _, fault := range r.w.faults {
		if stale, ok := fault.(*staleCache); ok {
			lag = max(lag, stale.lag(r.w, s, f))
		}
	}
	return lag
}

// handout is told of every reconcile that begins.
func (w *World) handout(l *process.Life, controller string, item reconcile.Request) {
	begun := &w.history.Events[len(w.history.Events)-1]
	for _, f := range w.faults {
		switch f := f.(type) {
		case *staleCache:
			if len(begun.Seen) > 0 && f.count.Struck > 0 {
				f.count.Observed++
			}
		case *crash:
			if f.scope.process == l.Process.Name && l.N > 1 && item != (reconcile.Request{}) && begun.Reconcile[len(begun.Reconcile)-2:] == "#1" {
				f.count.Observed++
			}
		case *racingRequeue:
			f.race(w, l, controller, item)
		}
	}
}

// race may hand the key out once more, in a moment.
func (f *racingRequeue) race(w *World, l *process.Life, controller string, item reconcile.Request) {
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
		Do: func() bool {
			for _, c := range w.procs.Controllers() {
				if c.Life == l && c.Name == controller {
					f.count.Observed++
					w.note(history.Event{Kind: history.Fault, Process: l.Process.Name, Life: l.N, Note: "RacingRequeue of " + item.String()})
					c.Inject(item, "racing requeue")
					return true
				}
			}
			return false // that life is over
		},
	})
}
