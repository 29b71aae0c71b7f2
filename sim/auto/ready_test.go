package auto

import (
	"fmt"
	"testing"

	"github.com/wavetank/wavetank/history"
)

// readyStory is a reconcile that reports generation 2, which users have made after it began or
// before, and what the next reconcile does.
func readyStory(late bool, next ...history.Event) *history.History {
	tenant := history.Ref{Group: "example.com", Kind: "Tenant", Name: "blue"}
	version := func(generation, observed int) history.Change {
		return history.Change{Type: "MODIFIED", Ref: tenant, Object: fmt.Appendf(nil, `{"metadata":{"generation":%d},
			"status":{"observedGeneration":%d,"conditions":[{"type":"Ready","status":"True"}]}}`, generation, observed)}
	}
	one := history.Reconcile{Key: history.Key{Controller: "tenant", Name: "blue"}, N: 1}
	edit := history.Event{Kind: history.Request, Process: "user", Changes: []history.Change{version(2, 1)}}
	begin := history.Event{Kind: history.Dequeue, Process: "op", Incarnation: 1, Reconcile: one}
	h := &history.History{}
	if late {
		h.Add(begin)
		h.Add(edit)
	} else {
		h.Add(edit)
		h.Add(begin)
	}
	h.Add(history.Event{Kind: history.Request, Process: "op", Incarnation: 1, Reconcile: one,
		Changes: []history.Change{version(2, 2)}})
	h.Add(history.Event{Kind: history.Done, Process: "op", Incarnation: 1, Reconcile: one})
	one.N = 2
	for _, e := range next {
		if e.Process == "" {
			e.Process, e.Incarnation, e.Reconcile = "op", 1, one
		}
		h.Add(e)
	}
	return h
}

func TestReadyMeansDone(t *testing.T) {
	dequeue := history.Event{Kind: history.Dequeue}
	done := history.Event{Kind: history.Done}
	creates := history.Event{Kind: history.Request, Changes: []history.Change{{Type: "ADDED",
		Ref: history.Ref{Kind: "Namespace", Name: "blue-dev"}, Object: []byte(`{}`)}}}
	user := history.Event{Kind: history.Request, Process: "user", Changes: creates.Changes}
	for name, c := range map[string]struct {
		h     *history.History
		early bool
	}{
		"the work follows":                   {readyStory(true, dequeue, creates, done), true},
		"the generation was known":           {readyStory(false, dequeue, creates, done), false},
		"nothing was left to do":             {readyStory(true, dequeue, done), false},
		"a user has changed something since": {readyStory(true, user, dequeue, creates, done), false},
		"a reconcile in between was idle":    {readyStory(true, dequeue, done, dequeue, creates), false},
	} {
		if err := readyMeansDone()(c.h); (err != nil) != c.early {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The same request with an effect is a repetition unless users have acted, or another effect has
// undone the first.
func TestNoEffectTwice(t *testing.T) {
	one := history.Reconcile{Key: history.Key{Controller: "mails", Namespace: "default", Name: "a"}, N: 1}
	story := func(path string, kinds ...string) *history.History {
		h := &history.History{}
		for _, kind := range kinds {
			e := history.Event{Kind: history.Request, Process: "op", Incarnation: 1, Reconcile: one, Verb: "POST",
				Host: "office.example", Path: path}
			if kind == "edit" {
				e = history.Event{Kind: history.Request, Process: "user", Changes: []history.Change{{Type: "MODIFIED"}}}
			}
			if kind != "edit" {
				h.Record(history.Effect{Event: h.Len(), Kind: kind, Key: "a", Process: "op", Incarnation: 1,
					Reconcile: one})
			}
			h.Add(e)
		}
		return h
	}
	for name, c := range map[string]struct {
		h, calm *history.History
		twice   bool
	}{
		"twice":                       {story("/mail/a", "mail", "mail"), story("/mail/a", "mail"), true},
		"once":                        {story("/mail/a", "mail"), story("/mail/a", "mail"), false},
		"after an edit":               {story("/mail/a", "mail", "edit", "mail"), story("/mail/a", "mail"), false},
		"closed in between":           {story("/acc/a", "open", "close", "open"), story("/acc/a", "open"), false},
		"it does not name the object": {story("/reload", "mail", "mail"), story("/reload", "mail"), false},
		"a heartbeat":                 {story("/beat/a", "beat", "beat"), story("/beat/a", "beat", "beat"), false},
	} {
		if err := noEffectTwice(c.calm)(c.h); (err != nil) != c.twice {
			t.Errorf("%s: %v", name, err)
		}
	}
}
