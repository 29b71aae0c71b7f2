package auto

import (
	"testing"

	"github.com/wavetank/wavetank/history"
)

// remadeStory settles with an object, and settles again after what a reconcile has done.
func remadeStory(then ...history.Event) *history.History {
	h := &history.History{}
	for _, e := range append([]history.Event{makes("1"), {Kind: history.Settled}}, then...) {
		if e.Kind == history.Request {
			e.Process, e.Incarnation = "op", 1
		}
		h.Add(e)
	}
	h.Add(history.Event{Kind: history.Settled})
	return h
}

// makes is a request that creates the object with a UID.
func makes(uid string) history.Event {
	ref := history.Ref{Kind: "ConfigMap", Name: "a-config"}
	return history.Event{Kind: history.Request, Verb: "create", Ref: ref,
		Changes: []history.Change{{Type: "ADDED", Ref: ref, UID: uid}}}
}

// Correct programs replace what is immutable, and delete what an old state does not ask for.
func TestNothingRemade(t *testing.T) {
	deletes := makes("1")
	deletes.Verb, deletes.Changes[0].Type = "delete", "DELETED"
	refused := history.Event{Kind: history.Request, Verb: "update", Code: 500}
	stale := history.Event{Kind: history.Fault, Injection: &history.Injection{Class: "StaleServer"}}
	idle := remadeStory()
	for name, c := range map[string]struct {
		h, calm *history.History
		broken  bool
	}{
		"a write failed":       {remadeStory(refused, deletes, makes("2")), idle, true},
		"nothing failed":       {remadeStory(deletes, makes("2")), idle, false},
		"it is gone":           {remadeStory(refused, deletes), idle, false},
		"the server was stale": {remadeStory(stale, refused, deletes, makes("2")), idle, false},
		"it is replaced without fault": {remadeStory(refused, deletes, makes("2")),
			remadeStory(deletes, makes("3")), false},
		"it is replaced there later": {remadeStory(refused, deletes, makes("2")),
			remadeStory(history.Event{Kind: history.Settled}, deletes, makes("3")), false},
	} {
		if err := nothingRemade(c.calm)(c.h); (err != nil) != c.broken {
			t.Errorf("%s: %v", name, err)
		}
	}
}
