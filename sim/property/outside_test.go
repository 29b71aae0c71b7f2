package property

import (
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
)

// An answer is news if it shows a change outside that no program under test has made.
func TestNewsFromOutside(t *testing.T) {
	for _, c := range []struct {
		what      string
		exchanges string // of the operator, each with its answer
		news      bool   // the last answer is news
	}{
		{"the same answer", "GET /a: x, GET /a: x", false},
		{"another answer", "GET /a: x, GET /a: y", true},
		{"another status", "GET /a: x, GET /a: 404", true},
		{"the first answer", "GET /a: x, GET /b: y", false},
		{"another query", "GET /a?q=1: x, GET /a?q=2: y", false},
		{"another answer once more", "GET /a: x, GET /a: x, GET /a: y, GET /a: y", false},
		{"a write of its own in between", "GET /a: x, PUT /a 1: ok, GET /a: y", false},
		{"a write to a part of it", "GET /a: x, POST /a/1: ok, GET /a: y", false},
		{"a write to what it is a part of", "GET /a/1: x, DELETE /a: ok, GET /a/1: 404", false},
		{"a write elsewhere", "GET /a: x, POST /b: ok, POST /ab: ok, GET /a: y", true},
		{"a write before", "POST /a: ok, GET /a: pending, GET /a: ready", true},
		{"the second time that it is set", "PUT /a 1: made, PUT /a 1: kept", false},
		{"it is set, and was gone", "PUT /a 1: made, PUT /a 1: kept, PUT /a 1: made", true},
		{"it is set to and fro", "PUT /a 1: made, PUT /a 1: kept, PUT /a 2: made, PUT /a 1: made", false},
		{"it is deleted, and was back", "DELETE /a: ok, DELETE /a: 404, DELETE /a: 404, DELETE /a: ok", true},
		{"posted again", "POST /a 1: x, POST /a 1: y, POST /a 1: z", false},
		{"a time", "GET /a: at 2000-01-01T00:00:07Z, GET /a: at 2000-01-01T00:00:09.5Z", false},
		{"a Unix time", "GET /a: at 946684805, GET /a: at 946684860", false},
		{"another number", "GET /a: at 846684805, GET /a: at 846684860", true},
		{"the answer of a fault", "GET /a: x, GET /a: 503", false},
		{"the same answer after that of a fault", "GET /a: x, GET /a: 503, GET /a: x", false},
		{"a counter", "GET /a: 1, GET /a: 2, GET /a: 3, GET /a: 4", false},
	} {
		var o outside
		news := false
		for exchange := range strings.SplitSeq(c.exchanges, ", ") {
			request, answer, _ := strings.Cut(exchange, ": ")
			parts := append(strings.Split(request, " "), "")
			e := history.Event{Kind: history.Request, Process: "op", Incarnation: 1, Host: "h.example", Verb: parts[0],
				Path: parts[1], Sent: []byte(parts[2]), Code: 200, Received: []byte(answer)}
			if e.Injected = answer == "503"; e.Injected {
				e.Code = 503
			}
			if answer == "404" {
				e.Code = 404
			}
			news = o.news(&e)
		}
		if news != c.news {
			t.Errorf("%s: news=%v, want %v", c.what, news, c.news)
		}
	}
}

// Every property that counts from the last disturbance counts from news from outside, too.
func TestNewsAreADisturbance(t *testing.T) {
	const hour = history.Time(time.Hour)
	cm := history.Ref{Kind: "ConfigMap", Namespace: "default", Name: "a"}
	key := history.Reconcile{Key: history.Key{Controller: "c", Namespace: "default", Name: "a"}, N: 1}
	ask := func(at history.Time, answer string) history.Event {
		return history.Event{Kind: history.Request, At: at, Process: "op", Incarnation: 1, Reconcile: key, Verb: "GET",
			Host: "h.example", Path: "/a", Code: 200, Received: []byte(answer)}
	}
	write := func(at history.Time, typ, object string) history.Event {
		return history.Event{Kind: history.Request, At: at, Process: "op", Incarnation: 1, Reconcile: key,
			Verb: "update", Ref: cm, Changes: []history.Change{{Type: typ, Ref: cm, UID: "u", Object: []byte(object)}}}
	}
	const plain, kept, orphan = `{}`, `{"metadata":{"deletionTimestamp":"2000-01-01T00:00:00Z","finalizers":["f"]}}`,
		`{"metadata":{"ownerReferences":[{"kind":"Secret","name":"s","uid":"gone"}]}}`
	settled := history.Event{Kind: history.Settled, At: 2}
	for name, c := range map[string]struct {
		holds  func(*history.History) error
		events func(answer string) []history.Event
	}{
		"IdempotentAtRest": {IdempotentAtRest(), func(answer string) []history.Event {
			return []history.Event{ask(1, "x"), settled, ask(hour, answer), write(hour, "MODIFIED", plain)}
		}},
		"Settles": {Settles(time.Minute), func(answer string) []history.Event {
			return []history.Event{{Kind: history.Start, At: 1}, ask(1, "x"), ask(hour, answer),
				write(hour, "MODIFIED", plain)}
		}},
		"NoStuckFinalizer": {NoStuckFinalizer(time.Minute), func(answer string) []history.Event {
			return []history.Event{ask(1, "x"), write(1, "MODIFIED", kept), ask(hour, answer)}
		}},
		"NoOrphans": {NoOrphans(time.Minute), func(answer string) []history.Event {
			return []history.Event{ask(1, "x"), write(1, "ADDED", orphan), ask(hour, answer)}
		}},
		"ActionableStatus": {ActionableStatus(cm, "RC-1", 0.5, time.Minute), func(answer string) []history.Event {
			return []history.Event{ask(1, "x"), write(1, "ADDED", plain), ask(hour, answer)}
		}},
		"ApplyIsStable": {ApplyIsStable(), func(answer string) []history.Event {
			return []history.Event{write(1, "ADDED", plain), ask(1, "x"), settled, ask(hour, answer),
				{Kind: history.Again, At: hour}, write(hour, "DELETED", plain)}
		}},
	} {
		for answer, holds := range map[string]bool{"x": false, "y": true} {
			h := &history.History{}
			for _, e := range c.events(answer) {
				h.Add(e)
			}
			if err := c.holds(h); (err == nil) != holds {
				t.Errorf("%s, answer %q: %v", name, answer, err)
			}
		}
	}
}

// A program that gets many notifications from outside has a reason to reconcile as often. One that
// sees the changes only in its reconciles has none.
func TestNewsAreAReason(t *testing.T) {
	key := history.Key{Controller: "c", Namespace: "default", Name: "a"}
	for _, notified := range []bool{true, false} {
		h := &history.History{}
		for i := range 200 {
			e := history.Event{Kind: history.Request, At: history.Time(i) * 10e6, Process: "op", Incarnation: 1,
				Verb: "GET", Host: "h.example", Path: "/queue", Code: 200, Received: []byte("none")}
			if i%2 == 1 {
				e.Received = nil
			}
			if !notified {
				e.Reconcile = history.Reconcile{Key: key, N: i}
			}
			h.Add(e)
			h.Add(history.Event{Kind: history.Dequeue, At: e.At, Process: "op", Incarnation: 1,
				Reconcile: history.Reconcile{Key: key, N: i + 1}})
		}
		if err := NoHotLoop(100, 10*time.Second)(h); (err == nil) != notified {
			t.Errorf("notified=%v: %v", notified, err)
		}
	}
}
