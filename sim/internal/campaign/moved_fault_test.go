package campaign

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
)

// at is the label of a fault at a request. The request is a verb and an object.
func at(fault, who, request string) story.Label {
	verb, what, _ := strings.Cut(request, " ")
	return story.Label{Kind: story.Inject, Of: fault, Who: who, Verb: verb, What: what}
}

func TestWritesWithTheSameEffect(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		want bool
	}{
		"another verb":        {"update App default/a", "patch App default/a", true},
		"a create":            {"create Event shop/", "patch Event shop/a", true},
		"and back":            {"update Event shop/a", "create Event shop/", true},
		"cluster-scoped":      {"create Namespace", "patch Namespace shop", true},
		"of another cluster":  {"create Event shop/ in east", "patch Event shop/a in east", true},
		"in another cluster":  {"create Event shop/ in east", "patch Event shop/a", false},
		"outside":             {"POST dns.example/records", "PUT dns.example/records/a", true},
		"deeper outside":      {"POST dns.example/zones", "PUT dns.example/zones/a/b", false},
		"a deletion":          {"delete App default/a", "patch App default/a", false},
		"two deletions":       {"delete App default/a", "deletecollection App default/", true},
		"a status":            {"create App default/", "update App default/a/status", false},
		"the object's status": {"update App default/a", "update App default/a/status", false},
		"another object":      {"update App default/a", "patch App default/b", false},
		"another namespace":   {"create Event shop/", "patch Event other/a", false},
		"another kind":        {"create Event shop/", "patch EventList shop/a", false},
	} {
		a, b := at("Crash(op)", "before op", c.a), at("Crash(op)", "before op", c.b)
		if !isWrite(a) || !isWrite(b) || sameEffect(a, b) != c.want || sameEffect(b, a) != c.want {
			t.Errorf("%s: %+v and %+v; expected the same effect: %v", name, a, b, c.want)
		}
	}
	const create = "create Event shop/"
	crash := at("Crash(op)", "before op", create)
	for name, other := range map[string]story.Label{
		"another process": at("Crash(op)", "before op2", create), "another point": at("Crash(op)", "after op", create),
		"another fault": at("Crash(op2)", "before op", create),
		"no fault":      {Kind: story.Request, Who: "before op", Verb: "create", What: "Event shop/"},
	} {
		if sameEffect(crash, other) {
			t.Errorf("%s has the same effect", name)
		}
	}
	for _, label := range []story.Label{{Kind: story.Next}, {Kind: story.Arm, Of: "Crash(op)"},
		at("Crash(op)", "before op", "get App default/a"), at("StaleCache(1s)", "op", "ADDED App a/b")} {
		if isWrite(label) {
			t.Errorf("%+v is taken for a write", label)
		}
	}
}

func TestMovedFaults(t *testing.T) {
	crash := func(request string, nth int) story.Choice {
		return story.Choice{ID: story.ID{Label: at("Crash(op)", "before op", request), Nth: nth}, Value: 1}
	}
	arm := story.Choice{ID: story.ID{Label: story.Label{Kind: story.Arm, Of: "Crash(op)"}}, Value: 2}
	whole := choice.Sequence{arm, crash("create Event shop/", 1), crash("delete App a/b", 0)}
	m := newMover(whole, whole[1:])
	for i, c := range []struct {
		story.Choice
		want int
	}{
		{arm, 2}, {crash("patch Event shop/a", 0), 0}, {crash("patch Event shop/a/status", 0), 0},
		{crash("patch Event shop/b", 0), 1}, {crash("patch Event shop/c", 0), 0},
	} {
		if got := m.Choose(choice.Point{Label: c.Label, Nth: c.Nth, N: 3}); got != c.want {
			t.Errorf("choice %d, %+v, is answered %d; expected %d", i, c.Label, got, c.want)
		}
	}
	want := choice.Sequence{arm, crash("patch Event shop/b", 0), whole[2]}
	if d := cmp.Diff(want, m.sequence(whole)); d != "" {
		t.Errorf("the sequence (-want +got)\n%s", d)
	}
	if d := cmp.Diff(choice.Sequence{whole[2]}, m.Unused()); d != "" {
		t.Errorf("the unused choices (-want +got)\n%s", d)
	}
	moves := [][2]string{{"Crash(op) before op create Event shop/ #2", "Crash(op) before op patch Event shop/b #1"}}
	if d := cmp.Diff(moves, m.moves()); d != "" {
		t.Errorf("the moves (-want +got)\n%s", d)
	}
	if near := m.near(); len(near) != mostNear || near[0] != "1 inject Crash(op): before op: patch Event shop/a #1" {
		t.Errorf("the labels near the deletion are %q", near)
	}
	if m := newMover(whole, whole[:1]); m != nil {
		t.Error("a choice that is at no write is moved")
	}
}
