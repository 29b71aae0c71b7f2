package choice

import (
	"testing"

	"github.com/wavetank/wavetank/internal/story"
)

// pointOf is where a fault may be injected at a request.
func pointOf(fault, verb, what string) Point {
	return Point{Label: story.Label{Kind: story.Inject, Of: fault, Who: "op", Verb: verb, What: what}, N: 3, Odds: 24}
}

func TestClassIsVerbAndKind(t *testing.T) {
	for what, want := range map[string]Class{
		"Pod default/a/status": {"get", "Pod"}, "Node a": {"get", "Node"}, "Pod": {"get", "Pod"},
		"office.example/mail/a": {"get", "office.example"},
	} {
		if got := ClassOf(pointOf("", "get", what).Label); got != want {
			t.Errorf("the class of %q is %v; expected %v", what, got, want)
		}
	}
}

// A fault strikes one class in a run, and a delete that comes once as often as a get that comes a
// thousand times.
func TestAimedStrikesRareClassesAsOftenAsCommonOnes(t *testing.T) {
	const fault, gets = "ServerError", 1000
	play := func(s *Recorder) (get, remove int) {
		for i := range gets {
			if i == gets/2 && s.ask(pointOf(fault, "delete", "Pod default/a")) > 0 {
				remove++
			}
			if s.ask(pointOf(fault, "get", "Pod default/a")) > 0 {
				get++
			}
		}
		return get, remove
	}
	calm := New(Play(nil))
	play(calm)
	var seen Classes
	seen.Add(calm.Log())
	struckGet, struckDelete := 0, 0
	for seed := range uint64(200) {
		get, remove := play(New(NewAimed(seed, &seen)))
		if get > 0 && remove > 0 {
			t.Fatalf("seed %d strikes %d gets and %d deletes; expected one class", seed, get, remove)
		}
		if get > 8 {
			t.Fatalf("seed %d strikes %d gets; expected a few", seed, get)
		}
		struckGet, struckDelete = struckGet+min(get, 1), struckDelete+remove
	}
	if struckDelete < 60 || struckGet < 60 {
		t.Errorf("of 200 runs %d strike a get and %d the delete; expected at least 60 each", struckGet, struckDelete)
	}
}
