package story

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Only objects that failed in every run are hollow, and of those that nothing requires only the
// ones whose controller never succeeded.
func TestHollow(t *testing.T) {
	object := func(name, controller string, runs, succeeded int, required bool) ObjectTotal {
		return ObjectTotal{Object: name, Controller: controller, Runs: runs, Succeeded: succeeded, Required: required}
	}
	objects := []ObjectTotal{
		object("never", "a", 30, 0, true), object("always", "b", 30, 30, true), object("once", "c", 30, 1, true),
		object("seldom there", "d", 14, 0, true), object("half there", "e", 15, 0, true),
		object("refused", "b", 30, 0, false), object("unrequired", "f", 30, 0, false),
	}
	for name, c := range map[string]struct {
		runs     int
		complete bool
		want     []string
	}{
		"enough runs":  {30, false, []string{"never", "half there", "unrequired"}},
		"all runs":     {3, true, []string{"never", "seldom there", "half there", "unrequired"}},
		"too few runs": {19, false, nil},
	} {
		r := &Result{Runs: c.runs, Complete: c.complete, Objects: objects}
		var got []string
		for _, o := range r.Hollow() {
			got = append(got, o.Object)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q are hollow, expected %q", name, got, c.want)
		}
	}
}

// What one shard saw fail may have succeeded in another.
func TestMergedObjectsAreHollowInAllShards(t *testing.T) {
	shard := func(i, succeeded int) *Result {
		return &Result{Test: "T", Shards: 2, Shard: i, Runs: 20, Complete: true, Objects: []ObjectTotal{
			{Object: "A", Controller: "a", Runs: 20, Succeeded: succeeded, Failure: "no secret", Required: true},
		}}
	}
	for succeeded, want := range []int{1, 0} {
		m, err := Merge([]*Result{shard(0, 0), shard(1, succeeded)})
		if err != nil || len(m.Hollow()) != want {
			t.Errorf("the other shard has %d successes, and hollow are %v (%v)", succeeded, m.Hollow(), err)
		}
	}
}

// Thousands of objects may be hollow, and five are named.
func TestFiveHollowObjectsAreNamed(t *testing.T) {
	r := &Result{Runs: 20}
	for i := range 9 {
		r.Objects = append(r.Objects, ObjectTotal{Object: fmt.Sprint(i), Runs: 20, Required: i == 0})
	}
	got := r.HollowSentences(false)
	if len(got) != 6 || got[5] != "3 more objects never became ready" || len(r.HollowSentences(true)) != 1 {
		t.Errorf("named are %q", got)
	}
}

// What is missing is named with what to do.
func TestSentenceOfAHollowObject(t *testing.T) {
	for want, missing := range map[string][]string{
		"; add Secret ns/a and Secret ns/b to": {"Secret ns/a", "Secret ns/b"},

		"; the program looked for Secret a without a namespace: give it": {"Secret a" + NoNamespace},

		"; add to the scenario what the object needs (": nil,
	} {
		got := ObjectTotal{Object: "Tenant blue", Failure: "no", Missing: missing}.Sentence()
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
}
