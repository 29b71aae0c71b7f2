package simginkgo

import (
	"regexp"
	"strings"
	"testing"
)

// A table's entry may have lines; what is printed and kept on file has one, and chooses that entry.
func TestASpecOfTwoLinesIsReplayedByOne(t *testing.T) {
	h := &host{bootstrap: "TestSuite", pkg: "example.com/op", spec: "widgets [x]\nin two lines"}
	command := h.Replay("testdata/sim/x/1.txtar")
	if strings.Contains(command, "\n") || h.Name() != "widgets [x] in two lines" {
		t.Errorf("%q, %q", h.Name(), command)
	}
	_, focus, _ := strings.Cut(command, "-ginkgo.focus='")
	focus, _, _ = strings.Cut(focus, "'")
	if !regexp.MustCompile(focus).MatchString("Suite " + h.spec) {
		t.Errorf("%q does not choose the spec", focus)
	}
}
