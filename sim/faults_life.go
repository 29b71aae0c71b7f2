package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Restart asks the process to end, as SIGTERM does, around any of its writes: what it is doing it may finish, a lease it
// may release. It starts again at once when it has ended; one that ends with an error waits for the kubelet's back-off,
// and one that has not ended after 30 s is killed.
func Restart(process string, scopes ...Scope) Fault {
	return &restart{newOwned("Restart("+process+")", process, scopes), 0}
}

type restart struct {
	fault
	asked int // the latest life that was asked to end
}

func (f *restart) fresh() Fault   { c := *f; return &c }
func (f *restart) String() string { return f.name }

func (f *restart) arrive(w *World, c *wire.Call) wire.Ruling { return f.stop(w, c, "before") }
func (f *restart) land(w *World, c *wire.Call) wire.Ruling   { return f.stop(w, c, "after") }

func (f *restart) stop(w *World, c *wire.Call, when string) wire.Ruling {
	l, ok := c.Port.Owner.(*process.Incarnation)
	if !ok || !c.Writes() || f.asked >= l.N || f.hits(w, c, when, 2, 24, 6) == 0 {
		return wire.Ruling{}
	}
	f.asked = l.N
	f.mark(w, c, "SIGTERM "+when)
	w.sched.Park(&sched.Action{
		Order: "stop " + l.Name(),
		What:  func() string { return "SIGTERM to " + l.Name() },
		Do:    func() { f.seen(); l.Stop() },
	})
	return wire.Ruling{}
}

// Pause freezes the process for up to d around any of its requests, as a virtual machine that stalls or a container that
// is out of CPU time: no reply and no watch event reaches it and nothing of what it does reaches anybody. Then it wakes up
// and goes on where it was: a write that it was about to send arrives now, whoever has become leader meanwhile.
//
// Its timers do go off while it is frozen, but what follows from them is held until it wakes up.
func Pause(process string, d time.Duration, scopes ...Scope) Fault {
	return &pause{fault: newOwned(fmt.Sprintf("Pause(%s, %v)", process, d), process, scopes), max: d}
}

type pause struct {
	fault
	max   time.Duration
	life  *process.Incarnation // that is frozen; nil for none
	whose string        // what the orders of its actions begin with
	until time.Duration
	wake  *sched.Action
}

func (f *pause) fresh() Fault   { return &pause{fault: f.fault, max: f.max} }
func (f *pause) String() string { return f.name }

func (f *pause) arrive(w *World, c *wire.Call) wire.Ruling {
	return wire.Ruling{Hold: f.freeze(w, c, "before")}
}

func (f *pause) land(w *World, c *wire.Call) wire.Ruling {
	f.freeze(w, c, "after")
	return wire.Ruling{}
}

func (f *pause) freeze(w *World, c *wire.Call, when string) bool {
	l, ok := c.Port.Owner.(*process.Incarnation)
	if !ok || f.life != nil || l.Ending() {
		return false
	}
	v := f.hits(w, c, when, len(windowLevels), 48, 12)
	if v == 0 {
		return false
	}
	d := f.max / time.Duration(windowLevels[v])
	f.mark(w, c, fmt.Sprintf("for %v, %s", d, when))
	f.life, f.whose, f.until = l, l.Name()+" ", w.sched.Now()+d
	l.Port.Freeze()
	f.wake = &sched.Action{
		Order: "wake " + l.Name(),
		What:  func() string { return "the end of " + l.Name() + "'s pause" },
		Delay: func() time.Duration { return d },
		Do:    func() { f.thaw(w) },
	}
	w.sched.Park(f.wake)
	return true
}

// thaw lets the process go on.
func (f *pause) thaw(w *World) {
	if f.life == nil {
		return
	}
	if !f.life.Port.Dead() {
		f.seen()
		w.note(history.Event{Kind: history.Fault, Process: f.life.Process.Name, Life: f.life.N, Note: f.name + ": goes on"})
	}
	f.life.Port.Thaw()
	w.sched.Drop(f.wake)
	f.life = nil
	w.sched.Disturb()
}

func (f *pause) heal(w *World) { f.thaw(w) }

// holds is until when the fault lets nothing happen of an action.
func (f *pause) holds(a *sched.Action) time.Duration {
	if f.life == nil || !strings.HasPrefix(a.Order, f.whose) {
		return 0
	}
	return f.until
}

// Held implements sched.Observer: actions of a frozen process wait for its end.
func (r rules) Held(a *sched.Action) (until time.Duration) {
	for _, f := range r.w.pauses {
		until = max(until, f.holds(a))
	}
	return until
}

// LeaderOverlap lets another replica lead while the old leader still works: the old one's lease is taken away from it, as
// by somebody who deletes it, a backup that is restored or a candidate whose clock is ahead, and it hears nothing of its
// lease until it gives up at its RenewDeadline. It needs several processes with one leader election.
func LeaderOverlap(scopes ...Scope) Fault {
	return &leaderOverlap{newFault("LeaderOverlap", scopes), map[string]bool{}}
}

type leaderOverlap struct {
	fault
	deposed map[string]bool // lives that hear nothing of their lease
}

func (f *leaderOverlap) fresh() Fault { return &leaderOverlap{f.fault, map[string]bool{}} }

func (f *leaderOverlap) heal(*World) { clear(f.deposed) }

func (f *leaderOverlap) arrive(w *World, c *wire.Call) wire.Ruling {
	if !c.Idle() || c.Host != "" || c.Cluster != "" {
		return wire.Ruling{}
	}
	lost := wire.Ruling{Lose: &timeoutError{}}
	if f.deposed[c.Port.Name()] {
		return lost
	}
	if !f.scope.reaches(c) || !renews(w, c) ||
		f.strikes(w, c.Port.Process+" "+c.String(), 2, 12, 4) == 0 {
		return wire.Ruling{}
	}
	f.deposed[c.Port.Name()] = true
	f.mark(w, c, "somebody takes the lease away before")
	u := *c.Request.URL
	u.RawQuery = ""
	w.wire.Write(otherWriter, apiserver.Request{
		Method: http.MethodPatch, URL: &u, Body: []byte(`{"spec":{"holderIdentity":"","leaseDurationSeconds":1}}`),
		User: otherWriter, Groups: []string{"system:masters"}, Header: http.Header{"Content-Type": {"application/merge-patch+json"}},
	})
	return lost
}

// renews says whether the call renews a lease that its sender holds.
func renews(w *World, c *wire.Call) bool {
	if c.Verb() != "update" || c.Kind != "Lease" {
		return false
	}
	var sent, stored coordinationv1.Lease
	o, ok := w.history.Object(c.Info.Group, c.Kind, c.Info.Namespace, c.Info.Name)
	if !ok || json.Unmarshal(c.Request.Body, &sent) != nil || o.Into(&stored) != nil {
		return false
	}
	a, b := sent.Spec.HolderIdentity, stored.Spec.HolderIdentity
	return a != nil && b != nil && *a != "" && *a == *b
}

// handout counts a reconcile of a deposed leader after its successor has begun to work.
func (f *leaderOverlap) handout(w *World, l *process.Incarnation) {
	if !f.deposed[l.Name()] {
		return
	}
	for i := len(w.history.Events) - 1; i >= 0; i-- {
		switch e := &w.history.Events[i]; {
		case e.Kind == history.Fault && strings.HasPrefix(e.Note, f.name+": ") && e.Process == l.Process.Name:
			return
		case e.Kind == history.Handout && e.Process != l.Process.Name:
			f.seenLatest()
			return
		}
	}
}
