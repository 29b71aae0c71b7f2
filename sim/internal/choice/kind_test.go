package choice

import "testing"

// Every kind but Arm is about order and time, is a disturbance, or is drawn.
func TestEachKindHasOneUse(t *testing.T) {
	for _, k := range []Kind{Next, Request, Reply, Step, Inject, Option, Endpoint, Builtin, Draw, Names, Seed} {
		uses := 0
		for _, use := range []bool{k.Schedules(), k.Disturbs(), k.Draws()} {
			if use {
				uses++
			}
		}
		if uses != 1 {
			t.Errorf("kind %q has %d uses", k, uses)
		}
	}
	if Arm.Schedules() || Arm.Disturbs() || Arm.Draws() {
		t.Error("arming a fault is something else")
	}
}

// Choices of one kind belong together. Those of two faults, or of two built-in controllers, do not.
func TestGroups(t *testing.T) {
	for _, c := range []struct {
		a, b Label
		same bool
	}{
		{Label{Kind: Request, What: "op get Pod a"}, Label{Kind: Request, What: "op get Pod b"}, true},
		{Label{Kind: Request, What: "op get Pod a"}, Label{Kind: Reply, What: "op get Pod a"}, false},
		{Label{Kind: Inject, Of: "Crash(op)", What: "before"}, Label{Kind: Inject, Of: "Crash(op)", What: "after"},
			true},
		{Label{Kind: Inject, Of: "Crash(op)", What: "before"}, Label{Kind: Inject, Of: "Crash(other)", What: "before"},
			false},
		{Label{Kind: Builtin, Of: "kubelet", What: "x"}, Label{Kind: Builtin, Of: "garbage-collector", What: "x"},
			false},
		{Label{Kind: Arm, Of: "Crash", What: "(op)"}, Label{Kind: Arm, Of: "LostReply", What: ""}, true},
		{Label{Kind: Draw, Of: "size", What: "0"}, Label{Kind: Draw, Of: "name", What: "0"}, true},
	} {
		if same := c.a.group() == c.b.group(); same != c.same {
			t.Errorf("%v and %v are of one group: %v", c.a, c.b, same)
		}
	}
}

// The same label of two kinds is two choices, and each counts its own occurrences.
func TestChoicesAreToldApartByKind(t *testing.T) {
	var asked []ID
	s := New(Func(func(p Point) int { asked = append(asked, p.ID()); return 1 }))
	request, reply := Label{Kind: Request, What: "op get Pod a"}, Label{Kind: Reply, What: "op get Pod a"}
	for _, l := range []Label{request, reply, request} {
		s.Choose(l, 2)
	}
	want := []ID{{request, 0}, {reply, 0}, {request, 1}}
	for i, id := range want {
		if asked[i] != id || s.Sequence()[i] != (Entry{id, 1}) {
			t.Errorf("choice %d was %v and is recorded as %v; expected %v", i, asked[i], s.Sequence()[i], id)
		}
	}
}
