package fault

import (
	"encoding/json"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/inject"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// LeaderOverlap lets another replica lead while the old leader still works. The old leader's lease
// is taken away, as when the lease is deleted, a backup is restored, or a candidate's clock is
// ahead. The old leader does not learn of it until it gives up at its RenewDeadline. This fault
// needs several processes with one leader election.
func LeaderOverlap(scopes ...Scope) Fault {
	return declare("LeaderOverlap", "", scopes,
		func(c core) inject.Fault { return &leaderOverlap{c, map[string]bool{}} })
}

type leaderOverlap struct {
	core
	deposed map[string]bool // incarnations that hear nothing of their lease
}

// End implements [inject.Ender].
func (l *leaderOverlap) End() { clear(l.deposed) }

// Arrive implements [inject.Arriver].
func (l *leaderOverlap) Arrive(c *wire.Call) wire.Ruling {
	if !c.Idle() || c.Host != "" || c.Cluster != "" {
		return wire.Ruling{}
	}
	lost := wire.Ruling{Lose: &timeoutError{}}
	if l.deposed[c.Port.Name()] {
		return lost
	}
	if !l.reaches(c) || !l.renews(c) || l.injected(at(c, ""), 2, 12, 4) == 0 {
		return wire.Ruling{}
	}
	l.deposed[c.Port.Name()] = true
	l.note(c, "another client takes the lease away before")
	patchAsAnother(l.env, c, []byte(`{"spec":{"holderIdentity":"","leaseDurationSeconds":1}}`))
	return lost
}

// renews reports whether the call renews a lease that its sender holds.
func (l *leaderOverlap) renews(c *wire.Call) bool {
	if c.Verb() != "update" || c.Kind != "Lease" {
		return false
	}
	var sent, stored coordinationv1.Lease
	o, ok := l.env.History().Object(c.Info.Group, c.Kind, c.Info.Namespace, c.Info.Name)
	if !ok || json.Unmarshal(c.Request.Body, &sent) != nil || o.Into(&stored) != nil {
		return false
	}
	a, b := sent.Spec.HolderIdentity, stored.Spec.HolderIdentity
	return a != nil && b != nil && *a != "" && *a == *b
}

// Dequeued implements [inject.Dequeuer]: a deposed leader reconciles after its successor has begun
// to work.
func (l *leaderOverlap) Dequeued(incarnation *process.Incarnation, _ string, _ reconcile.Request) {
	if !l.deposed[incarnation.Name()] {
		return
	}
	events := l.env.History().Events
	for i := len(events) - 1; i >= 0; i-- {
		switch e := &events[i]; {
		case e.Injection.Fault() == l.name && e.Process == incarnation.Port.Process:
			return
		case e.Kind == history.Dequeue && e.Process != incarnation.Port.Process:
			l.latestObserved()
			return
		}
	}
}
