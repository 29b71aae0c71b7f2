package planted

import (
	"testing"

	"github.com/wavetank/wavetank/internal/causes"
)

// knownCauses are the causes of testdata/causes.txt, by bug.
func knownCauses(t *testing.T) map[string][]causes.Part {
	t.Helper()
	known, err := causes.Read("testdata/causes.txt")
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func TestEveryPlantedBugHasACause(t *testing.T) {
	known := knownCauses(t)
	for _, b := range Bugs() {
		if len(known[b.Name]) == 0 {
			t.Errorf("testdata/causes.txt does not say what causes %s", b.Name)
		}
		delete(known, b.Name)
	}
	for name := range known {
		t.Errorf("testdata/causes.txt has %s, which is not planted", name)
	}
}
