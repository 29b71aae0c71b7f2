package auto

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/run"
)

type object = map[string]any

// act is what a user makes, and what a controller makes of it.
type act struct {
	name string
	spec object
	made object // the child's content besides its metadata; nil for no child
	by   string // the key that was reconciled
	meta object // of the child
}

// runOf is the history of a run in which the world settles after each act.
func runOf(t *testing.T, acts ...act) *history.History {
	t.Helper()
	h := &history.History{}
	uids := 0
	add := func(e history.Event, kind, name string, o object) {
		uids++
		ref := history.Ref{Kind: kind, Namespace: "default", Name: name}
		m, _ := o["metadata"].(object)
		if m == nil {
			m = object{}
		}
		m["name"] = name
		o["metadata"] = m
		body, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		e.Kind = history.Request
		e.Changes = []history.Change{{Type: "ADDED", Ref: ref, UID: "uid of " + name, Object: body}}
		h.Add(e)
	}
	h.Add(history.Event{Kind: history.Settled})
	for _, a := range acts {
		add(history.Event{Process: run.User}, "Thing", a.name, object{"spec": a.spec})
		h.Drew(history.Draw{Label: "begin", Value: "create " + a.name})
		if a.made != nil {
			key := history.Key{Controller: "things", Namespace: "default", Name: a.by}
			child := object{"metadata": a.meta}
			for k, v := range a.made {
				child[k] = v
			}
			add(history.Event{Process: "operator", Incarnation: 1, Reconcile: history.Reconcile{Key: key, N: 1}},
				"Child", a.name+"-child", child)
		}
		h.Add(history.Event{Kind: history.Settled})
	}
	return h
}

// thing is an act whose child says which number it has.
func thing(name, number string, more object) act {
	made := object{"data": object{"number": number}}
	for k, v := range more {
		made[k] = v
	}
	return act{name: name, spec: object{"size": 1}, made: made, by: name}
}

// Both have the number of what came first: that is said, unless the two have to do with each other.
func TestOrderOfUnrelatedObjects(t *testing.T) {
	owned := func(by string) object {
		return object{"ownerReferences": []any{object{"kind": "Thing", "name": "it", "uid": "uid of " + by}}}
	}
	spec := func(v any) object { return object{"spec": v} }
	for _, c := range []struct {
		what string
		fish func(number string) act
		said bool
	}{
		{"unrelated", func(n string) act { return thing("fish", n, nil) }, true},
		{"a message is for people", func(n string) act {
			return thing("fish", n, object{"status": object{"message": "no bird"}})
		}, true},
		{"part of a word", func(n string) act { return thing("fish", n, spec("birds")) }, true},
		{"a selector of others", func(n string) act {
			return thing("fish", n, spec(object{"selector": object{"app": "cat"}}))
		}, true},
		{"names the other", func(n string) act { return thing("fish", n, spec(object{"of": "bird"})) }, false},
		{"names the other's child in a text", func(n string) act {
			return thing("fish", n, object{"data": object{"text": "see default/bird-child."}})
		}, false},
		{"selects by labels", func(n string) act {
			return thing("fish", n, spec(object{"selector": object{"app": "tree"}}))
		}, false},
		{"selects by an expression", func(n string) act {
			return thing("fish", n, spec(object{"podSelector": object{"matchExpressions": []any{
				object{"key": "app", "operator": "In", "values": []any{"tree"}}}}}))
		}, false},
		{"selects by a text", func(n string) act {
			return thing("fish", n, spec(object{"labelSelector": "app=tree"}))
		}, false},
		{"selects everything", func(n string) act {
			return thing("fish", n, spec(object{"selector": object{}}))
		}, false},
		{"the other owns its child", func(n string) act {
			a := thing("fish", n, nil)
			a.meta = owned("bird")
			return a
		}, false},
		{"a third owns the children of both", func(n string) act {
			a := thing("fish", n, nil)
			a.meta = owned("sea")
			return a
		}, false},
		{"its child was made for the other", func(n string) act {
			a := thing("fish", n, nil)
			a.by = "bird"
			return a
		}, false},
		{"has its name from the other", func(n string) act { return thing("bird-fish", n, nil) }, false},
	} {
		bird := func(n string) act {
			a := thing("bird", n, nil)
			a.meta = owned("sea")
			a.meta["labels"] = object{"app": "tree"}
			return a
		}
		drawn, exchanged := runOf(t, bird("1"), c.fish("1")), runOf(t, c.fish("2"), bird("2"))
		err := sameInAnyOrder(drawn, exchanged)(runOf(t, c.fish("2"), bird("2")))
		if (err != nil) != c.said {
			t.Errorf("%s: %v", c.what, err)
		}
		if err != nil && !strings.Contains(err.Error(), `"create bird", and in the other order`) {
			t.Errorf("%s: it does not say what users did: %v", c.what, err)
		}
	}
}

// Nothing is said of a run that cannot be compared.
func TestOrderIsNotJudged(t *testing.T) {
	bird, fish := thing("bird", "1", nil), thing("fish", "1", nil)
	drawn := runOf(t, bird, fish)
	first, second := thing("fish", "2", nil), thing("bird", "2", nil)
	exchanged := runOf(t, first, second)
	changed := second
	changed.spec = object{"size": 2}
	renamed := second
	renamed.name = "bear"
	for what, c := range map[string]struct{ drawn, exchanged, here *history.History }{
		"there was no exchange":              {drawn, drawn, runOf(t, bird, fish)},
		"only the first of the two was done": {drawn, exchanged, runOf(t, first)},
		"faults have led the run elsewhere":  {drawn, exchanged, runOf(t, first, thing("bird", "3", nil))},
		"another action had another outcome": {drawn, runOf(t, first, renamed), runOf(t, first, renamed)},
		"a later action had another outcome": {runOf(t, bird, fish, thing("cat", "3", nil)),
			runOf(t, first, second, thing("dog", "3", nil)), runOf(t, first, second, thing("dog", "3", nil))},
		"they have exchanged their numbers":  {runOf(t, bird, first), runOf(t, fish, second), runOf(t, fish, second)},
		"the specs of users' objects differ": {drawn, runOf(t, first, changed), runOf(t, first, changed)},
	} {
		if err := sameInAnyOrder(c.drawn, c.exchanged)(c.here); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if sameInAnyOrder(drawn, exchanged)(runOf(t, first, second)) == nil {
		t.Error("it is never said")
	}
}

// A UID in the key of an effect is another one in each run. What else differs is said.
func TestEffectsWithUIDs(t *testing.T) {
	told := func(uid, host string) *history.History {
		h := runOf(t)
		ref := history.Ref{Kind: "Thing", Name: "a"}
		made := history.Change{Type: "ADDED", Ref: ref, UID: uid, Object: []byte(`{}`)}
		h.Add(history.Event{Kind: history.Request, Changes: []history.Change{made}})
		h.Record(history.Effect{Kind: "makes", Key: "/" + host + "/" + uid, Event: 1})
		h.Add(history.Event{Kind: history.Settled})
		return h
	}
	calm := told("12345678-1", "records")
	if err := sameEffects(calm)(told("87654321-1", "records")); err != nil {
		t.Error(err)
	}
	if err := sameEffects(calm)(told("87654321-1", "zones")); err == nil {
		t.Error("another path is not said")
	}
}
