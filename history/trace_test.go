package history

import "testing"

func TestTrace(t *testing.T) {
	get := func(who, name string) Event {
		return Event{Kind: Request, Process: who, Incarnation: 1, Verb: "get", Ref: Ref{Kind: "Pod", Name: name}}
	}
	write := func(who, name string) Event {
		e := get(who, name)
		e.Verb, e.Changes = "update", []Change{{Ref: e.Ref}}
		return e
	}
	post := func(who, host, path string) Event { return Event{Kind: Request, Process: who, Host: host, Path: path} }
	later := get("b", "y")
	later.At = 1
	list := get("b", "")
	list.Verb = "list"
	for _, c := range []struct {
		what string
		a, b Event
		same bool
	}{
		{"two readers", get("a", "x"), get("b", "x"), true},
		{"a reader and a writer of something else", write("a", "x"), get("b", "y"), true},
		{"a reader and a writer of the same", write("a", "x"), get("b", "x"), false},
		{"a list and a writer", write("a", "x"), list, false},
		{"two writers", write("a", "x"), write("b", "y"), false},
		{"one actor", get("a", "x"), get("a", "y"), false},
		{"a crash", get("a", "x"), Event{Kind: Crash, Process: "b", Incarnation: 1}, false},
		{"another time", get("a", "x"), later, false},
		{"two outsides", post("a", "x", "/1"), post("b", "y", "/1"), true},
		{"one outside", post("a", "x", "/1"), post("b", "x", "/2"), false},
	} {
		var ab, ba History
		ab.Add(c.a)
		ab.Add(c.b)
		ba.Add(c.b)
		ba.Add(c.a)
		if same := ab.Trace() == ba.Trace(); same != c.same {
			t.Errorf("%s: in another order the same is %v, want %v", c.what, same, c.same)
		}
		if ab.Hash() == ba.Hash() {
			t.Errorf("%s: Hash should always tell orders apart", c.what)
		}
	}
}
