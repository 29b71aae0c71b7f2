package campaign

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wavetank/wavetank/sim/internal/choice"
)

func TestWritesWithTheSameEffect(t *testing.T) {
	const crash, lost = "Crash(op) before op ", "LostReply applied op "
	for name, c := range map[string]struct {
		a, b string
		want bool
	}{
		"another verb":        {crash + "update App default/a", crash + "patch App default/a", true},
		"a create":            {crash + "create Event shop/", crash + "patch Event shop/a", true},
		"and back":            {crash + "update Event shop/a", crash + "create Event shop/", true},
		"cluster-scoped":      {crash + "create Namespace", crash + "patch Namespace shop", true},
		"of another cluster":  {crash + "create Event shop/ in east", crash + "patch Event shop/a in east", true},
		"in another cluster":  {crash + "create Event shop/ in east", crash + "patch Event shop/a", false},
		"outside":             {lost + "POST dns.example/records", lost + "PUT dns.example/records/a", true},
		"deeper outside":      {lost + "POST dns.example/zones", lost + "PUT dns.example/zones/a/b", false},
		"a deletion":          {crash + "delete App default/a", crash + "patch App default/a", false},
		"two deletions":       {crash + "delete App default/a", crash + "deletecollection App default/", true},
		"a status":            {crash + "create App default/", crash + "update App default/a/status", false},
		"the object's status": {crash + "update App default/a", crash + "update App default/a/status", false},
		"another object":      {crash + "update App default/a", crash + "patch App default/b", false},
		"another namespace":   {crash + "create Event shop/", crash + "patch Event other/a", false},
		"another kind":        {crash + "create Event shop/", crash + "patch EventList shop/a", false},
		"another process":     {crash + "create Event shop/", "Crash(op) before op2 patch Event shop/a", false},
		"another place":       {crash + "create Event shop/", "Crash(op) after op patch Event shop/a", false},
		"verbs in a fault":    {`Rejected("a patch") op create App a/`, `Rejected("a patch") op patch App a/b`, true},
	} {
		a, okA := writeOf(c.a)
		b, okB := writeOf(c.b)
		if !okA || !okB || a.sameEffect(b) != c.want || b.sameEffect(a) != c.want {
			t.Errorf("%s: %+v (%v) and %+v (%v); expected the same effect: %v", name, a, okA, b, okB, c.want)
		}
	}
	for _, label := range []string{
		"next", "fault Crash(op)", "request op get App default/a", "StaleCache(1s) op ADDED App a/b",
	} {
		if w, ok := writeOf(label); ok {
			t.Errorf("%q names no write, and is read as %+v", label, w)
		}
	}
}

func TestMovedFaults(t *testing.T) {
	const crash = "Crash(op) before op "
	whole := choice.Sequence{{ID: "fault Crash(op) #1", Value: 2}, {ID: crash + "create Event shop/ #2", Value: 1},
		{ID: crash + "delete App a/b #1", Value: 1}}
	m := newMover(whole, whole[1:])
	ask := func(label string, nth int) int { return m.Choose(choice.Point{Label: label, Nth: nth, N: 3}) }
	for i, c := range []struct {
		label     string
		nth, want int
	}{
		{"fault Crash(op)", 0, 2}, {crash + "patch Event shop/a", 0, 0}, {crash + "patch Event shop/a/status", 0, 0},
		{crash + "patch Event shop/b", 0, 1}, {crash + "patch Event shop/c", 0, 0},
	} {
		if got := ask(c.label, c.nth); got != c.want {
			t.Errorf("choice %d, %q, is answered %d; expected %d", i, c.label, got, c.want)
		}
	}
	moved := crash + "patch Event shop/b #1"
	want := choice.Sequence{whole[0], {ID: moved, Value: 1}, whole[2]}
	if d := cmp.Diff(want, m.sequence(whole)); d != "" {
		t.Errorf("the sequence (-want +got)\n%s", d)
	}
	if d := cmp.Diff(choice.Sequence{whole[2]}, m.Unused()); d != "" {
		t.Errorf("the unused choices (-want +got)\n%s", d)
	}
	if d := cmp.Diff([][2]string{{whole[1].ID, moved}}, m.moves()); d != "" {
		t.Errorf("the moves (-want +got)\n%s", d)
	}
	if near := m.near(); len(near) != mostNear || near[0] != "1 "+crash+"patch Event shop/a #1" {
		t.Errorf("the labels near the deletion are %q", near)
	}
	if m := newMover(whole, whole[:1]); m != nil {
		t.Error("a choice that is at no write is moved")
	}
}
