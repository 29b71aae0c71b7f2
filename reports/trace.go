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

// tracing is an index of the events that belong together.
type tracing struct {
	h         *history.History
	violation int
	dequeued  map[int]int              // event of a reconcile → the dequeue with which it began
	inside    map[int][]int            // dequeue → faults, lost replies, refused requests and the end of that reconcile
	write     map[commit]int           // revision → the request that committed it
	writes    map[history.Ref][]int    // object → requests that changed it
	delivered map[string][]int         // actor and kind → deliveries
	done      map[history.KeyID][]int  // actor and key → ends of reconciles
	crash     map[string]int           // incarnation → the event that killed it
	effects   map[int][]history.Effect // request → its effects
	same      map[string][]int         // kind and key of an effect → requests that had it
	named     []history.Ref            // objects that the sentence of the violation names
	delayed   map[string]bool          // process and object → a fault delays a watch event about it
	met       map[int]int              // event of the chain → how many were met before it
	queue     []int
	links     []Link
}

func newTracing(h *history.History) *tracing {
	x := &tracing{
		h: h, violation: -1,
		dequeued: map[int]int{}, inside: map[int][]int{}, write: map[commit]int{}, writes: map[history.Ref][]int{},
		delivered: map[string][]int{}, done: map[history.KeyID][]int{}, crash: map[string]int{},
		effects: map[int][]history.Effect{}, same: map[string][]int{}, met: map[int]int{},
	}
	for _, e := range h.Effects("") {
		x.effects[e.Event] = append(x.effects[e.Event], e)
		x.same[x.identity(e)] = append(x.same[x.identity(e)], e.Event)
	}
	current := map[history.ReconcileID]int{}
	for i := range h.Events {
		e := &h.Events[i]
		key := e.ReconcileID()
		if e.Kind == history.Dequeue {
			current[key] = i
		}
		if start, ok := current[key]; ok && !e.Reconcile.None() {
			x.dequeued[i] = start
			if mayExplainFailure(e) {
				x.inside[start] = append(x.inside[start], i)
			}
		}
		switch e.Kind {
		case history.Request:
			for _, c := range e.Changes {
				x.write[commit{c.Ref.Cluster, c.Revision}] = i
				x.writes[c.Ref] = append(x.writes[c.Ref], i)
			}
		case history.Deliver:
			to := e.Actor() + " " + e.Ref.Kind
			x.delivered[to] = append(x.delivered[to], i)
		case history.Done:
			of := e.KeyID()
			x.done[of] = append(x.done[of], i)
		case history.Crash:
			x.crash[e.Actor()] = i
		case history.Violation:
			x.violation = i
		}
	}
	return x
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
func (x *tracing) changes(i int) bool {
	e := &x.h.Events[i]
	return e.Kind == history.Request && (e.Write() || len(x.effects[i]) > 0)
}

// mostRead is how many objects a property may have looked at for the writes of each to be linked to
// the violation.
const mostRead = 8

// link adds an arrow, and queues its start.
func (x *tracing) link(from, to int, why string) {
	if from < to && x.meet(from) {
		x.links = append(x.links, Link{from, to, why})
	}
}

// meet queues an event. It reports false if the chain is too long for it.
func (x *tracing) meet(i int) bool {
	if x.on(i) {
		return true
	}
	if len(x.met) >= longestChain {
		return false
	}
	x.met[i] = len(x.met)
	x.queue = append(x.queue, i)
	return true
}

// on reports whether an event is on the chain.
func (x *tracing) on(i int) bool {
	_, ok := x.met[i]
	return ok
}

// last links the last of some events that is before event i.
func (x *tracing) last(events []int, i int, why string) {
	if n := sort.SearchInts(events, i); n > 0 {
		x.link(events[n-1], i, why)
	}
}

// refused reports whether a request failed. That a get finds nothing is an answer.
func refused(e *history.Event) bool { return failed(e) && !(e.Verb == "get" && e.Code == 404) }
