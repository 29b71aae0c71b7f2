// This file exists to read a run's history once, event by event, into what the properties ask about.

package throttle

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/sim/history"
)

// Books are what one run's history says of the objects and of the operator.
type Books struct {
	handlers []string
	read     int
	objects  map[string]*example // by UID
	order    []*example
	lives    []*life
	// over is set when the telling has come to its end, for properties that measure all of it.
	over bool
	// foreign is set when another controller has put its finalizer on.
	foreign bool
	// allowed is since when nothing is refused any more; 0 while the telling has not come to that.
	allowed history.Time
}

// example is one object.
type example struct {
	name string
	gone bool
	// asked is when each generation came to be, born when the object did.
	asked map[int64]history.Time
	born  history.Time
	// calls of handlers, and the children that came of them.
	calls    []call
	children map[change]int
	// made is when the first child for a generation was.
	made map[int64]history.Time
	// refused are the operator's writes to the object that were refused for good; signs are what can be read on or
	// about the object, and until when.
	refused []refusal
	signs   []sign
	latest  state
}

// change is what a handler is called for: once.
type change struct {
	generation int64
	serial     string
}

type call struct {
	change
	at   history.Time
	life int
}

type refusal struct {
	at      history.Time
	message string
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

// life is one life of the operator.
type life struct {
	began, ended history.Time // ended is 0 while it lasts
	note         string
	deaf         history.Time // since when it neither watches nor asks to; 0 while it does
	hears        bool
}

// NewBooks returns empty books of a run with these handlers.
func NewBooks(handlers ...string) *Books {
	return &Books{handlers: handlers, objects: map[string]*example{}}
}

const forever = history.Time(1<<63 - 1)

// take reads what is new.
func (b *Books) take(h *history.History) {
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
			b.lives = append(b.lives, &life{began: e.At})
		case e.Kind == history.Stop && strings.HasPrefix(e.Note, "exited") || e.Kind == history.Crash:
			l := b.lives[e.Life-1]
			l.ended, l.note = e.At, e.Note
		case e.Ref.Kind == "KopfExample" && (e.Verb == "list" || e.Verb == "watch"):
			b.hears(e)
		case e.Kind == history.Request && e.Verb == "create" && e.Ref.Kind == "ConfigMap":
			b.called(e)
		case e.Kind == history.Request && e.Ref.Kind == "KopfExample" && e.Verb == "patch" && e.Code >= 400:
			message := messageOf(e.Received)
			if o := b.named(e.Ref.Name); o != nil && (permanent(e.Code) || strings.Contains(message, unansweredWebhook)) {
				o.refused = append(o.refused, refusal{e.At, message})
			}
		}
	}
}

// permanent says whether an answer would be the same to the same request.
func permanent(code int) bool {
	return code == 400 || code == 403 || code == 413 || code == 422
}

// unansweredWebhook is in the message of a refusal that lasts as long as nobody answers at a webhook.
const unansweredWebhook = "failed calling webhook"

func messageOf(status []byte) string {
	var s struct{ Message string }
	mustDecode(status, &s)
	return s.Message
}

// hears keeps count of whether a life still listens to what happens.
func (b *Books) hears(e *history.Event) {
	l := b.lives[e.Life-1]
	switch {
	case e.Kind == history.Request:
		l.deaf = 0
	case e.Kind == history.Reply && (e.Code >= 400 && e.Code != 410 || e.Note != ""):
		l.deaf = e.At
	}
}

// named is the living object of a name.
func (b *Books) named(name string) *example {
	for i := len(b.order) - 1; i >= 0; i-- {
		if o := b.order[i]; o.name == name && !o.gone {
			return o
		}
	}
	return nil
}

func (b *Books) called(e *history.Event) {
	var child struct {
		Metadata struct{ Labels map[string]string }
	}
	mustDecode(e.Sent, &child)
	l := child.Metadata.Labels
	o := b.objects[l[throttle.ParentLabel]]
	if o == nil {
		return
	}
	c := change{serial: l[throttle.SerialLabel]}
	c.generation, _ = strconv.ParseInt(l[throttle.ChangeLabel], 10, 64)
	o.calls = append(o.calls, call{c, e.At, e.Life})
	if len(e.Changes) > 0 {
		o.children[c]++
		if _, ok := o.made[c.generation]; !ok {
			o.made[c.generation] = e.At
		}
	}
}

// changed takes in a committed change, whoever made it.
func (b *Books) changed(c *history.Change) {
	switch c.Ref.Kind {
	case "Event":
		var event struct {
			Message        string
			InvolvedObject struct{ UID string }
		}
		mustDecode(c.Object, &event)
		if o := b.objects[event.InvolvedObject.UID]; o != nil {
			o.signs = append(o.signs, sign{event.Message, c.At, forever})
		}
	case "KopfExample":
		o := b.objects[c.UID]
		if o == nil {
			o = &example{name: c.Ref.Name, born: c.At, asked: map[int64]history.Time{}, children: map[change]int{}, made: map[int64]history.Time{}}
			b.objects[c.UID], b.order = o, append(b.order, o)
		}
		o.gone = c.Type == "DELETED"
		o.latest = state{}
		mustDecode(c.Object, &o.latest)
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

// tells says whether at some time the object, or an Event about it, tells of a refusal.
func (o *example) tells(message string, at history.Time) bool {
	for _, s := range o.signs {
		if s.from <= at && at < s.until && strings.Contains(s.message, message) {
			return true
		}
	}
	return false
}

// mustDecode decodes what the API server said or stored.
func mustDecode(data []byte, into any) {
	if err := json.Unmarshal(data, into); err != nil {
		panic(fmt.Sprintf("%.80s cannot be decoded: %v", data, err))
	}
}

// What bounds allow for calls and batching: of a write, and of a finalizer, an intent and a handler one after the other.
const (
	second = time.Second
	soon   = 5 * time.Second
)
