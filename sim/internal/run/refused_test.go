package run_test

import (
	"slices"
	"testing"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// What a fault refuses is no evidence against the program.
func TestRefusedOfLeavesOutFaults(t *testing.T) {
	list := history.Event{Kind: history.Request, Process: "op", Incarnation: 1, Verb: "list",
		Ref: history.Ref{Kind: "ConfigMap"}, Code: 403}
	injected := list
	injected.Injected = true
	got := run.RefusedOf([]history.Event{injected, list, injected})
	want := []run.Refused{{Process: "op", Request: "list ConfigMap", Made: 1, Failed: 1, Code: 403}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
