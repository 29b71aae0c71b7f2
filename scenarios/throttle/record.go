// This file reads a run's history, event by event, into what the properties ask about.

package throttle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	incarnations []*incarnation
	injected     []history.Time // faults
	// over is set when the workload has come to its end, foreign when another controller has put
	// its finalizer on, and faulty while faults are injected.
	over, foreign, faulty bool
	// allowed is since when nothing is refused any more, measured from when on attempts are judged;
	// 0 while the workload has not come to that.
	allowed, measured history.Time
}

// object is what the properties read of a stored object.
type object struct {
	Metadata struct {
		Generation        int64
		DeletionTimestamp *string
		Finalizers        []string
	}
	Spec   struct{ Replicas *int }
	Status struct {
		Handlers   map[string]any
		Conditions []metav1.Condition
	}
}

// says is what the object says to be wrong with it.
func (o *object) says() string {
	for _, c := range o.Status.Conditions {
		if c.Type == throttle.HandledCondition && c.Status == metav1.ConditionFalse {
			return c.Message
		}
	}
	return ""
}

// example is what happened to one object of the operator's kind.
type example struct {
	*view.Object[object]
	asked    map[int64]history.Time // when each generation came to be
	calls    []call                 // of its handlers, as the call log has them
	children map[change][]history.Time
	events   []sign  // Kubernetes Events about it
	writes   []write // of the operator, without those of the status
	refused  []refusal
	reads    []history.Time // when the operator read it
	// heard is when the operator first heard of it, ready when it first heard that its finalizer is
	// there; 0 for not yet.
	heard, ready history.Time
	// attempts are calls of handlers, each with the write of what came of it, and further such
	// writes. calling is set between a call and its write.
	attempts []attempt
	calling  bool
}

// change is what a handler is called for: once.
type change struct {
	generation int64
	serial     string
}

type call struct {
	change
	at          history.Time
	incarnation int
	late        time.Duration // since the object went
}

type sign struct {
	message string
	at      history.Time
}

// write is a write that has arrived, and the answer, if that has come and is no success.
type write struct {
	request int // index of its event
	at      history.Time
	sent    []byte
	outcome bool // of a handler that has succeeded
	stored  bool
	code    int
	heard   history.Time
}

// refusal is an answer that would be the same to the same request.
type refusal struct {
	at      history.Time
	code    int
	message string
	status  bool // it was a write of the status
}

type attempt struct {
	at          history.Time
	incarnation int
}

// incarnation is one of the operator.
type incarnation struct {
	*view.Incarnation
	deaf   history.Time // since when it neither watches nor asks to; 0 while it does
	failed history.Time // when something that a handler asked for last failed
}

// blameless says whether it has ended, and not because of an object: it was killed or asked to end,
// or it could not watch.
func (i *incarnation) blameless() bool {
	return i.Over && (i.Killed || !i.Outcome.Failed() || strings.HasPrefix(i.Outcome.Text, "watching:"))
}

// NewRecord returns the record of a run that has not begun, with these handlers.
func NewRecord(handlers ...string) *Record {
	v := view.New()
	return &Record{handlers: handlers, view: v, objects: view.Follow[object](v, history.Ref{Kind: "KopfExample"}),
		children: view.Follow[metav1.PartialObjectMetadata](v, history.Ref{Kind: "ConfigMap"}),
		signs:    view.Follow[corev1.Event](v, history.Ref{Kind: "Event"})}
}

// read takes in what is new.
func (r *Record) read(h *history.History) {
	r.now = h.Now()
	for e := range r.view.New(h) {
		for _, o := range r.objects.Changed() {
			x := r.example(o.UID)
			if x == nil {
				x = &example{Object: o, asked: map[int64]history.Time{}, children: map[change][]history.Time{}}
				r.examples = append(r.examples, x)
			}
			if g := o.Value().Metadata.Generation; x.asked[g] == 0 {
				x.asked[g] = max(o.Latest().At, 1)
			}
		}
		for _, c := range r.children.Changed() {
			l := c.Value().Labels
			if x := r.example(l[throttle.ParentLabel]); x != nil && c.Previous() == nil {
				of := changeOf(l[throttle.ChangeLabel], l[throttle.SerialLabel])
				x.children[of] = append(x.children[of], c.Created())
			}
		}
		for _, s := range r.signs.Changed() {
			if x := r.example(string(s.Value().InvolvedObject.UID)); x != nil {
				x.events = append(x.events, sign{s.Value().Message, e.At})
			}
		}
		if e.Kind == history.Fault {
			r.injected = append(r.injected, e.At)
		}
		if e.Process == Operator {
			r.does(e, h)
		}
	}
}

func (r *Record) example(uid string) *example {
	if i := slices.IndexFunc(r.examples, func(o *example) bool { return o.UID == uid }); i >= 0 {
		return r.examples[i]
	}
	return nil
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
		var frame struct{ Object json.RawMessage }
		stored.Decode(e.Received, &frame)
		r.hears(e.At, frame.Object)
	case o == nil:
	case e.Verb == "get" && e.Kind == history.Request:
		o.reads = append(o.reads, e.At)
	case e.Verb == "patch" && e.Kind == history.Request && e.Sub == "":
		w := write{request: e.Index, at: e.At, sent: e.Sent, stored: e.Code < 400,
			outcome: bytes.Contains(e.Sent, []byte(`\"success\":true`))}
		o.writes = append(o.writes, w)
		if w.outcome {
			o.attempted(e, !o.calling)
			o.calling = false
		}
	case e.Verb == "patch" && e.Kind == history.Reply && e.Code >= 400:
		o.answered(e, &h.Events[e.Call])
	}
}

func (o *example) attempted(e *history.Event, anew bool) {
	if anew {
		o.attempts = append(o.attempts, attempt{e.At, e.Incarnation})
	}
}

// answered takes in that a write has failed. It was refused for good unless the answer came from
// somebody else than the server, or another one may follow.
func (o *example) answered(e, request *history.Event) {
	if i := slices.IndexFunc(o.writes, func(w write) bool { return w.request == e.Call }); i >= 0 {
		o.writes[i].code, o.writes[i].heard = e.Code, e.At
	}
	if e.Code != request.Code {
		return
	}
	var s struct{ Message string }
	stored.Decode(request.Received, &s)
	permanent := []int{400, 403, 404, 413, 422} // 404 for an object that is there
	if slices.Contains(permanent, e.Code) || strings.Contains(s.Message, admission.Unanswered) {
		o.refused = append(o.refused, refusal{e.At, e.Code, s.Message, e.Sub != ""})
	}
}

// listens keeps count of whether an incarnation still watches or asks to, and of what lists show
// it.
func (r *Record) listens(e *history.Event, h *history.History) {
	switch i := r.incarnations[e.Incarnation-1]; {
	case e.Kind == history.Request:
		i.deaf = 0
	case e.Kind == history.Reply && (e.Code >= 400 && e.Code != 410 || e.Note != ""):
		i.deaf = e.At
	case e.Kind == history.Reply && e.Verb == "list":
		var list struct{ Items []json.RawMessage }
		stored.Decode(h.Events[e.Call].Received, &list)
		for _, item := range list.Items {
			r.hears(e.At, item)
		}
	}
}

// hears takes in that the operator has heard of an object.
func (r *Record) hears(at history.Time, item []byte) {
	var heard struct {
		Metadata struct {
			UID        string
			Finalizers []string
		}
	}
	stored.Decode(item, &heard)
	o := r.example(heard.Metadata.UID)
	if o == nil {
		return
	}
	if o.heard == 0 {
		o.heard = at
	}
	if o.ready == 0 && slices.Contains(heard.Metadata.Finalizers, throttle.Finalizer) {
		o.ready = at
	}
}

// enters takes in an entry of the call log: /UID/generation/serial.
func (r *Record) enters(e *history.Event) {
	parts := strings.Split(strings.TrimPrefix(e.Path, "/"), "/")
	o := r.example(parts[0])
	if o == nil {
		return
	}
	c := call{change: changeOf(parts[1], parts[2]), at: e.At, incarnation: e.Incarnation}
	if at, gone := o.Removed(); gone {
		c.late = e.At - at
	}
	o.calls = append(o.calls, c)
	o.attempted(e, true)
	o.calling = true
}

func changeOf(generation, serial string) change {
	g, err := strconv.ParseInt(generation, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("%q is no generation", generation))
	}
	return change{g, serial}
}

// reports says whether at some time the object, or an Event about it, mentioned a refusal.
func (o *example) reports(message string, at history.Time) bool {
	if from, ok := o.event(message); ok && from <= at {
		return true
	}
	for i := len(o.States) - 1; i >= 0; i-- {
		if s := &o.States[i]; s.At <= at {
			return strings.Contains(s.Value.says(), message)
		}
	}
	return false
}

// event is when an Event about the object first mentioned a refusal, and whether one did.
func (o *example) event(message string) (history.Time, bool) {
	for _, e := range o.events {
		if strings.Contains(e.message, message) {
			return e.at, true
		}
	}
	return 0, false
}
