// This file reads a run's history, event by event, into what the properties ask about.

package throttle

import (
	"bytes"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
	"github.com/wavetank/wavetank/models/admission"
	"github.com/wavetank/wavetank/scenarios/internal/stored"
)

// Record is what one run's history says of the objects and of the operator.
type Record struct {
	handlers     []string
	now          history.Time // of the last reading
	view         *view.View
	objects      *view.Track[object]
	children     *view.Track[metav1.PartialObjectMetadata]
	signs        *view.Track[corev1.Event]
	examples     []*example
	byUID        map[types.UID]*example
	incarnations []*incarnation
	over         bool         // the workload is at its end
	allowed      history.Time // since when nothing is refused; 0 before that
	ended        history.Time // when faults ended; 0 before that
	// attempts are the events that begin an attempt, with the names of the objects: calls of
	// handlers, each with the write of its outcome, and further such writes.
	attempts map[int]string
}

// object is what the properties read of a stored object.
type object struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct{ Replicas *int }
	Status            struct {
		Handlers   map[string]any
		Conditions []metav1.Condition
	}
}

// says is what the object says to be wrong with it.
func (o *object) says() string {
	c := meta.FindStatusCondition(o.Status.Conditions, throttle.HandledCondition)
	if c == nil || c.Status != metav1.ConditionFalse {
		return ""
	}
	return c.Message
}

// example is what happened to one object of the operator's kind.
type example struct {
	*view.Object[object]
	asked    []history.Time // when each generation was created, from the first
	calls    []call         // of its handlers, as the call log has them
	children []call         // their children, with the times of their creation
	writes   []write        // of the operator, without those of the status
	refused  []write        // of all, those to which the answer would be the same again
	reads    []history.Time // when the operator read it
	// heard is when the operator first heard of it, ready when it first heard that its finalizer is
	// there; 0 for not yet.
	heard, ready history.Time
	calling      bool // between a call of a handler and the write of its outcome
}

func (o *example) String() string { return o.Ref.Name }

// change is what a handler is called for: once.
type change struct {
	generation int64
	serial     int // of the handler
}

type call struct {
	change
	at          history.Time
	incarnation int
}

// write is a write that has arrived, and the answer, if that has come and is no success.
type write struct {
	request history.Event
	outcome bool // of a handler that has succeeded
	code    int
	message string
	heard   history.Time
}

// incarnation is one of the operator.
type incarnation struct {
	*view.Incarnation
	deaf history.Time // since when it neither watches nor asks to; 0 while it does
	// refused is when its watch was answered with what asking again does not mend, and insists
	// whether it has asked again nevertheless.
	refused history.Time
	insists bool
	failed  history.Time // when something that a handler asked for last failed
}

// blameless reports whether it has ended, and not because of an object: it was killed or asked to
// end, or it could not watch.
func (i *incarnation) blameless() bool {
	return i.Over && (i.Killed || !i.Outcome.Failed() || strings.HasPrefix(i.Outcome.Text, "watching:"))
}

// NewRecord returns the record of a run that has not begun, with these handlers.
func NewRecord(handlers ...string) *Record {
	v := view.New()
	return &Record{
		handlers: handlers, view: v, byUID: map[types.UID]*example{}, attempts: map[int]string{},
		objects:  view.Follow[object](v, history.Ref{Kind: "KopfExample"}),
		children: view.Follow[metav1.PartialObjectMetadata](v, history.Ref{Kind: "ConfigMap"}),
		signs:    view.Follow[corev1.Event](v, history.Ref{Kind: "Event"}),
	}
}

// read takes in what is new.
func (r *Record) read(h *history.History) {
	r.now = h.Now()
	for e := range r.view.New(h) {
		for _, o := range r.objects.Changed() {
			now := o.Value()
			x := r.byUID[now.UID]
			if x == nil {
				x = &example{Object: o}
				r.examples, r.byUID[now.UID] = append(r.examples, x), x
			}
			if int(now.Generation) > len(x.asked) {
				x.asked = append(x.asked, e.At)
			}
		}
		for _, c := range r.children.Changed() {
			l := c.Value().Labels
			if x := r.byUID[types.UID(l[throttle.ParentLabel])]; x != nil && c.Previous() == nil {
				of := changeOf(l[throttle.ChangeLabel], l[throttle.SerialLabel])
				x.children = append(x.children, call{change: of, at: e.At})
			}
		}
		if e.Process == Operator {
			r.does(e, h)
		}
	}
}

// named is the example of a name that exists; nil if there is none.
func (r *Record) named(name string) *example {
	for _, o := range slices.Backward(r.examples) {
		if o.Ref.Name == name && o.Exists() {
			return o
		}
	}
	return nil
}

// does takes in what the operator does, and what it is answered.
func (r *Record) does(e *history.Event, h *history.History) {
	switch o := r.named(e.Ref.Name); {
	case e.Kind == history.Start:
		r.incarnations = append(r.incarnations, &incarnation{Incarnation: r.view.Running(Operator)})
	case e.Kind == history.Request && e.Host == callLogHost && e.Code < 400:
		r.enters(e)
	case e.Kind == history.Reply && (e.Host == callLogHost || e.Ref.Kind == "ConfigMap"):
		if e.Code >= 400 && e.Code != 409 || e.Note != "" {
			r.incarnations[e.Incarnation-1].failed = e.At
		}
	case e.Ref.Kind != "KopfExample":
	case e.Verb == "list" || e.Verb == "watch":
		r.listens(e, h)
	case e.Kind == history.Deliver:
		r.hears(e.At, e.Received)
	case o == nil:
	case e.Verb == "get" && e.Kind == history.Request:
		o.reads = append(o.reads, e.At)
	case e.Verb == "patch" && e.Kind == history.Request && e.Sub == "":
		w := write{request: *e, outcome: bytes.Contains(e.Sent, []byte(`\"success\":true`))}
		o.writes = append(o.writes, w)
		if w.outcome && !o.calling {
			r.attempts[e.Index] = o.Ref.Name
		}
		o.calling = o.calling && !w.outcome
	case e.Verb == "patch" && e.Kind == history.Reply && e.Code >= 400:
		o.answered(e, &h.Events[e.Call])
	}
}

// answered takes in that a write has failed. It was refused for good if the server itself
// answered, and if its answer to another attempt would be the same.
func (o *example) answered(e, request *history.Event) {
	w := write{request: *request, code: e.Code, heard: e.At}
	if i := slices.IndexFunc(o.writes, func(w write) bool { return w.request.Index == e.Call }); i >= 0 {
		o.writes[i].code, o.writes[i].heard = w.code, w.heard
	}
	if e.Code != request.Code {
		return
	}
	var s metav1.Status
	stored.Decode(request.Received, &s)
	permanent := []int{400, 403, 404, 413, 422} // 404 for an object that is there
	if w.message = s.Message; slices.Contains(permanent, e.Code) || strings.Contains(s.Message, admission.Unanswered) {
		o.refused = append(o.refused, w)
	}
}

// listens keeps count of whether an incarnation still watches or asks to, and of what lists show
// it.
func (r *Record) listens(e *history.Event, h *history.History) {
	switch i := r.incarnations[e.Incarnation-1]; {
	case e.Kind == history.Request:
		i.deaf, i.insists = 0, i.refused != 0
	case e.Kind == history.Reply && (e.Code >= 400 && e.Code != 410 || e.Note != ""):
		if i.deaf = e.At; !couldNot(e.Code) {
			i.refused = e.At
		}
	case e.Kind == history.Reply && e.Verb == "list":
		r.hears(e.At, h.Events[e.Call].Received)
	}
}

// hears takes in which objects a list or an event of a watch shows the operator.
func (r *Record) hears(at history.Time, received []byte) {
	var shown struct {
		Items  []metav1.PartialObjectMetadata // of a list
		Object metav1.PartialObjectMetadata   // of an event
	}
	stored.Decode(received, &shown)
	for _, now := range append(shown.Items, shown.Object) {
		o := r.byUID[now.UID]
		if o != nil && o.heard == 0 {
			o.heard = at
		}
		if o != nil && o.ready == 0 && slices.Contains(now.Finalizers, throttle.Finalizer) {
			o.ready = at
		}
	}
}

// enters takes in an entry of the call log: /UID/generation/serial.
func (r *Record) enters(e *history.Event) {
	parts := strings.Split(strings.TrimPrefix(e.Path, "/"), "/")
	if o := r.byUID[types.UID(parts[0])]; o != nil {
		c := call{changeOf(parts[1], parts[2]), e.At, e.Incarnation}
		o.calls, o.calling, r.attempts[e.Index] = append(o.calls, c), true, o.Ref.Name
	}
}

func changeOf(generation, serial string) (c change) {
	stored.Decode([]byte(generation), &c.generation)
	stored.Decode([]byte(serial), &c.serial)
	return c
}

// made is how many children the handlers have made for a change.
func (o *example) made(c change) int {
	return count(o.children, func(child call) bool { return child.change == c })
}

// count is how many there are of a kind.
func count[T any](all []T, is func(T) bool) (n int) {
	for _, one := range all {
		if is(one) {
			n++
		}
	}
	return n
}

// reports reports whether at some time the object, or an Event about it, mentioned a refusal.
func (r *Record) reports(o *example, message string, at history.Time) bool {
	if from, ok := r.event(o, message); ok && from <= at {
		return true
	}
	for _, s := range slices.Backward(o.States) {
		if s.At <= at {
			return strings.Contains(s.Value.says(), message)
		}
	}
	return false
}

// event is when an Event about the object first mentioned a refusal, and whether one did.
func (r *Record) event(o *example, message string) (history.Time, bool) {
	for _, e := range r.signs.All() {
		if v := e.Value(); string(v.InvolvedObject.UID) == o.UID && strings.Contains(v.Message, message) {
			return e.Created(), true
		}
	}
	return 0, false
}
