package history

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// This file is the JSON form of a whole history with its bodies, from which pages can be made
// later. Many events share a body: a client sent it, the server committed it, and it is the state
// before the next change. So each body is stored once, in a table, and events have its index.

// Format is the version of the JSON form that [History.MarshalJSON] writes.
const Format = 2

// document is the JSON form of a history.
type document struct {
	Format  int      `json:"format"`
	Events  []record `json:"events"`
	Effects []Effect `json:"effects,omitempty"`
	Draws   []Draw   `json:"draws,omitempty"`
	Bodies  []body   `json:"bodies,omitempty"`
}

// record is an event with the indices of its bodies in the table, counted from 1; 0 is no body.
type record struct {
	Event
	Sent     int            `json:"sent,omitempty"`
	Received int            `json:"received,omitempty"`
	Changes  []changeRecord `json:"changes,omitempty"`
}

type changeRecord struct {
	Change
	Object   int `json:"object,omitempty"`
	Previous int `json:"previous,omitempty"`
}

// body is a string if it is UTF-8, and otherwise {"base64": …}, so that no byte is lost.
type body []byte

type binary struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements [json.Marshaler].
func (b body) MarshalJSON() ([]byte, error) {
	if utf8.Valid(b) {
		return json.Marshal(string(b))
	}
	return json.Marshal(binary{b})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (b *body) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err == nil {
		*b = body(text)
		return nil
	}
	var raw binary
	err := json.Unmarshal(data, &raw)
	*b = raw.Base64
	return err
}

// table collects bodies.
type table struct {
	bodies []body
	places map[string]int
}

func (t *table) place(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	if n, ok := t.places[string(b)]; ok {
		return n
	}
	t.bodies = append(t.bodies, b)
	t.places[string(b)] = len(t.bodies)
	return len(t.bodies)
}

// MarshalJSON writes the whole history: {"format": 2, "events": […], "effects": […], "bodies":
// […]}. The fields of events and effects are those of [Event] and [Effect]. An event's "sent" and
// "received", and the "object" and "previous" of each of its "changes", are indices into "bodies",
// counted from 1. An absent index means no body. A body is a string, or {"base64": …} if it is not
// UTF-8. [History.UnmarshalJSON] returns an equal history, without a [Difference] and with the same
// [History.Hash].
func (h *History) MarshalJSON() ([]byte, error) {
	t := &table{places: map[string]int{}}
	d := document{Format: Format, Events: make([]record, len(h.Events)), Effects: h.effects, Draws: h.draws}
	for i, e := range h.Events {
		r := record{Event: e, Sent: t.place(e.Sent), Received: t.place(e.Received)}
		for _, c := range e.Changes {
			r.Changes = append(r.Changes, changeRecord{c, t.place(c.Object), t.place(c.Previous)})
		}
		d.Events[i] = r
	}
	d.Bodies = t.bodies
	return json.Marshal(d)
}

// UnmarshalJSON reads what [History.MarshalJSON] wrote. The error describes what is wrong with it.
func (h *History) UnmarshalJSON(data []byte) error {
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("not a history: %w", err)
	}
	if d.Format != Format {
		return fmt.Errorf("the history has format %d and this version of wavetank reads format %d; "+
			"make the run again, for example by replaying its story with -sim.report", d.Format, Format)
	}
	var wrong error
	at := func(n int) []byte {
		if n < 0 || n > len(d.Bodies) {
			wrong = fmt.Errorf("the history names body %d and has %d", n, len(d.Bodies))
			return nil
		}
		if n == 0 {
			return nil
		}
		return d.Bodies[n-1]
	}
	*h = History{}
	for i, r := range d.Events {
		e := r.Event
		if e.Index != i {
			return fmt.Errorf("event %d of the history says that it is event %d", i, e.Index)
		}
		e.Sent, e.Received = at(r.Sent), at(r.Received)
		for _, c := range r.Changes {
			c.Change.Object, c.Change.Previous = at(c.Object), at(c.Previous)
			e.Changes = append(e.Changes, c.Change)
		}
		h.Add(e)
	}
	h.effects, h.draws = d.Effects, d.Draws
	return wrong
}
