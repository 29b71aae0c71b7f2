// Package view reads a history into what properties usually ask about: objects over time,
// reconciles with their requests and effects, and incarnations of processes.
//
// A view belongs to one run. It reads each event once, so a property that is judged after every
// step stays cheap:
//
//	v := view.New()
//	backups := view.Follow[v1.Backup](v, history.Ref{Kind: "Backup"})
//	w.Always("a backup that was made is kept", func(h *history.History) error {
//		v.Read(h)
//		for _, backup := range backups.All() { … }
//		return nil
//	})
package view

import (
	"fmt"
	"iter"

	"github.com/wavetank/wavetank/history"
)

// View is what has been read of one run. It is not safe for concurrent use.
type View struct {
	read         int // events
	effects      int
	followers    []follower
	reconciles   []*Reconcile
	running      map[history.ReconcileID]*Reconcile
	calls        map[int]*Call // requests without a reply yet, by the index of the event
	incarnations []*Incarnation
	latest       map[string]*Incarnation // by process
}

// follower is a track of any type.
type follower interface {
	begin()
	change(e *history.Event, c *history.Change)
}

// New returns a view that has read nothing.
func New() *View {
	return &View{running: map[history.ReconcileID]*Reconcile{}, calls: map[int]*Call{},
		latest: map[string]*Incarnation{}}
}

// Read takes in what has happened since the last time.
func (v *View) Read(h *history.History) {
	for range v.New(h) {
	}
}

// New takes in what has happened since the last time, event by event. It yields each event after
// the view has taken it in and before the next one. A loop that is left early continues with the
// next event the next time.
//
// It panics if the history no longer keeps an event that the view has not read.
func (v *View) New(h *history.History) iter.Seq[*history.Event] {
	return func(yield func(*history.Event) bool) {
		for v.read < h.Len() {
			e := &h.Since(v.read)[0]
			v.read++
			v.take(h, e)
			if !yield(e) {
				return
			}
		}
	}
}

func (v *View) take(h *history.History, e *history.Event) {
	switch e.Kind {
	case history.Start:
		v.started(e)
	case history.Stop, history.Crash:
		v.ended(e)
	case history.Dequeue:
		v.begun(e)
	}
	if r := v.Of(e); r != nil {
		r.take(v, e)
	} else if e.Kind == history.Reply {
		delete(v.calls, e.Call)
	}
	for all := h.Effects(""); v.effects < len(all) && all[v.effects].Event <= e.Index; v.effects++ {
		if r := v.Of(e); r != nil && all[v.effects].Event == e.Index {
			r.Effects = append(r.Effects, all[v.effects])
		}
	}
	for _, f := range v.followers {
		f.begin()
		for i := range e.Changes {
			f.change(e, &e.Changes[i])
		}
	}
	if e.Kind == history.Done {
		delete(v.running, e.ReconcileID())
	}
}

// Incarnation is one execution of a process, from its start to its end.
type Incarnation struct {
	Process string
	N       int // from 1
	Began   history.Time
	// Over says that it has ended: at the time Ended, by a crash if Killed.
	Over   bool
	Killed bool
	Ended  history.Time
	// Outcome says how it ended by itself. It is zero after a crash.
	Outcome history.Outcome
}

// Incarnations are those of a process, the oldest first. An empty name means every process.
func (v *View) Incarnations(process string) []*Incarnation {
	if process == "" {
		return v.incarnations
	}
	var out []*Incarnation
	for _, i := range v.incarnations {
		if i.Process == process {
			out = append(out, i)
		}
	}
	return out
}

// Running is the incarnation of a process that has begun and not ended; nil if there is none.
func (v *View) Running(process string) *Incarnation {
	if i := v.latest[process]; i != nil && !i.Over {
		return i
	}
	return nil
}

func (v *View) started(e *history.Event) {
	i := &Incarnation{Process: e.Process, N: e.Incarnation, Began: e.At}
	v.incarnations = append(v.incarnations, i)
	v.latest[e.Process] = i
}

// ended takes in that an incarnation was killed, has exited, or was asked to stop.
func (v *View) ended(e *history.Event) {
	i := v.latest[e.Process]
	if i == nil || e.Outcome.Kind == history.OutcomeAsked {
		return
	}
	i.Over, i.Killed, i.Ended, i.Outcome = true, e.Kind == history.Crash, e.At, e.Outcome
	for name, r := range v.running {
		if r.Process == e.Process {
			r.Over, r.Killed, r.Ended = true, true, e.At
			delete(v.running, name)
		}
	}
}

// String is the incarnation as histories name it, as "pipelines/2".
func (i *Incarnation) String() string { return fmt.Sprintf("%s/%d", i.Process, i.N) }
