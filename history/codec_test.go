package history

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func sample() *History {
	h := &History{}
	pod := []byte(`{"kind":"Pod","metadata":{"name":"a","resourceVersion":"7"}}` + "\n")
	ref := Ref{Kind: "Pod", Namespace: "n", Name: "a"}
	h.Add(Event{
		Step: 1, At: time.Second, Kind: Request, Process: "user", Verb: "create", Ref: ref, Code: 201, Revision: 7,
		Server: 7, Sent: pod, Received: pod,
		Changes: []Change{{Type: "ADDED", Ref: ref, UID: "u", Revision: 7, At: time.Second, Object: pod}},
	})
	h.Record(Effect{Kind: "attempt", Key: "k"})
	h.Drew(Draw{At: time.Second, Label: "n", Value: "7"})
	h.Add(Event{
		Step: 2, At: 2 * time.Second, Kind: Deliver, Process: "p", Incarnation: 1, Verb: "ADDED", Ref: ref, Revision: 7,
		Received: []byte{0xff, 0xfe},
	})
	h.Add(Event{
		Step: 3, At: 3 * time.Second, Kind: Dequeue, Process: "p", Incarnation: 1, Reconcile: reconcile("c", "a"),
		Cause: Cause{Kind: CauseWatch, Verb: "ADDED", Object: "Pod"},
		Seen:  []Seen{{Ref: ref, Server: 7}}, Wait: 5,
	})
	return h
}

// A written history reads back as an equal one, with binary bodies, objects and effects.
func TestAHistoryReadsBackAsItWas(t *testing.T) {
	h := sample()
	data, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), `\"kind\":\"Pod\"`); n != 1 {
		t.Errorf("the body that three fields share is stored %d times", n)
	}
	got := &History{}
	if err := json.Unmarshal(data, got); err != nil {
		t.Fatal(err)
	}
	if at, what := Difference(h, got); at >= 0 {
		t.Error(what)
	}
	if len(got.Draws()) != 1 || got.Draws()[0] != h.Draws()[0] {
		t.Errorf("drew %v", got.Draws())
	}
	if h.Hash() != got.Hash() {
		t.Error("the fingerprints differ")
	}
	if o, ok := got.Object("", "Pod", "n", "a"); !ok || o.Revision != 7 {
		t.Errorf("object %v %v", o, ok)
	}
	if got.Now() != 3*time.Second || len(got.Effects("attempt")) != 1 {
		t.Errorf("now %v, effects %v", got.Now(), got.Effects(""))
	}
}

func TestABrokenHistoryIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:                              "not a history",
		`{"format":9}`:                    "format 9",
		`{"format":1}`:                    "make the run again",
		`{"format":2,"events":[{}]}`:      "",
		`{"format":2,"events":[{"i":1}]}`: "says that it is event 1",
		`{"format":2,"events":[{"i":0,"sent":2}]}`: "names body 2",
	} {
		err := json.Unmarshal([]byte(text), &History{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, not %q", text, err, want)
		}
	}
}
