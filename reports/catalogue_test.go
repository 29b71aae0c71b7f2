package reports

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/story"
)

var update = flag.Bool("update", false, "write the pages anew")

// The page in the repository has the section of every scenario as its stories give it. The section
// of a scenario that was deleted stays until make story-texts.
func TestTheCataloguePageIsFresh(t *testing.T) {
	entries, err := ReadCatalogue("..")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) == 0 {
		t.Fatal("there is no story in the catalogue")
	}
	if *update {
		if err := os.WriteFile("CATALOGUE.md", []byte(Catalogue(entries)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile("CATALOGUE.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page) + "\n## " // the last section ends like the others
	for _, section := range append([]string{catalogueHead}, sections(entries)...) {
		if !strings.Contains(text, section+"\n## ") {
			t.Errorf("CATALOGUE.md is stale; run make story-texts. It does not have:\n%s", section)
		}
	}
}

// The card of a story names its class, and links to that on the page beside it.
func TestCardsNameTheirClass(t *testing.T) {
	path, err := WriteCatalogue("..", filepath.Join(t.TempDir(), "catalogue"), "")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const file = "scenarios/promotion/testdata/catalogue/default-trace--V1.txtar"
	const class = `<a href="classes.html#it-acts-on-a-stale-read">It acts on a stale read</a>`
	for _, card := range strings.Split(string(page), "<article") {
		if strings.Contains(card, file) {
			if !strings.Contains(card, class) {
				t.Errorf("the card does not name its class:\n%s", card)
			}
			return
		}
	}
	t.Errorf("there is no card of %s", file)
}

func TestAnEntryNamesItsPattern(t *testing.T) {
	s := &story.Story{Test: "T", Kind: "always", Property: "p", Choices: []story.Choice{
		{Kind: story.Arm, Of: "StaleCache", What: "(30s)", Value: 2},
		{Kind: story.Arm, Of: "StaleCache", What: "(5s)", Value: 1},
		{Kind: story.Arm, Of: "Crash", What: "(a)", Value: 1}, {Kind: story.Next, Nth: 2, Value: 1}}}
	e := Entry{Folder: "a", File: "scenarios/a/testdata/catalogue/x.txtar", Thread: "[a #1](https://a.example/1)",
		Story: s}
	if got := e.Pattern(); got != "Crash and StaleCache" {
		t.Errorf("pattern %q", got)
	}
	page := Catalogue([]Entry{e, {Folder: "b", Thread: "[b #2](https://b.example/2)", Story: s}})
	for _, part := range []string{"\n## a\n\nMade from [a #1](https://a.example/1).",
		`| Crash and StaleCache | always "p" |`, "\n## b\n"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page does not have %q:\n%s", part, page)
		}
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
