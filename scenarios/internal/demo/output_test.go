// This file tests that the results on file are what programs expect.

package demo

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A scenario replaces its own rows and leaves those of others alone, whichever ends first.
func TestResultsAreKeptByScenario(t *testing.T) {
	o := newOutput(t.TempDir(), "a")
	row := func(scenario, variant string) Row {
		return Row{Scenario: scenario, Variant: variant, Outcome: "passed", Runs: 2}
	}
	o.write(t, "a", []Row{row("a", "V1"), row("a", "V2")})
	o.write(t, "b", []Row{row("b", "V1")})
	o.write(t, "a", []Row{row("a", "V8")})

	data, err := os.ReadFile(o.results())
	if err != nil {
		t.Fatal(err)
	}
	var got []Row
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Row{row("a", "V8"), row("b", "V1")}, got); diff != "" {
		t.Error(diff)
	}
	var fields []map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	const names = "scenario variant case property outcome runs seconds steps faults storyFile"
	for _, name := range strings.Fields(names) {
		if _, ok := fields[0][name]; !ok {
			t.Errorf("the results have no field %q", name)
		}
	}
}
