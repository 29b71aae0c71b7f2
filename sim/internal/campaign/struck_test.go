package campaign

import (
	"testing"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/result"
)

func TestStruckTableHasARowForEachClass(t *testing.T) {
	get, remove := story.ClassTotal{Verb: "get", Kind: "Pod"}, story.ClassTotal{Verb: "delete", Kind: "Pod"}
	get.Opportunities, get.Injected, remove.Opportunities = 1000, 40, 1
	got := struckTable([]result.FaultCount{
		{Fault: "ServerError", Classes: []story.ClassTotal{get, remove}},
		{Fault: "Crash(a)", Classes: []story.ClassTotal{remove}},
	})
	const want = "" +
		"            Crash(a)  ServerError\n" +
		"delete Pod  0 of 1    0 of 1\n" +
		"get Pod     –         40 of 1000\n"
	if got != want {
		t.Errorf("the table is\n%sand should be\n%s", got, want)
	}
	if got := struckTable([]result.FaultCount{{Fault: "Crash(a)"}}); got != "" {
		t.Errorf("without opportunities the table is %q", got)
	}
}
