package world

import (
	"strings"
	"testing"

	"github.com/wavetank/wavetank/sim/internal/shell"
)

// What package testing does not tell, the verdict guesses: without the race detector it was no
// race, and with it whose race it is can be read off the report.
func TestWhoFailedTheTestIsTold(t *testing.T) {
	if said := whyFailed(false); strings.Contains(said, "race") || !strings.Contains(said, "t.Fatal") {
		t.Error(said)
	}
	for _, want := range []string{"the race detector found a data race", "modules that are not yours",
		"once, so the run is not shrunk"} {
		if said := whyFailed(true); !strings.Contains(said, want) {
			t.Errorf("%q is missing in %s", want, said)
		}
	}
	if shell.Races() != strings.Contains(shell.GoTest("p"), "-race") {
		t.Error("the command and the verdict differ on whether races are looked for")
	}
}
