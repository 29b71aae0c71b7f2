package sim

import (
	"bytes"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/process"
)

// quietness is what Settle must know about the past.
type quietness struct {
	seen      int                     // events taken in
	lastEvent time.Duration           // when anything but idle chatter last happened
	lastOther time.Duration           // when anything last happened that was no part of a reconcile, or a write
	lastWrite int                     // index of the last event that changed an object other than Leases and Events
	healed    int                     // index of the last event before faults were healed
	healedAt  time.Duration           // when that was
	started   int                     // index of the last event before an incarnation started, or began to serve webhooks
	startedAt time.Duration           // when that was
	wrote     history.Event           // the last write, without its bodies
	heard     map[string]history.Time // when each process last asked for something or was answered, leases and watches apart
	busy      map[string]int          // reconciles that each process has under way
	beside    map[string]history.Time // when each process last asked for an object, or outside, beside its controllers, or was answered
	outside   map[string]bool         // keys whose reconciles have asked the outside
	held      map[history.Ref]bool    // objects that are being deleted
}

func newQuietness() *quietness {
	return &quietness{lastWrite: -1, started: -1, heard: map[string]history.Time{}, busy: map[string]int{}, beside: map[string]history.Time{},
		outside: map[string]bool{}, held: map[history.Ref]bool{}}
}

// changed is the index of the last event after which what failed before may succeed: a write, the end of faults, or the
// start of an incarnation, which may serve a webhook that the others depend on.
func (q *quietness) changed() int { return max(q.lastWrite, q.healed, q.started) }

// unchanged is the time since which nothing of that has happened.
func (q *quietness) unchanged() time.Duration { return max(q.wrote.At, q.healedAt, q.startedAt) }

func (q *quietness) take(w *World) {
	if served, at := w.procs.Served(); served > q.started {
		q.started, q.startedAt = served, at
	}
	for events := w.history.Since(q.seen); len(events) > 0; events = events[1:] {
		e := &events[0]
		q.seen++
		if !e.Ref.Lease() {
			q.lastEvent = e.At
			if e.Reconcile == "" && !e.Ref.Chatter() {
				q.lastOther = e.At
			}
		}
		if (e.Kind == history.Request || e.Kind == history.Reply) && !e.Ref.Lease() && e.Verb != "watch" {
			q.heard[e.Process] = e.At // a request that never arrived has only a reply: refused at the socket, or lost
			if e.Reconcile == "" && q.busy[e.Process] == 0 && e.Verb != "list" && e.Ref.Kind+e.Host != "" && !e.Ref.Chatter() {
				q.beside[e.Process] = e.At
			}
		}
		switch e.Kind {
		case history.Start:
			q.busy[e.Process] = 0
			q.started, q.startedAt = max(q.started, e.Index), e.At
		case history.Handout:
			q.busy[e.Process]++
		case history.Done:
			q.busy[e.Process]--
		}
		if e.Kind != history.Request {
			continue
		}
		if e.Host != "" && e.Reconcile != "" {
			q.outside[e.Process+" "+e.Reconcile[:strings.LastIndex(e.Reconcile, " ")]] = true
		}
		for _, c := range e.Changes {
			if delete(q.held, c.Ref); c.Type != "DELETED" && bytes.Contains(c.Object, []byte(`"deletionTimestamp":"`)) {
				q.held[c.Ref] = true
			}
			if !c.Ref.Chatter() {
				q.lastWrite, q.lastOther = e.Index, e.At
				q.wrote = history.Event{At: e.At, Process: e.Process, Life: e.Life, Verb: e.Verb, Ref: e.Ref}
			}
		}
	}
}

// awaits says whether an object is kept from its deletion by a key that comes back and has asked the outside. What goes on there
// nobody can see: a cloud may take minutes to delete what it was asked to.
func (q *quietness) awaits(procs *process.Supervisor) (yes bool) {
	if len(q.held) == 0 || len(q.outside) == 0 {
		return false
	}
	controllers := procs.Controllers()
	for ref := range q.held {
		key := ref.Namespace + "/" + ref.Name
		for _, c := range controllers {
			if !yes && q.outside[c.Life.Process.Name+" "+c.Name+" "+key] {
				c.EachTimer(func(t process.Timer) bool { yes = t.Item.String() == key; return !yes })
			}
		}
	}
	return yes
}
