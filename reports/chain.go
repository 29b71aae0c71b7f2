package reports

import (
	"fmt"
	"sort"
	"strings"

	"github.com/wavetank/wavetank/history"
)

// Link is one arrow of a chain of causes, between two events by their indices. Why says what made From matter to To.
type Link struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Why  string `json:"why"`
}

// longestChain is how many events a chain has at most: what led to a failure, not everything before it.
const longestChain = 40

// Chain is what led to the violation, as far as the history tells: the request at which it was noticed, earlier requests
// with the same effect, the reconciles that made them, what woke these, which write a cache did not hold yet, and the
// faults and lost replies in between. It is empty if nothing broke. The links are in the order of To, then From.
func Chain(h *history.History) []Link {
	x := newTracing(h)
	if x.violation < 0 {
		return nil
	}
	x.trace()
	sort.Slice(x.links, func(i, j int) bool {
		a, b := x.links[i], x.links[j]
		return a.To < b.To || a.To == b.To && a.From < b.From
	})
	return x.links
}

// commit is a revision of a cluster: each API server counts its own.
type commit struct {
	cluster  string
	revision int64
}

// tracing knows where in a history things belong together.
type tracing struct {
	h         *history.History
	violation int
	handout   map[int]int              // event of a reconcile → its hand-out
	inside    map[int][]int            // hand-out → faults, lost replies, refused requests and the end of that reconcile
	write     map[commit]int           // revision → the request that committed it
	delivered map[string][]int         // actor and kind → deliveries
	done      map[string][]int         // actor and key → ends of reconciles
	crash     map[string]int           // process and life → how it was killed
	effects   map[int][]history.Effect // request → its effects
	same      map[string][]int         // sort and key of an effect → requests that had it
	met       map[int]bool
	queue     []int
	links     []Link
}

func newTracing(h *history.History) *tracing {
	x := &tracing{h: h, violation: -1, handout: map[int]int{}, inside: map[int][]int{}, write: map[commit]int{}, delivered: map[string][]int{},
		done: map[string][]int{}, crash: map[string]int{}, effects: map[int][]history.Effect{}, same: map[string][]int{}, met: map[int]bool{}}
	for _, e := range h.Effects("") {
		x.effects[e.Event] = append(x.effects[e.Event], e)
		x.same[x.sort(e)] = append(x.same[x.sort(e)], e.Event)
	}
	current := map[string]int{}
	for i := range h.Events {
		e := &h.Events[i]
		key := e.Actor() + " " + e.Reconcile
		if e.Kind == history.Handout {
			current[key] = i
		}
		if start, ok := current[key]; ok && e.Reconcile != "" {
			x.handout[i] = start
			if e.Kind == history.Done || e.Kind == history.Fault || e.Kind == history.Reply && e.Note != "" || e.Kind == history.Request && e.Code >= 400 {
				x.inside[start] = append(x.inside[start], i)
			}
		}
		switch e.Kind {
		case history.Request:
			for _, c := range e.Changes {
				x.write[commit{c.Ref.Cluster, c.Revision}] = i
			}
		case history.Deliver:
			x.delivered[e.Actor()+" "+e.Ref.Kind] = append(x.delivered[e.Actor()+" "+e.Ref.Kind], i)
		case history.Done:
			x.done[e.Actor()+" "+keyOf(e.Reconcile)] = append(x.done[e.Actor()+" "+keyOf(e.Reconcile)], i)
		case history.Crash:
			x.crash[e.Actor()] = i
		case history.Violation:
			x.violation = i
		}
	}
	return x
}

// sort is what effects have in common that are the same: their kind and key, or, without a key, the
// whole request.
func (x *tracing) sort(e history.Effect) string {
	if !e.Unnamed() || e.Event >= len(x.h.Events) {
		return e.Kind + " " + e.Key
	}
	r := &x.h.Events[e.Event]
	return strings.Join([]string{e.Kind, r.Verb, r.Host, r.Path, string(r.Sent)}, " ")
}

// keyOf is a reconcile's name without its number.
func keyOf(reconcile string) string {
	key, _, _ := strings.Cut(reconcile, " #")
	return key
}

func (x *tracing) trace() {
	for i := x.violation - 1; i >= 0; i-- {
		if e := &x.h.Events[i]; e.Kind == history.Request && (len(e.Changes) > 0 || len(x.effects[i]) > 0) {
			x.link(i, x.violation, "the last thing done before it broke")
			break
		}
	}
	x.standing()
	for len(x.queue) > 0 {
		i := x.queue[0]
		x.queue = x.queue[1:]
		switch e := &x.h.Events[i]; e.Kind {
		case history.Request:
			x.request(i)
		case history.Handout:
			x.reconcile(i, e)
		case history.Done:
			x.ended(i, e)
		case history.Deliver:
			if w, ok := x.write[commit{e.Ref.Cluster, e.Revision}]; ok && e.Verb != "LIST" {
				x.link(w, i, delivered(e.At-x.h.Events[w].At))
			}
		}
	}
}

func delivered(after history.Time) string {
	if after == 0 {
		return "delivered at once"
	}
	return fmt.Sprintf("delivered after %v", after)
}

// few is how many faults a run may have for each of them to count as part of what happened.
const few = 3

// standing links what else stood when it broke: the last reconcile if it had failed, and the faults if they are few, as
// they are in a shrunk story.
func (x *tracing) standing() {
	var faults []int
	last := -1
	for i := range x.violation {
		switch e := &x.h.Events[i]; e.Kind {
		case history.Fault:
			faults = append(faults, i)
		case history.Done:
			last = i
		}
	}
	if last >= 0 && strings.Contains(x.h.Events[last].Outcome, "error") {
		x.link(last, x.violation, "the last reconcile before had failed")
	}
	if len(faults) <= few {
		for _, i := range faults {
			x.link(i, x.violation, "struck before")
		}
	}
}

// link adds an arrow, and goes on from where it comes from.
func (x *tracing) link(from, to int, why string) {
	if from >= to || !x.met[from] && len(x.met) >= longestChain {
		return
	}
	if !x.met[from] {
		x.met[from] = true
		x.queue = append(x.queue, from)
	}
	x.links = append(x.links, Link{from, to, why})
}

func (x *tracing) request(i int) {
	if start, ok := x.handout[i]; ok {
		x.link(start, i, "this reconcile asked for it")
	}
	for _, e := range x.effects[i] {
		for _, j := range x.same[x.sort(e)] {
			if j < i {
				x.link(j, i, fmt.Sprintf("the same %s, made before", e.Kind))
				x.between(j, i)
			}
		}
	}
}

// between links the death of the life that made request j to the reconcile of a later life that made it again.
func (x *tracing) between(j, i int) {
	a, b := &x.h.Events[j], &x.h.Events[i]
	start, ok := x.handout[i]
	if c, killed := x.crash[a.Actor()]; ok && killed && a.Process == b.Process && a.Life < b.Life {
		x.link(j, c, "not on record when it was killed")
		x.link(c, start, "took its memory")
	}
}

// reconcile goes on from a hand-out to what its cache did not hold, and to what woke it.
func (x *tracing) reconcile(i int, e *history.Event) {
	for _, s := range e.Seen {
		if w, ok := x.write[commit{s.Ref.Cluster, s.Server}]; ok && s.Server != 0 {
			x.link(w, i, fmt.Sprintf("not in its cache yet, which held rv %d of %s", s.Cache, s.Ref))
		}
		if w, ok := x.write[commit{s.Ref.Cluster, s.Cache}]; ok && s.Cache != 0 {
			x.link(w, i, fmt.Sprintf("stale read of %s", s.Ref))
		}
	}
	actor := e.Actor()
	what, in, _ := strings.Cut(strings.TrimSuffix(e.Cause, ")"), "(")
	switch {
	case what == "watch" || what == "initial-list":
		kind, _, _ := strings.Cut(in, " ")
		x.last(x.delivered[actor+" "+kind], i, "woke it")
	case what == "timer":
		x.last(x.done[actor+" "+keyOf(e.Reconcile)], i, "asked to be called again")
	}
}

// last links the last of some events that is before event i.
func (x *tracing) last(events []int, i int, why string) {
	if n := sort.SearchInts(events, i); n > 0 {
		x.link(events[n-1], i, why)
	}
}

// ended goes on from a failed reconcile to what went wrong in it, and to the faults behind that.
func (x *tracing) ended(i int, e *history.Event) {
	if e.Outcome == "ok" {
		return
	}
	var fault int
	for _, j := range x.inside[x.handout[i]] {
		switch k := x.h.Events[j].Kind; {
		case j >= i:
		case k == history.Fault:
			fault = j
			x.link(j, i, "struck in it")
		case fault > 0 && k == history.Reply:
			x.link(fault, j, "lost its reply")
			x.link(j, i, "made it fail")
		default:
			x.link(j, i, "made it fail")
		}
	}
}
