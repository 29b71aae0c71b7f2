package world

import (
	"bytes"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/process"
)

// activity is what quiescence must know about the past. It reads each event of the history once.
type activity struct {
	seen      int           // events that were read
	lastEvent time.Duration // when anything but idle chatter last happened
	// lastOther is when a write last happened, or anything that is no part of a reconcile.
	lastOther time.Duration
	// wrote is the last write that changed an object other than Leases and Events, without the
	// object. lastWrite is its index.
	wrote     history.Event
	lastWrite int
	recovery  moment // when faults ended last
	started   moment // when an incarnation started last, or began to serve webhooks

	// spoke is when each process last sent a request or received a reply. Leases and watches do not
	// count. beside is the same for requests for an object, or to the outside, that the process
	// made beside its controllers.
	spoke, beside map[string]time.Duration
	busy          map[string]int         // by process: reconciles under way
	outside       map[history.KeyID]bool // keys whose reconciles have asked the outside, by process
	deleting      map[history.Ref]bool   // objects that wait for their deletion
}

// moment is a point of the history.
type moment struct {
	index int // of the last event before
	at    time.Duration
}

func newActivity() activity {
	return activity{
		lastWrite: -1, started: moment{index: -1},
		spoke: map[string]time.Duration{}, beside: map[string]time.Duration{}, busy: map[string]int{},
		outside: map[history.KeyID]bool{}, deleting: map[history.Ref]bool{},
	}
}

// changed is the index of the last event after which a failed attempt may succeed: a write, the end
// of faults, or the start of an incarnation, which may serve a webhook that others depend on.
func (a *activity) changed() int { return max(a.lastWrite, a.recovery.index, a.started.index) }

// unchangedSince is when the last of these events happened.
func (a *activity) unchangedSince() time.Duration {
	return max(a.wrote.At, a.recovery.at, a.started.at)
}

// read reads the events that are new.
func (a *activity) read(h *history.History, procs *process.Supervisor) {
	if index, at := procs.Served(); index > a.started.index {
		a.started = moment{index, at}
	}
	for events := h.Since(a.seen); len(events) > 0; events = events[1:] {
		a.seen++
		a.readEvent(&events[0])
	}
}

func (a *activity) readEvent(e *history.Event) {
	if !e.Ref.Lease() {
		a.lastEvent = e.At
		if e.Reconcile.None() && !e.Ref.Chatter() {
			a.lastOther = e.At
		}
	}
	switch e.Kind {
	case history.Start:
		a.busy[e.Process] = 0
		a.started = moment{max(a.started.index, e.Index), e.At}
	case history.Dequeue:
		a.busy[e.Process]++
	case history.Done:
		a.busy[e.Process]--
	case history.Request:
		a.readTraffic(e)
		a.readRequest(e)
	case history.Reply: // a request that never arrived has only a reply
		a.readTraffic(e)
	}
}

// readTraffic notes that a process has sent a request or received a reply.
func (a *activity) readTraffic(e *history.Event) {
	if e.Ref.Lease() || e.Verb == "watch" {
		return
	}
	a.spoke[e.Process] = e.At
	addressed := e.Ref.Kind != "" || e.Host != ""
	if e.Reconcile.None() && a.busy[e.Process] == 0 && e.Verb != "list" && addressed && !e.Ref.Chatter() {
		a.beside[e.Process] = e.At
	}
}

// readRequest notes what a request has changed.
func (a *activity) readRequest(e *history.Event) {
	if e.Host != "" && !e.Reconcile.None() {
		a.outside[keyOf(e)] = true
	}
	for _, c := range e.Changes {
		delete(a.deleting, c.Ref)
		if c.Type != "DELETED" && bytes.Contains(c.Object, []byte(`"deletionTimestamp":"`)) {
			a.deleting[c.Ref] = true
		}
		if !c.Ref.Chatter() {
			a.lastWrite, a.lastOther = e.Index, e.At
			a.wrote = history.Event{At: e.At, Process: e.Process, Incarnation: e.Incarnation, Verb: e.Verb, Ref: e.Ref,
				Reconcile: e.Reconcile}
		}
	}
}

// awaitsOutside says whether an object waits for its deletion while its key comes back and has
// asked the outside. Nobody can see what goes on there: a cloud may take minutes to delete
// something.
func (a *activity) awaitsOutside(procs *process.Supervisor) (yes bool) {
	if len(a.deleting) == 0 || len(a.outside) == 0 {
		return false
	}
	controllers := procs.Controllers()
	for ref := range a.deleting {
		for _, c := range controllers {
			key := history.Key{Controller: c.Name, Namespace: ref.Namespace, Name: ref.Name}
			if !yes && a.outside[history.KeyID{Actor: c.Life.Process.Name, Key: key}] {
				c.EachTimer(func(t process.Timer) bool {
					yes = t.Item.Namespace == key.Namespace && t.Item.Name == key.Name
					return !yes
				})
			}
		}
	}
	return yes
}

func keyOf(e *history.Event) history.KeyID {
	return history.KeyID{Actor: e.Process, Key: e.Reconcile.Key}
}
