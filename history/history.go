// Package history records what happened in one run: the events in order, the objects that they left
// behind, and the effects outside the cluster.
//
// Properties and reports are functions of a [History] and of nothing else, so a failure reads the
// same on every replay. The package imports the standard library only, so that models, stories and
// reports can share it. It decides nothing, and it renders one line for each event at most.
package history

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Kind is the kind of an [Event].
type Kind string

// The kinds of events, in the order in which a run usually meets them.
const (
	Start     Kind = "start"     // an incarnation of a process begins
	Upgrade   Kind = "upgrade"   // the next incarnation of a process is another version; Note says which
	Stop      Kind = "stop"      // an incarnation ended by itself or was asked to stop; Outcome says how
	Crash     Kind = "crash"     // an incarnation was killed
	Request   Kind = "request"   // a request took effect at the API server or outside
	Reply     Kind = "reply"     // its reply reached the caller (or was lost: see Fault)
	Deliver   Kind = "deliver"   // a watch event (or an initial list) reached an incarnation's informer
	Dequeue   Kind = "dequeue"   // a worker dequeued a key: a reconcile begins; Cause says why
	Done      Kind = "done"      // a reconcile ended; Outcome says how
	Fault     Kind = "fault"     // a fault was injected; Injection says which and where
	Heal      Kind = "heal"      // faults ended: recovery begins
	Settled   Kind = "settled"   // the world is quiescent
	Again     Kind = "again"     // the user applies the same objects once more
	Violation Kind = "violation" // a property does not hold; Note is the sentence
	Mutation  Kind = "mutation"  // an object in an incarnation's cache was changed in place; Note says what
	// HandlerPause says that an event handler pauses before it continues; Note says where.
	HandlerPause Kind = "handler-pause"
	// HandledError says that a program has given an error to the error handlers of
	// k8s.io/apimachinery, as the workers of a queue of its own do; Outcome has the error.
	HandledError Kind = "handled-error"
)

// Ref names one object. Kind is empty for things outside the cluster.
type Ref struct {
	Cluster   string `json:"cluster,omitempty"` // host of the API server; empty for the world's own cluster
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

// Lease reports whether it is a Lease of coordination.k8s.io, and not a kind of an operator with
// the same name.
func (r Ref) Lease() bool { return r.Kind == "Lease" && r.Group == "coordination.k8s.io" }

// Chatter reports whether it is a Lease or a Kubernetes Event. Neither is the subject of a
// controller's work.
func (r Ref) Chatter() bool {
	return r.Lease() || r.Kind == "Event" && (r.Group == "" || r.Group == "events.k8s.io")
}

// String is "Kind namespace/name", without the parts that are empty.
func (r Ref) String() string {
	name := r.Name
	if r.Namespace != "" {
		name = r.Namespace + "/" + r.Name
	}
	if r.Cluster != "" {
		name += " in " + r.Cluster
	}
	return strings.TrimSpace(r.Kind + " " + name)
}

// Change is one committed change of one object.
type Change struct {
	Type     string    `json:"type"` // ADDED, MODIFIED or DELETED
	Ref      Ref       `json:"ref"`
	UID      string    `json:"uid"`
	Revision int64     `json:"revision"`
	At       Time      `json:"at"`
	Object   []byte    `json:"-"` // JSON after the change; for DELETED the last state
	Previous []byte    `json:"-"` // JSON before the change; nil for ADDED
	_        [0]func() // keyed literals only
}

// Time is virtual time since the beginning of the run.
type Time = time.Duration

// Seen compares the revision of an object in an incarnation's cache with the server's, at the begin
// of a reconcile. Revision 0 means absent.
type Seen struct {
	Ref    Ref   `json:"ref"`
	Cache  int64 `json:"cache"`
	Server int64 `json:"server"`
}

// Read is a read of the cache of an incarnation, in a reconcile.
type Read struct {
	Step   int    `json:"step"` // in which it was made
	Ref    Ref    `json:"ref"`  // without a name for a list; the group is not known
	Found  int    `json:"found"`
	Source string `json:"source"` // the program's line, as dir/file.go:line in its module
}

// String is where it was read and what it returned, as
// "op/op.go:7 (list Secret in default: 2 objects)".
func (r Read) String() string { return fmt.Sprintf("%s (%s: %s)", r.Source, r.What(), r.Result()) }

// Result is what it returned, as "found" or "2 objects".
func (r Read) Result() string {
	switch {
	case r.Ref.Name == "" && r.Found == 1:
		return "1 object"
	case r.Ref.Name == "":
		return fmt.Sprintf("%d objects", r.Found)
	case r.Found > 0:
		return "found"
	}
	return "not found"
}

// What returns what was read, as "get Namespace blue" or "list Secret in default".
func (r Read) What() string {
	switch {
	case r.Ref.Name != "":
		return "get " + r.Ref.String()
	case r.Ref.Namespace != "":
		return fmt.Sprintf("list %s in %s", r.Ref.Kind, r.Ref.Namespace)
	}
	return "list " + r.Ref.Kind
}

// Covers reports whether what was read includes an object, whatever labels were asked for.
func (r Read) Covers(o Ref) bool {
	return r.Ref.Kind == o.Kind && o.Cluster == "" && (r.Ref.Name == "" || r.Ref.Name == o.Name) &&
		(r.Ref.Name == "" && r.Ref.Namespace == "" || r.Ref.Namespace == o.Namespace)
}

// Event is one event of a run. Fields that do not apply to its Kind are zero.
type Event struct {
	Index   int    `json:"i"`
	Step    int    `json:"step"`              // number of the step in which it happened
	At      Time   `json:"at"`                // virtual time, nanoseconds
	Kind    Kind   `json:"kind"`              //
	Process string `json:"process,omitempty"` // "user" for the scenario itself
	// Incarnation is the number of the incarnation, from 1; 0 for what has no incarnations.
	Incarnation int       `json:"incarnation,omitempty"`
	Reconcile   Reconcile `json:"reconcile,omitzero"` // that it belongs to
	Call        int       `json:"call,omitempty"`     // Index of the request that a reply answers
	// get, list, watch, create, update, patch, delete, …; HTTP method outside
	Verb string `json:"verb,omitempty"`
	Ref  Ref    `json:"ref,omitzero"`
	Sub  string `json:"sub,omitempty"`  // subresource
	Host string `json:"host,omitempty"` // for requests to the outside
	Path string `json:"path,omitempty"`
	Code int    `json:"code,omitempty"` // HTTP status
	// Injected says of a request that a fault has answered it in place of the server.
	Injected bool  `json:"injected,omitempty"`
	Revision int64 `json:"revision,omitempty"` // resource version of the object in the reply or delivery
	Server   int64 `json:"server,omitempty"`   // store revision of the API server after this event
	// Cause is why a key was dequeued. Outcome is how a reconcile or an incarnation ended.
	Cause     Cause      `json:"cause,omitzero"`
	Outcome   Outcome    `json:"outcome,omitzero"`
	Injection *Injection `json:"injection,omitempty"` // of a fault; nil for none
	Note      string     `json:"note,omitempty"`      // for people; see [Event.Remark]
	Seen      []Seen     `json:"seen,omitempty"`      // at a dequeue: stale cache entries for its key
	// Wait is the delay before a dequeue (back-off, RequeueAfter), or that a finished reconcile
	// requested.
	Wait Time `json:"wait,omitempty"`
	// Ready is, at a dequeue, when a worker could have dequeued the key.
	Ready Time `json:"ready,omitempty"`
	// Source is the program's line that sent a request or with which a reconcile panicked, as
	// dir/file.go:line in its module; "" if it is not known.
	Source string `json:"source,omitempty"`
	// Reads are, at a request and at the end of a reconcile, the reads of the cache since the
	// request before it. They are recorded only in runs that are explained.
	Reads []Read `json:"reads,omitempty"`
	// Read are, at a violation, the objects that the property looked at, and About those that it
	// says it is about: see [About].
	Read  []Ref `json:"read,omitempty"`
	About []Ref `json:"about,omitempty"`

	Sent     []byte   `json:"-"` // request body
	Received []byte   `json:"-"` // reply body, or the frame delivered
	Changes  []Change `json:"-"` // what the request committed
}

// Actor is the process and the incarnation, as "pipelines/2". The user has no incarnations.
func (e *Event) Actor() string {
	if e.Incarnation == 0 {
		return e.Process
	}
	return fmt.Sprintf("%s/%d", e.Process, e.Incarnation)
}

// Remark describes the event in addition to its verb and object: the injection of a
// fault, how an incarnation stopped, or the Note.
func (e *Event) Remark() string {
	switch e.Kind {
	case Fault:
		return e.Injection.String()
	case Stop:
		return e.Outcome.exit()
	}
	return e.Note
}

// Write reports whether the event is a request that committed at least one change.
func (e *Event) Write() bool { return e.Kind == Request && len(e.Changes) > 0 }

// Chatter reports whether it is about a Lease, or about a Kubernetes Event that is no work of a
// reconcile: recorders write those in the background.
func (e *Event) Chatter() bool { return e.Ref.Chatter() && (e.Ref.Lease() || e.Reconcile.None()) }

// History is the record of one run. The zero value is ready to use. It is not safe for concurrent
// use: the scheduler alone appends to it, between steps.
type History struct {
	// Events are in order. The position of an event is its Index, except in a run that keeps only a
	// window of its history: read that with [History.Since], [History.From] and [History.Len].
	Events []Event
	// Redrawn is set in an undisturbed run, for properties that compare another run with it. It
	// returns the same run with other random numbers: what differs between the two is random. The
	// first call returns nil, and the harness repeats the run that asked, with the same choices.
	Redrawn func() *History
	effects []Effect
	draws   []Draw
	counts  map[Kind]int
	now     Time

	current // the objects
	past    // what is remembered of forgotten events
}

// Add appends an event and applies its changes to the objects. It returns the event's index.
func (h *History) Add(e Event) int {
	e.Index = h.Len()
	if h.objects == nil {
		h.objects, h.kinds, h.counts = map[Ref]*state{}, map[Ref][]*state{}, map[Kind]int{}
	}
	for i := range e.Changes {
		h.apply(&e.Changes[i])
	}
	h.Events = append(h.Events, e)
	h.counts[e.Kind]++
	h.now = e.At
	h.mark(&h.Events[len(h.Events)-1])
	return e.Index
}

// Count is the number of events of a kind, with those that are no longer kept.
func (h *History) Count(k Kind) int { return h.counts[k] }

// Now is the virtual time of the last event.
func (h *History) Now() Time { return h.now }

// Compare orders objects by cluster, group, kind, namespace and name, as [cmp.Compare] orders
// numbers.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(cmp.Compare(r.Cluster, o.Cluster), cmp.Compare(r.Group, o.Group), cmp.Compare(r.Kind, o.Kind),
		cmp.Compare(r.Namespace, o.Namespace), cmp.Compare(r.Name, o.Name))
}
