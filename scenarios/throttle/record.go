// This file exists to read a run's history once, event by event, into what the properties ask
// about.

package throttle

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/admission"
	"github.com/wavetank/wavetank/scenarios/internal/stored"
)

// Record are what one run's history says of the objects and of the operator.
type Record struct {
	handlers     []string
	read         int
	objects      map[string]*example // by UID
	order        []*example
	incarnations []*incarnation
	// over is set when the workload has come to its end, for properties that measure all of it.
	over bool
	// foreign is set when another controller has put its finalizer on.
	foreign bool
	// allowed is since when nothing is refused any more; 0 while the workload has not come to that.
	allowed history.Time
}

// example is one object.
type example struct {
	name string
	gone bool
	// asked is when each generation came to be.
	asked map[int64]history.Time
	// calls of handlers, as the call log has them, and the children that came of them.
	calls    []call
	children map[change]int
	// made is when the first child for a generation was.
	made map[int64]history.Time
	// refused are the operator's writes to the object that were refused for good; signs are what
	// can be read on or about the object, and until when.
	refused []refusal
	signs   []sign
	latest  state
	// heard is when the operator first heard of the object, ready when it first heard that its
	// finalizer is there, and wrote when it first wrote to it; 0 for not yet.
	heard, ready, wrote history.Time
	// writes are the operator's writes to the object, without those of the status; reads are when
	// it read it.
	writes []write
	reads  []history.Time
	// left is when the object went.
	left history.Time
}

// write is one that has arrived, and what was answered, if that has arrived.
type write struct {
	call   int // index of the request
	at     history.Time
	code   int
	sent   string
	heard  history.Time
	stored bool
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

type refusal struct {
	at      history.Time
	code    int
	message string
	status  bool // it was a write of the status
}

type sign struct {
	message     string
	from, until history.Time
}

// state is what the properties read of a stored object.
type state struct {
	Metadata struct {
		Generation        int64
		DeletionTimestamp *string
		Finalizers        []string
	}
	Spec struct {
		Replicas *int
	}
	Status struct {
		Handlers   map[string]any
		Conditions []struct{ Type, Status, Message string }
	}
}

// incarnation is one of the operator.
type incarnation struct {
	began, ended history.Time // ended is 0 while it lasts
	note         string
	deaf         history.Time // since when it neither watches nor asks to; 0 while it does
	// killed is set if it was not an object for which it ended, blameless when something that a
	// handler asked for last failed.
	killed    bool
	blameless history.Time
}

// NewRecord returns empty record of a run with these handlers.
func NewRecord(handlers ...string) *Record {
	return &Record{handlers: handlers, objects: map[string]*example{}}
}

const forever = history.Time(1<<63 - 1)

// take reads what is new.
func (b *Record) take(h *history.History) {
	for ; b.read < len(h.Events); b.read++ {
		e := &h.Events[b.read]
		for i := range e.Changes {
			b.changed(&e.Changes[i])
		}
		if e.Process != Operator {
			continue
		}
		switch {
		case e.Kind == history.Start:
			b.incarnations = append(b.incarnations, &incarnation{began: e.At})
		case e.Kind == history.Stop || e.Kind == history.Crash:
			b.ends(e)
		case e.Host == callLogHost && e.Kind == history.Request && e.Code < 400:
			b.called(e)
		case e.Kind == history.Reply && (e.Host == callLogHost || e.Ref.Kind == "ConfigMap"):
			if e.Code >= 400 && e.Code != 409 || e.Note != "" {
				b.incarnations[e.Incarnation-1].blameless = e.At
			}
		case e.Ref.Kind == "KopfExample" && (e.Verb == "list" || e.Verb == "watch"):
			b.hears(e, h)
		case e.Ref.Kind == "KopfExample" && e.Kind == history.Deliver:
			var frame struct{ Object json.RawMessage }
			stored.Decode(e.Received, &frame)
			b.heard(e.At, frame.Object)
		case e.Ref.Kind == "KopfExample" && e.Verb == "get":
			if o := b.named(e.Ref.Name); o != nil && e.Kind == history.Request {
				o.reads = append(o.reads, e.At)
			}
		case e.Ref.Kind == "KopfExample" && e.Verb == "patch" && e.Kind == history.Request:
			b.wrote(e)
		case e.Ref.Kind == "KopfExample" && e.Verb == "patch" && e.Kind == history.Reply && e.Code >= 400:
			b.answered(e, &h.Events[e.Call])
		}
	}
}

// ends takes in that an incarnation has ended or was asked to: by a signal, by its own decision, or
// because it could not watch.
func (b *Record) ends(e *history.Event) {
	l := b.incarnations[e.Incarnation-1]
	if e.Kind == history.Crash || !e.Outcome.Failed() || strings.HasPrefix(e.Outcome.Text, "watching:") {
		l.killed = true
	}
	if e.Kind == history.Crash || e.Outcome.Kind != history.Asked {
		l.ended, l.note = e.At, e.Remark()
	}
}

// wrote takes in a write of the operator's.
func (b *Record) wrote(e *history.Event) {
	o := b.named(e.Ref.Name)
	if o == nil {
		return
	}
	if o.wrote == 0 {
		o.wrote = e.At
	}
	if e.Sub == "" {
		o.writes = append(o.writes, write{call: e.Index, at: e.At, sent: string(e.Sent), stored: e.Code < 400})
	}
}

// answered takes in that a write has failed.
func (b *Record) answered(e, request *history.Event) {
	o := b.named(e.Ref.Name)
	if o == nil {
		return
	}
	if i := slices.IndexFunc(o.writes, func(w write) bool { return w.call == e.Call }); i >= 0 {
		o.writes[i].code, o.writes[i].heard = e.Code, e.At
	}
	if e.Code != request.Code {
		return // somebody else has answered
	}
	var s struct{ Message string }
	stored.Decode(request.Received, &s)
	if permanent(e.Code) || strings.Contains(s.Message, admission.Unanswered) {
		o.refused = append(o.refused, refusal{e.At, e.Code, s.Message, e.Sub != ""})
	}
}

// permanent says whether an answer would be the same to the same request. 404 is one of them for an
// object that is there.
func permanent(code int) bool {
	return code == 400 || code == 403 || code == 404 || code == 413 || code == 422
}

// hears keeps count of whether an incarnation still listens to what happens, and of what lists show
// it.
func (b *Record) hears(e *history.Event, h *history.History) {
	l := b.incarnations[e.Incarnation-1]
	switch {
	case e.Kind == history.Request:
		l.deaf = 0
	case e.Kind == history.Reply && (e.Code >= 400 && e.Code != 410 || e.Note != ""):
		l.deaf = e.At
	case e.Kind == history.Reply && e.Verb == "list":
		var list struct{ Items []json.RawMessage }
		stored.Decode(h.Events[e.Call].Received, &list)
		for _, item := range list.Items {
			b.heard(e.At, item)
		}
	}
}

// heard takes in that the operator has heard of an object.
func (b *Record) heard(at history.Time, object []byte) {
	var o struct {
		Metadata struct {
			UID        string
			Finalizers []string
		}
	}
	stored.Decode(object, &o)
	known := b.objects[o.Metadata.UID]
	if known == nil {
		return
	}
	if known.heard == 0 {
		known.heard = at
	}
	if known.ready == 0 && slices.Contains(o.Metadata.Finalizers, throttle.Finalizer) {
		known.ready = at
	}
}

// named is the living object of a name.
func (b *Record) named(name string) *example {
	for i := len(b.order) - 1; i >= 0; i-- {
		if o := b.order[i]; o.name == name && !o.gone {
			return o
		}
	}
	return nil
}

// called takes in an entry of the call log.
func (b *Record) called(e *history.Event) {
	uid, c := entry(e.Path)
	if o := b.objects[uid]; o != nil {
		late := time.Duration(0)
		if o.gone {
			late = e.At - o.left
		}
		o.calls = append(o.calls, call{c, e.At, e.Incarnation, late})
	}
}

// made takes in a child.
func (b *Record) made(c *history.Change) {
	var child struct {
		Metadata struct{ Labels map[string]string }
	}
	stored.Decode(c.Object, &child)
	l := child.Metadata.Labels
	o := b.objects[l[throttle.ParentLabel]]
	if o == nil || c.Type != "ADDED" {
		return
	}
	of := changeOf(l[throttle.ChangeLabel], l[throttle.SerialLabel])
	o.children[of]++
	if _, ok := o.made[of.generation]; !ok {
		o.made[of.generation] = c.At
	}
}

// changed takes in a committed change, whoever made it.
func (b *Record) changed(c *history.Change) {
	switch c.Ref.Kind {
	case "ConfigMap":
		b.made(c)
	case "Event":
		var event struct {
			Message        string
			InvolvedObject struct{ UID string }
		}
		stored.Decode(c.Object, &event)
		if o := b.objects[event.InvolvedObject.UID]; o != nil {
			o.signs = append(o.signs, sign{event.Message, c.At, forever})
		}
	case "KopfExample":
		o := b.objects[c.UID]
		if o == nil {
			o = &example{name: c.Ref.Name, asked: map[int64]history.Time{}, children: map[change]int{},
				made: map[int64]history.Time{}}
			b.objects[c.UID], b.order = o, append(b.order, o)
		}
		if o.gone = c.Type == "DELETED"; o.gone {
			o.left = c.At
		}
		o.latest = state{}
		stored.Decode(c.Object, &o.latest)
		if g := o.latest.Metadata.Generation; o.asked[g] == 0 {
			o.asked[g] = max(c.At, 1)
		}
		o.says(c.At)
	}
}

// says keeps track of what the object's own condition says.
func (o *example) says(at history.Time) {
	message := ""
	for _, c := range o.latest.Status.Conditions {
		if c.Type == throttle.HandledCondition && c.Status == "False" {
			message = c.Message
		}
	}
	for i := range o.signs {
		if s := &o.signs[i]; s.until == conditionLasts && s.message != message {
			s.until = at
		} else if s.until == conditionLasts {
			return
		}
	}
	if message != "" {
		o.signs = append(o.signs, sign{message, at, conditionLasts})
	}
}

// conditionLasts is the end of a sign that is still on the object.
const conditionLasts = forever - 1

// reports says whether at some time the object, or an Event about it, mentions a refusal.
func (o *example) reports(message string, at history.Time) bool {
	for _, s := range o.signs {
		if s.from <= at && at < s.until && strings.Contains(s.message, message) {
			return true
		}
	}
	return false
}

// What bounds allow: window is for how long the operator gathers events, leg how long a request or
// its answer is on its way at most, and soon what a finalizer, an intent and a handler take one
// after the other.
const (
	window = 100 * time.Millisecond
	leg    = 500 * time.Millisecond
	second = time.Second
	soon   = 5 * time.Second
)
