package reports

import (
	"sort"

	"github.com/wavetank/wavetank/history"
)

// Link is one arrow of a chain of causes, between two events by their indices. Why says how From
// led to To.
type Link struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Why  string `json:"why"`
}

// longestChain is how many events a chain has at most.
const longestChain = 40

// commit is a revision of a cluster: each API server counts its own.
type commit struct {
	cluster  string
	revision int64
}

// finder finds the events of a history that belong together.
type finder struct {
	h         *history.History
	violation int
	dequeued  map[int]int              // event of a reconcile → the dequeue with which it began
	inside    map[int][]int            // dequeue → faults, lost replies, refused requests and end of that reconcile
	write     map[commit]int           // revision → the request that committed it
	writes    map[history.Ref][]int    // object → requests that changed it
	delivered map[string][]int         // actor and kind → deliveries
	done      map[history.KeyID][]int  // actor and key → ends of reconciles
	crash     map[string]int           // incarnation → the event that killed it
	effects   map[int][]history.Effect // request → its effects
	same      map[string][]int         // kind and key of an effect → requests that had it
}

// tracing is a chain of causes while it is made.
type tracing struct {
	*finder
	named []history.Ref // objects that the sentence of the violation names
	met   map[int]int   // event of the chain → how many were met before it
	queue []int
	links []Link
}

// unseen is a chain of causes with what the caches of programs lacked.
type unseen struct {
	*tracing
	delayed map[string]bool // process and object → a fault delays a watch event about it
}

func newTracing(h *history.History) *unseen {
	return &unseen{tracing: &tracing{finder: newFinder(h), met: map[int]int{}}}
}

func newFinder(h *history.History) *finder {
	f := &finder{
		h: h, violation: -1,
		dequeued: map[int]int{}, inside: map[int][]int{}, write: map[commit]int{}, writes: map[history.Ref][]int{},
		delivered: map[string][]int{}, done: map[history.KeyID][]int{}, crash: map[string]int{},
		effects: map[int][]history.Effect{}, same: map[string][]int{},
	}
	for _, e := range h.Effects("") {
		f.effects[e.Event] = append(f.effects[e.Event], e)
		f.same[f.identity(e)] = append(f.same[f.identity(e)], e.Event)
	}
	current := map[history.ReconcileID]int{}
	for i := range h.Events {
		e := &h.Events[i]
		key := e.ReconcileID()
		if e.Kind == history.Dequeue {
			current[key] = i
		}
		if start, ok := current[key]; ok && !e.Reconcile.None() {
			f.dequeued[i] = start
			if mayExplainFailure(e) {
				f.inside[start] = append(f.inside[start], i)
			}
		}
		switch e.Kind {
		case history.Request:
			for _, c := range e.Changes {
				f.write[commit{c.Ref.Cluster, c.Revision}] = i
				f.writes[c.Ref] = append(f.writes[c.Ref], i)
			}
		case history.Deliver:
			to := e.Actor() + " " + e.Ref.Kind
			f.delivered[to] = append(f.delivered[to], i)
		case history.Done:
			of := e.KeyID()
			f.done[of] = append(f.done[of], i)
		case history.Crash:
			f.crash[e.Actor()] = i
		case history.Violation:
			f.violation = i
		}
	}
	return f
}

// mayExplainFailure reports whether an event of a reconcile is a fault, a failed request or its
// end.
func mayExplainFailure(e *history.Event) bool {
	return e.Kind == history.Done || e.Kind == history.Fault || failed(e)
}

// failed reports whether a request was refused or got no reply.
func failed(e *history.Event) bool {
	return e.Kind == history.Reply && e.Note != "" || e.Kind == history.Request && e.Code >= 400
}

// changes reports whether a request changed something, in the cluster or outside.
func (f *finder) changes(i int) bool {
	e := &f.h.Events[i]
	return e.Kind == history.Request && (e.Write() || len(f.effects[i]) > 0)
}

// mostRead is how many objects a property may have looked at for the writes of each to be linked to
// the violation.
const mostRead = 8

// link adds an arrow, and queues its start.
func (t *tracing) link(from, to int, why string) {
	if from < to && t.meet(from) {
		t.links = append(t.links, Link{from, to, why})
	}
}

// meet queues an event. It reports false if the chain is too long for it.
func (t *tracing) meet(i int) bool {
	if t.on(i) {
		return true
	}
	if len(t.met) >= longestChain {
		return false
	}
	t.met[i] = len(t.met)
	t.queue = append(t.queue, i)
	return true
}

// on reports whether an event is on the chain.
func (t *tracing) on(i int) bool {
	_, ok := t.met[i]
	return ok
}

// last links the last of some events that is before event i.
func (t *tracing) last(events []int, i int, why string) {
	if n := sort.SearchInts(events, i); n > 0 {
		t.link(events[n-1], i, why)
	}
}

// refused reports whether a request failed. That a get finds nothing is an answer.
func refused(e *history.Event) bool { return failed(e) && !(e.Verb == "get" && e.Code == 404) }
