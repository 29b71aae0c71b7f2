package world

import (
	"bytes"
	"maps"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/types"

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
	// made apart from its controllers.
	spoke, beside map[string]time.Duration
	busy          map[string]int // by process: reconciles under way
	// outside are the keys whose reconciles have asked an outside service, by process.
	outside  map[history.KeyID]*polling
	deleting map[history.Ref]bool // objects that wait for their deletion
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
		outside: map[history.KeyID]*polling{}, deleting: map[history.Ref]bool{},
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
		if _, spoke := a.spoke[e.Process]; spoke { // it may wait for a lease before its first request
			a.spoke[e.Process] = e.At
		}
		maps.DeleteFunc(a.outside, func(k history.KeyID, _ *polling) bool { return k.Actor == e.Process })
		a.started = moment{max(a.started.index, e.Index), e.At}
	case history.Dequeue:
		a.busy[e.Process]++
		if p := a.outside[keyOf(e)]; p != nil {
			p.asked, p.refused = false, false
		}
	case history.Done:
		a.busy[e.Process]--
		if p := a.outside[keyOf(e)]; p != nil {
			p.done(a.changed())
		}
	case history.Request:
		a.readTraffic(e)
		a.readRequest(e)
	case history.Reply: // a request that never arrived has only a reply
		a.readTraffic(e)
		a.readAnswer(e)
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
	a.readAnswer(e)
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

// polling is what is known of a key whose reconciles ask an outside service.
type polling struct {
	asked, refused bool // by the reconcile under way
	waits          bool // the last reconcile was refused, or told to wait
	times          int  // how many reconciles in a row have asked since the last change
	since          int  // index of that change
}

// maxPolls is how often a key must have asked an outside service that answers with success, until
// Settle takes it for a key that polls without end.
const maxPolls = 10

func keyOf(e *history.Event) history.KeyID {
	return history.KeyID{Actor: e.Process, Key: e.Reconcile.Key}
}

// done notes that a reconcile has ended.
func (p *polling) done(changed int) {
	p.waits = p.asked && p.refused
	if !p.asked || p.since != changed {
		p.times, p.since = 0, changed
	}
	if p.asked {
		p.times++
	}
}

// polls reports whether the key has asked often enough since the last change that it may do so
// without end.
func (p *polling) polls(changed int) bool { return p.since == changed && p.times >= maxPolls }

// readAnswer notes what an outside service has answered to a reconcile. An error, no answer, and
// 202 Accepted mean that the reconcile has to come back.
func (a *activity) readAnswer(e *history.Event) {
	if e.Host == "" || e.Reconcile.None() {
		return
	}
	p := a.outside[keyOf(e)]
	if p == nil {
		p = &polling{}
		a.outside[keyOf(e)] = p
	}
	p.asked = true
	p.refused = p.refused || e.Code == 0 || e.Code == http.StatusAccepted || e.Code >= http.StatusBadRequest
}

// awaitsOutside reports whether a key is requeued because of an outside service, which may take
// minutes to create or delete something:
//
//   - the object of the key is being deleted,
//   - the service refused the last reconcile of the key, or told it to wait, or
//   - the key has asked fewer than maxPolls times since the last change.
func (a *activity) awaitsOutside(procs *process.Supervisor) (yes bool) {
	if len(a.outside) == 0 {
		return false
	}
	deleting := map[types.NamespacedName]bool{}
	for ref := range a.deleting {
		deleting[types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}] = true
	}
	for _, c := range procs.Controllers() {
		c.EachTimer(func(t process.Timer) bool {
			key := history.Key{Controller: c.Name, Namespace: t.Item.Namespace, Name: t.Item.Name}
			p := a.outside[history.KeyID{Actor: c.Life.Port.Process, Key: key}]
			yes = p != nil && (deleting[t.Item.NamespacedName] || p.waits || !p.polls(a.changed()))
			return !yes
		})
		if yes {
			return true
		}
	}
	return false
}
