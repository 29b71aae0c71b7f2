package world

import (
	"testing"
)

func TestFailWithoutARun(t *testing.T) {
	if Fail("nowhere:1", "no run is under way") {
		t.Error("Fail says that it ended a run")
	}
}
