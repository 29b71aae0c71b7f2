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
		{Label{Request, "", "op get Pod a"}, Label{Request, "", "op get Pod b"}, true},
		{Label{Request, "", "op get Pod a"}, Label{Reply, "", "op get Pod a"}, false},
		{Label{Inject, "Crash(op)", "before"}, Label{Inject, "Crash(op)", "after"}, true},
		{Label{Inject, "Crash(op)", "before"}, Label{Inject, "Crash(other)", "before"}, false},
		{Label{Builtin, "kubelet", "x"}, Label{Builtin, "garbage-collector", "x"}, false},
		{Label{Arm, "Crash", "(op)"}, Label{Arm, "LostReply", ""}, true},
		{Label{Draw, "size", "0"}, Label{Draw, "name", "0"}, true},
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
