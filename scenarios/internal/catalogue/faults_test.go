package catalogue

import (
	"strings"
	"testing"
)

// The lines of a story show as many faults as it counts, unless its history is abridged.
func TestStoriesShowTheFaultsThatTheyCount(t *testing.T) {
	entries, err := ReadCatalogue(root)
	if err != nil {
		t.Fatal(err)
	}
	whole := 0
	for _, e := range entries {
		s := e.Story
		history := strings.Join(s.History, "\n")
		if strings.Contains(history, "… ") {
			continue
		}
		whole++
		more := *s
		more.After.Faults = 1000
		if shown := more.After.Faults - more.Unshown(s.History); shown != s.After.Faults {
			t.Errorf("%s counts %d faults, and its lines show %d", e.File, s.After.Faults, shown)
		}
	}
	if whole < 20 {
		t.Errorf("only %d stories have their whole history", whole)
	}
}
