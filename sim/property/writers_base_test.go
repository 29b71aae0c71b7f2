package property

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/history"
)

// tale is a history of one object of which each version is written as data fields: "x=1 y=2".
type tale struct {
	h    history.History
	now  string
	last int64
}

var thing = history.Ref{Group: "example.com", Kind: "Thing", Namespace: "default", Name: "a"}

func object(version, generation int64, fields string) string {
	data := []string{}
	for f := range strings.FieldsSeq(fields) {
		k, v, _ := strings.Cut(f, "=")
		data = append(data, fmt.Sprintf("%q:%q", k, v))
	}
	marks := fmt.Sprintf(`"resourceVersion":"%d"`, version)
	if generation > 0 {
		marks += fmt.Sprintf(`,"generation":%d`, generation)
	}
	return fmt.Sprintf(`{"metadata":{%s},"data":{%s}}`, marks, strings.Join(data, ","))
}

// write commits a version. sent is the body of an update.
func (t *tale) write(by string, incarnation int, generation int64, fields, sent string) {
	t.last++
	now := object(t.last, generation, fields)
	c := history.Change{Type: "MODIFIED", Ref: thing, Revision: t.last, Object: []byte(now), Previous: []byte(t.now)}
	if t.now == "" {
		c.Type, c.Previous = "ADDED", nil
	}
	t.now = now
	e := history.Event{Kind: history.Request, Process: by, Incarnation: incarnation,
		Verb: "update", Ref: thing, Code: 200,
		Revision: t.last,
		Sent:     []byte(sent), Changes: []history.Change{c}}
	if incarnation > 0 {
		e.Reconcile = first
	}
	t.h.Add(e)
}

// first is the reconcile that writes.
var first = history.Reconcile{Key: history.Key{Controller: "things", Namespace: "default", Name: "a"}, N: 1}

func (t *tale) user(generation int64, fields string) { t.write("user", 0, generation, fields, "") }

func (t *tale) operator(generation int64, fields, sent string) {
	t.write("op", 1, generation, fields, sent)
}

func (t *tale) begin() {
	t.h.Add(history.Event{Kind: history.Dequeue, Process: "op", Incarnation: 1, Reconcile: first})
}

func (t *tale) conflict(sent string) {
	t.h.Add(history.Event{Kind: history.Request, Process: "op", Incarnation: 1, Reconcile: first,
		Verb: "update", Ref: thing,
		Code: 409, Sent: []byte(sent)})
}

// An update that carries a version is judged by the version that its content is based on.
func TestNoLostUpdateAndTheBaseOfAnUpdate(t *testing.T) {
	for name, c := range map[string]struct {
		tell func(*tale)
		lost string // part of the sentence
	}{
		"refused content under the newest version": {func(t *tale) {
			t.user(0, "x=1")
			t.begin()
			t.user(0, "x=2")
			t.conflict(object(1, 0, "x=1 done=yes"))
			t.operator(0, "x=1 done=yes", object(2, 0, "x=1 done=yes"))
		}, `.data.x back from "2", which user had written at 00:00.000 (rv 2), ` +
			`to "1": it carries resourceVersion 2, but its content is that of rv 1`},
		"the same after two conflicts": {func(t *tale) {
			t.user(0, "x=1")
			t.begin()
			t.user(0, "x=2")
			t.conflict(object(1, 0, "x=1 done=yes"))
			t.user(0, "x=2 y=2")
			t.conflict(object(2, 0, "x=1 done=yes"))
			t.operator(0, "x=1 done=yes", object(3, 0, "x=1 done=yes"))
		}, "its content is that of rv 1"},
		"the object is read again after the conflict": {func(t *tale) {
			t.user(0, "x=1")
			t.begin()
			t.user(0, "x=2")
			t.conflict(object(1, 0, "x=1 done=yes"))
			t.operator(0, "x=2 done=yes", object(2, 0, "x=2 done=yes"))
		}, ""},
		"a field that the program sets is set again after a conflict": {func(t *tale) {
			t.user(0, "x=0")
			t.begin()
			t.operator(0, "x=1", object(1, 0, "x=1"))
			t.user(0, "x=2")
			t.conflict(object(2, 0, "x=1 done=yes"))
			t.operator(0, "x=1 done=yes", object(3, 0, "x=1 done=yes"))
		}, ""},
		"a field is set back that was read as it is": {func(t *tale) {
			t.user(0, "x=1")
			t.begin()
			t.user(0, "x=2")
			t.operator(0, "x=1 done=yes", object(2, 0, "x=1 done=yes"))
		}, ""},
		"the generation of an older version": {func(t *tale) {
			t.user(1, "x=1")
			t.begin()
			t.user(2, "x=2")
			t.operator(3, "x=1 done=yes", object(2, 1, "x=1 done=yes"))
		}, "its content is that of rv 1"},
		"the generation of the version that it carries": {func(t *tale) {
			t.user(1, "x=1")
			t.begin()
			t.user(2, "x=2")
			t.conflict(object(1, 1, "x=1 done=yes"))
			t.operator(3, "x=1 done=yes", object(2, 2, "x=1 done=yes"))
		}, ""},
		"stale content, but a new value": {func(t *tale) {
			t.user(1, "x=1")
			t.begin()
			t.user(2, "x=2")
			t.operator(3, "x=3", object(2, 1, "x=3"))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var told tale
			c.tell(&told)
			switch err := NoLostUpdate()(&told.h); {
			case c.lost == "" && err != nil:
				t.Errorf("a sound update: %v", err)
			case c.lost != "" && (err == nil || !strings.Contains(err.Error(), c.lost)):
				t.Errorf("got %v, want a sentence with %s", err, c.lost)
			}
		})
	}
}
