package reports

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wavetank/wavetank/story"
)

var update = flag.Bool("update", false, "write the pages anew")

// The page in the repository is the one that the stories give.
func TestTheCataloguePageIsFresh(t *testing.T) {
	entries, err := ReadCatalogue("..")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) == 0 {
		t.Fatal("there is no story in the catalogue")
	}
	for _, e := range entries {
		if threads[e.Folder] == "" {
			t.Errorf("catalogue.go does not name the thread that %s comes from", e.Folder)
		}
	}
	want := Catalogue(entries)
	if *update {
		if err := os.WriteFile("CATALOGUE.md", []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("CATALOGUE.md")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("CATALOGUE.md is stale; run make catalogue\n%s", d)
	}
}

func TestAnEntryNamesItsPattern(t *testing.T) {
	s := &story.Story{Test: "T", Kind: "always", Property: "p", Tape: []story.Choice{
		{ID: "fault StaleCache(30s) #1", Value: 2}, {ID: "fault Crash(a) #1", Value: 1}, {ID: "next #3", Value: 1}}}
	e := Entry{Folder: "promotion", File: "scenarios/promotion/testdata/catalogue/x.txtar", Story: s}
	if got := e.Pattern(); got != "Crash and StaleCache" {
		t.Errorf("pattern %q", got)
	}
	if page := Catalogue([]Entry{e}); !strings.Contains(page, `| Crash and StaleCache | always "p" |`) {
		t.Error(page)
	}
}

func TestAnEntrySaysWhatTheSearchTook(t *testing.T) {
	for seed, want := range map[string][2]string{
		"sweep, run 3 of base seed 7": {"sweep, base seed 7", "4"},
		"a fuzzer's bytes":            {"a fuzzer's bytes", "–"},
	} {
		how, runs := Entry{Story: &story.Story{Seed: seed}}.FoundBy()
		if how != want[0] || runs != want[1] {
			t.Errorf("%q was found by %q in %s runs", seed, how, runs)
		}
	}
}
