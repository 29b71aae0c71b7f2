package catalogue

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/internal/story"
)

// root is the root of the repository.
const root = "../../.."

var update = flag.Bool("update", false, "write the pages again")

// The page in the repository has the section of every scenario as its stories give it. The section
// of a scenario that was deleted stays until make story-texts.
func TestTheCataloguePageIsFresh(t *testing.T) {
	entries, err := ReadCatalogue(root)
	if err != nil {
		t.Fatal(err)
	}
	classes, err := ReadClasses(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) == 0 {
		t.Fatal("there is no story in the catalogue")
	}
	if *update {
		catalogue := filepath.Join(root, "scenarios", "CATALOGUE.md")
		if err := os.WriteFile(catalogue, []byte(Catalogue(entries, classes)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "scenarios", "CATALOGUE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range slices.Concat([]string{catalogueHead}, rows(entries, classes), threads(entries)) {
		if !strings.Contains(string(page), part) {
			t.Errorf("CATALOGUE.md is stale; run make story-texts. It does not have:\n%s", part)
		}
	}
}

// The card of a story names its class, and links to it on the page next to it.
func TestCardsNameTheirClass(t *testing.T) {
	path, err := WriteCatalogue(root, filepath.Join(t.TempDir(), "catalogue"), "")
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
		{ID: story.ID{Label: story.Label{Kind: story.Arm, Of: "StaleCache", What: "(30s)"}}, Value: 2},
		{ID: story.ID{Label: story.Label{Kind: story.Arm, Of: "StaleCache", What: "(5s)"}}, Value: 1},
		{ID: story.ID{Label: story.Label{Kind: story.Arm, Of: "Crash", What: "(a)"}}, Value: 1},
		{ID: story.ID{Label: story.Label{Kind: story.Next}, Nth: 2}, Value: 1},
		{ID: story.ID{Label: story.Label{Kind: story.Inject, Of: "Crash(a)", What: "before a create Pod x"}}, Value: 1},
		{ID: story.ID{Label: story.Label{Kind: story.Inject, Of: "StaleCache(30s)", What: "a"}}, Value: 1}}}
	e := Entry{Folder: "a", File: "scenarios/a/testdata/catalogue/x.txtar", Thread: "[a #1](https://a.example/1)",
		Story: s}
	if got := Pattern(s); got != "Crash and StaleCache" {
		t.Errorf("pattern %q", got)
	}
	classes := []Class{{Title: "It is stale", Stories: []string{e.File}}}
	other := Entry{Folder: "b", File: "b.txtar", Thread: "[b #2](https://b.example/2)", Story: s}
	page := Catalogue([]Entry{e, other}, classes)
	for _, row := range []string{
		"\n| [a #1] | T | p | " +
			"[It is stale](CLASSES.md#it-is-stale) | Crash(a) before a create Pod x; and 1 more | " +
			"`wavetank replay scenarios/a/testdata/catalogue/x.txtar` |\n",
		"\n| [b #2] | T | p | – | ", "\n\n[a #1]: https://a.example/1\n[b #2]: https://b.example/2\n",
	} {
		if !strings.Contains(page, row) {
			t.Errorf("the page does not have %q:\n%s", row, page)
		}
	}
}

// make classes asks for the pages of the catalogue and of the classes, with links to the timelines
// that are there by now.
func TestWriteTheCatalogue(t *testing.T) {
	out := os.Getenv("WAVETANK_PAGES")
	if out == "" {
		t.Skip("it writes files for make classes, which asks for it")
	}
	if _, err := WriteCatalogue(root, filepath.Join(out, "catalogue"), "../demo/index.html"); err != nil {
		t.Fatal(err)
	}
}
