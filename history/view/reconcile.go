package view

import (
	"time"

	"github.com/wavetank/wavetank/history"
)

// Reconcile is one reconcile of one key, from the dequeue to its end.
type Reconcile struct {
	Process     string
	Incarnation int
	// ID names its controller, its key and its number. The namespace is empty for objects of the
	// whole cluster.
	ID history.Reconcile

	// Cause says why the key was dequeued. Timed is set if it was a timer: that of the back-off or
	// of RequeueAfter. BackOff is set if it was the back-off's.
	Cause          history.Cause
	Timed, BackOff bool
	// Wait is the delay that led to the dequeue, Ready when a free worker could have dequeued it.
	Wait  time.Duration
	Ready history.Time
	// Stale are entries of the cache for the key that were older than what the server held when it
	// began.
	Stale []history.Seen

	Began history.Time
	// Over says that it has ended: at the time Ended, with its incarnation if Killed.
	Over    bool
	Killed  bool
	Ended   history.Time
	Outcome history.Outcome
	After   time.Duration // RequeueAfter

	Calls   []*Call // requests, in the order in which they took effect
	Effects []history.Effect
	Faults  []history.Event // faults that were injected into its requests, or while it ran
}

// Call is a request of a reconcile and its reply.
type Call struct {
	Request history.Event
	// Reply is set when a reply has reached the caller. A lost reply is set, too: its Note says so.
	Reply *history.Event
}

// Failed reports whether it ended with an error or a panic, and so with back-off.
func (r *Reconcile) Failed() bool {
	return r.Outcome.Kind == history.OutcomeFailure || r.Outcome.Kind == history.OutcomePanic
}

// Retries reports whether it ended such that its queue brings it back with back-off: it failed, or
// asked for a requeue without a delay.
func (r *Reconcile) Retries() bool { return r.Failed() || r.Outcome.Kind == history.OutcomeRequeue }

// Open is the number of requests whose replies have not come.
func (r *Reconcile) Open() (n int) {
	for _, c := range r.Calls {
		if c.Reply == nil {
			n++
		}
	}
	return n
}

// Reconciles are all that have begun, in order.
func (v *View) Reconciles() []*Reconcile { return v.reconciles }

// Of is the reconcile during which an event happened: the latest of that name in that incarnation.
// It is nil for events outside of reconciles. While [View.New] yields the end of a reconcile, it is
// that reconcile.
func (v *View) Of(e *history.Event) *Reconcile {
	if e.Reconcile.None() {
		return nil
	}
	if r := v.running[e.ReconcileID()]; r != nil {
		return r
	}
	for i := len(v.reconciles) - 1; i >= 0; i-- {
		if r := v.reconciles[i]; r.ID == e.Reconcile && r.Process == e.Process && r.Incarnation == e.Incarnation {
			return r
		}
	}
	return nil
}

func (v *View) begun(e *history.Event) {
	r := &Reconcile{
		Process: e.Process, Incarnation: e.Incarnation, ID: e.Reconcile,
		Cause: e.Cause, Timed: e.Cause.Timer(), BackOff: e.Cause.Kind == history.CauseBackOff,
		Wait: e.Wait, Ready: e.Ready, Stale: e.Seen, Began: e.At,
	}
	v.reconciles = append(v.reconciles, r)
	v.running[e.ReconcileID()] = r
}

// take takes in an event of the reconcile.
func (r *Reconcile) take(v *View, e *history.Event) {
	switch e.Kind {
	case history.Request:
		c := &Call{Request: *e}
		r.Calls = append(r.Calls, c)
		v.calls[e.Index] = c
	case history.Reply:
		if c := v.calls[e.Call]; c != nil {
			reply := *e
			c.Reply = &reply
			delete(v.calls, e.Call)
		}
	case history.Fault:
		r.Faults = append(r.Faults, *e)
	case history.Done:
		r.Over, r.Ended, r.Outcome, r.After = true, e.At, e.Outcome, e.Wait
	}
}
