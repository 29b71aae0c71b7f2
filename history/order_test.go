package history

import "testing"

func TestOrder(t *testing.T) {
	request := func(who, verb, name string) Event {
		e := Event{Kind: Request, Process: who, Incarnation: 1, Verb: verb, Ref: Ref{Kind: "Pod", Name: name}}
		if verb == "update" {
			e.Changes = []Change{{Type: "MODIFIED", Ref: e.Ref}}
		}
		return e
	}
	post := func(who, host string) Event {
		return Event{Kind: Request, Process: who, Verb: "POST", Host: host, Path: "/mail"}
	}
	order := func(events ...Event) uint64 {
		var h History
		for i, e := range events {
			e.At = Time(i)
			h.Add(e)
		}
		return h.Order()
	}
	list := request("b", "list", "")
	for _, c := range []struct {
		what string
		a, b Event
		same bool
	}{
		{"two readers", request("a", "get", "x"), request("b", "get", "x"), true},
		{"a reader and a writer of something else", request("a", "update", "x"), request("b", "get", "y"), true},
		{"a reader and a writer of the same", request("a", "update", "x"), request("b", "get", "x"), false},
		{"a list and a writer", request("a", "update", "x"), list, false},
		{"writers of two objects", request("a", "update", "x"), request("b", "update", "y"), true},
		{"writers of one object", request("a", "update", "x"), request("b", "update", "x"), false},
		{"one actor", request("a", "get", "x"), request("a", "get", "y"), false},
		{"two outsides", post("a", "x"), post("b", "y"), true},
		{"one outside", post("a", "x"), post("b", "x"), false},
	} {
		if same := order(c.a, c.b) == order(c.b, c.a); same != c.same {
			t.Errorf("%s: in another order the same is %v, want %v", c.what, same, c.same)
		}
	}
	late := request("a", "get", "x")
	late.At, late.Revision = 5, 7
	if order(late) != order(request("a", "get", "x")) {
		t.Error("times and versions should not matter")
	}
	if order(request("a", "get", "x")) == order(request("a", "get", "x"), request("a", "get", "x")) {
		t.Error("once and twice are the same")
	}
}
