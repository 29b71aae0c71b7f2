package choice

import (
	"testing"

	"github.com/wavetank/wavetank/internal/story"
)

// Every kind but Arm is about order and time, is a disturbance, or is drawn.
func TestEachKindHasOneUse(t *testing.T) {
	for _, k := range []story.Kind{story.Next, story.Request, story.Reply, story.Step, story.Inject, story.Option,
		story.Endpoint, story.Builtin, story.Draw, story.Names, story.Seed} {
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
	if story.Arm.Schedules() || story.Arm.Disturbs() || story.Arm.Draws() {
		t.Error("arming a fault is something else")
	}
}

// Choices of one kind belong together. Those of two faults, or of two built-in controllers, do not.
func TestGroups(t *testing.T) {
	for _, c := range []struct {
		a, b story.Label
		same bool
	}{
		{story.Label{Kind: story.Request, What: "op get Pod a"},
			story.Label{Kind: story.Request, What: "op get Pod b"}, true},
		{story.Label{Kind: story.Request, What: "op get Pod a"},
			story.Label{Kind: story.Reply, What: "op get Pod a"}, false},
		{story.Label{Kind: story.Inject, Of: "Crash(op)", What: "before"},
			story.Label{Kind: story.Inject, Of: "Crash(op)", What: "after"}, true},
		{story.Label{Kind: story.Inject, Of: "Crash(op)", What: "before"},
			story.Label{Kind: story.Inject, Of: "Crash(other)", What: "before"}, false},
		{story.Label{Kind: story.Builtin, Of: "kubelet", What: "x"},
			story.Label{Kind: story.Builtin, Of: "garbage-collector", What: "x"}, false},
		{story.Label{Kind: story.Arm, Of: "Crash", What: "(op)"},
			story.Label{Kind: story.Arm, Of: "LostReply", What: ""}, true},
		{story.Label{Kind: story.Draw, Of: "size", What: "0"},
			story.Label{Kind: story.Draw, Of: "name", What: "0"}, true},
	} {
		if same := groupOf(c.a) == groupOf(c.b); same != c.same {
			t.Errorf("%v and %v are of one group: %v", c.a, c.b, same)
		}
	}
}

// The same label of two kinds is two choices, and each counts its own occurrences.
func TestChoicesAreToldApartByKind(t *testing.T) {
	var asked []story.ID
	s := New(Func(func(p Point) int { asked = append(asked, p.ID()); return 1 }))
	request := story.Label{Kind: story.Request, What: "op get Pod a"}
	reply := story.Label{Kind: story.Reply, What: "op get Pod a"}
	for _, l := range []story.Label{request, reply, request} {
		s.Choose(l, 2)
	}
	want := []story.ID{{Label: request}, {Label: reply}, {Label: request, Nth: 1}}
	for i, id := range want {
		if asked[i] != id || s.Sequence()[i] != (story.Choice{ID: id, Value: 1}) {
			t.Errorf("choice %d was %v and is recorded as %v; expected %v", i, asked[i], s.Sequence()[i], id)
		}
	}
}
