package catalogue

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/reports"
)

// classesPage writes the page of the repository's classes with the timelines of some stories, which
// are empty files.
func classesPage(t *testing.T, timelines ...string) (dir, page string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "catalogue")
	for _, name := range timelines {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	path, err := WriteClasses(root, dir, "../demo/index.html")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return dir, string(data)
}

var attribute = regexp.MustCompile(`(href|id)="([^"]*)"`)

// The page has each class once, with all that its text says, and its links lead somewhere.
func TestTheClassesPageHasEveryClass(t *testing.T) {
	classes, err := ReadClasses(root)
	if err != nil {
		t.Fatal(err)
	}
	dir, page := classesPage(t)
	text := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, ""))
	ids, links := map[string]int{}, []string{}
	for _, m := range attribute.FindAllStringSubmatch(page, -1) {
		if m[1] == "id" {
			ids[m[2]]++
		} else {
			links = append(links, m[2])
		}
	}
	for _, c := range classes {
		if ids[anchor(c.Title)] != 1 {
			t.Errorf("%s is on the page %d times", c.Name, ids[anchor(c.Title)])
		}
		for _, line := range strings.Split(c.Text, "\n") {
			words := inlineLink.ReplaceAllString(line, "$1")
			if strings.ContainsAny(words, "[]`") {
				continue // markup, perhaps over several lines; the other lines show that nothing is left out
			}
			if !strings.Contains(text, words) {
				t.Errorf("%s: the page lacks %q", c.Name, words)
			}
		}
	}
	for _, l := range links {
		switch name, fragment := strings.CutPrefix(l, "#"); {
		case fragment && ids[name] == 0:
			t.Errorf("no section has the name of %s", l)
		case fragment || strings.HasPrefix(l, "https://") || l == "data:,":
		case l == "index.html" || l == "../demo/index.html": // written beside it
		case !exists(filepath.Join(dir, filepath.FromSlash(l))):
			t.Errorf("%s is not there", l)
		}
	}
	script, err := os.ReadFile(filepath.Join(root, "reports", "dist", "classes.js"))
	if err != nil || !strings.Contains(page, string(script)) {
		t.Errorf("the page does not have its script (%v)", err)
	}
	if strings.Contains(page, "](http") || strings.Contains(page, "```") {
		t.Error("Markdown is left on the page")
	}
}

// A timeline that is there is linked to; for one that is not there the page says how to make it.
// Two scenarios may have stories of one name.
func TestTheClassesPageLeadsToTimelines(t *testing.T) {
	_, page := classesPage(t, "promotion/two-leaders--V3.html")
	section := page[strings.Index(page, `id="two-leaders"`):]
	section = section[:strings.Index(section, "</section>")]
	if !strings.Contains(section, `<a href="promotion/two-leaders--V3.html">timeline</a>`) ||
		strings.Contains(section, `href="clusterextension/two-leaders--V1.html"`) ||
		strings.Contains(section, "-sim.report=") {
		t.Errorf("the timeline of the story is not linked to:\n%s", section)
	}
	dir, page := classesPage(t)
	section = page[strings.Index(page, `id="two-leaders"`):]
	section = section[:strings.Index(section, "</section>")]
	command := regexp.MustCompile(`-sim\.replay=(\S+) -sim\.report=(\S+)</pre>`).FindStringSubmatch(section)
	if command == nil || strings.Contains(section, ">timeline<") {
		t.Fatalf("nothing says how to make the timeline:\n%s", section)
	}
	scenario := filepath.Join(root, "scenarios", "promotion")
	if !exists(filepath.Join(scenario, command[1])) {
		t.Errorf("the command replays %s, which is not there", command[1])
	}
	report, err := between(dir, filepath.Join(scenario, command[2]))
	if err != nil || report != "promotion" {
		t.Errorf("the command writes into %s, as seen from the page: %v", report, err)
	}
}

// A story has the class of the stored one of its cell, if it breaks the same by the same faults.
func TestTheClassOfAStory(t *testing.T) {
	kept, err := readKept(root, "scenarios/promotion/testdata/catalogue/default-trace--V1.txtar")
	if err != nil || kept == nil {
		t.Fatal("the story is not there", err)
	}
	cells, err := knownCells(root)
	if err != nil {
		t.Fatal(err)
	}
	demo := filepath.Join(t.TempDir(), "demo.json")
	rows := `[{"scenario": "promotion", "variant": "V1", "case": "app burst", "runs": 3}]`
	if err := os.WriteFile(demo, []byte(rows), 0o666); err != nil {
		t.Fatal(err)
	}
	shown, err := readShown(demo)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"TestMatrix/default_trace/V1":  "It acts on a stale read",
		"TestMatrix/app_burst/V2":      "It acts on a stale read", // fails by the same story
		"TestDemo/V1":                  "It acts on a stale read", // in the case that demo.json says
		"TestDemo/V8":                  "",
		"TestMatrix/default_trace/V8":  "", // passes
		"TestMatrix/app_burst/V2/more": "",
	} {
		s := *kept
		s.Test = name
		l := classLinks{cells, shown, "page"}.of(&s)
		if got := nameOf(l); got != want {
			t.Errorf("%s has the class %q, not %q", name, got, want)
		}
	}
	of, err := ClassOf(root, ".")
	if err != nil {
		t.Fatal(err)
	}
	if l := of(kept); l == nil || !exists(strings.Split(l.Page, "#")[0]) {
		t.Errorf("the page of the class is not there: %v", l)
	}
	for what, change := range map[string]func(*story.Story){
		"property": func(s *story.Story) { s.Property = "another one" },
		"faults":   func(s *story.Story) { s.Choices = nil },
		"package":  func(s *story.Story) { s.Package = "example.org/promotion" },
	} {
		s := *kept
		change(&s)
		if l := of(&s); l != nil {
			t.Errorf("with another %s it still has the class %v", what, l)
		}
	}
}

func nameOf(l *reports.PageLink) string {
	if l == nil {
		return ""
	}
	return l.Name
}
