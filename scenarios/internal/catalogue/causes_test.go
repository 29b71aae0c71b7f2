package catalogue

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/internal/causes"
)

// docs/causes.md has the figures that the files of causes say, and the tests of the scenarios see
// that those are right.
func TestTheFiguresOfCausesAreFresh(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(root, "scenarios", "*", "testdata", "causes.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files of causes: %v", err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "causes.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := func(name string, all, hidden, unnamed int) {
		want := fmt.Sprintf("| %s | %d | %d | %d |\n", name, all, all-hidden, all-unnamed)
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/causes.md does not have\n%s", want)
		}
	}
	var all, hidden, unnamed int
	for _, path := range paths {
		known, err := causes.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		h, u := 0, 0
		for _, cause := range known {
			of := causes.Part{}
			for _, p := range cause {
				of.Hidden, of.Unnamed = of.Hidden || p.Hidden, of.Unnamed || p.Unnamed
			}
			if of.Hidden {
				h++
			}
			if of.Unnamed {
				u++
			}
		}
		row(filepath.Base(filepath.Dir(filepath.Dir(path))), len(known), h, u)
		all, hidden, unnamed = all+len(known), hidden+h, unnamed+u
	}
	row("all", all, hidden, unnamed)
	if 20*hidden > all || 10*unnamed > all {
		t.Errorf("of %d causes no line shows %d, and no paragraph names %d: too many", all, hidden, unnamed)
	}
}
