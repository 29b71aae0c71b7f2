package story

import (
	"testing"
)

// One bug under many faults is one cause, with its shortest story and its first run.
func TestCauses(t *testing.T) {
	got := Causes([]Finding{
		{Kind: "always", Property: "p", Cause: "p, under Crash", Count: 2, First: 9, Strategy: "burst", Steps: 30,
			Story: "long"},
		{Kind: "always", Property: "p", Cause: "p, under Crash and LostReply", Count: 3, First: 4, Strategy: "random",
			Steps: 40},
		{Kind: "always", Property: "p", Cause: "p, under no fault", Count: 1, First: 12, Strategy: "sweep", Steps: 20,
			Story: "short"},
		{Kind: "always", Property: "p", Cause: "p, decided at a.go:7", Count: 5, Steps: 9},
		{Kind: "always", Property: "p", Cause: "p, decided at a.go:8", Count: 1, Steps: 9},
		{Kind: "always", Property: "p", Cause: "p, decided at a.go:7", Count: 1, Steps: 12},
		{Kind: "eventually", Property: "p", Cause: "p, under Crash", Count: 1},
		{Kind: "settles", Cause: "settles: op requeues, under Crash", Count: 1},
		{Kind: "settles", Cause: "settles: op requeues, under no fault", Count: 1},
		{Kind: "settles", Cause: "settles: op waits, under Crash", Count: 1},
	})
	want := []Finding{
		{Cause: "p, under no fault", Count: 6, First: 4, Strategy: "random", Steps: 20, Story: "short"},
		{Cause: "p, decided at a.go:7", Count: 6, Steps: 9},
		{Cause: "p, decided at a.go:8", Count: 1, Steps: 9},
		{Cause: "p, under Crash", Count: 1},
		{Cause: "settles: op requeues, under Crash", Count: 2},
		{Cause: "settles: op waits, under Crash", Count: 1},
	}
	if len(got) != len(want) {
		t.Fatalf("%d causes, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		w.Kind, w.Property = got[i].Kind, got[i].Property
		if got[i] != w {
			t.Errorf("cause %d is %+v, want %+v", i, got[i], w)
		}
	}
}
