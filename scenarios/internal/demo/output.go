// This file exists for what a demonstration leaves on disk: reports/out/demo.json for programs, and
// stories and pages for people.

package demo

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/wavetank/wavetank/reports"
)

// Row is one line of reports/out/demo.json.
type Row struct {
	Story    string  `json:"story"` // the scenario's folder
	Variant  string  `json:"variant"`
	Expected string  `json:"expected"` // caught or held
	Observed string  `json:"observed"` // caught or held
	Runs     int     `json:"runs"`     // made until the first find, or all
	Seconds  float64 `json:"seconds"`  // with shrinking
	// The lengths of the run as found and of the shortest one, and the faults in it; 0 if nothing
	// was caught.
	StepsBefore int `json:"stepsBefore"`
	StepsAfter  int `json:"stepsAfter"`
	FaultsAfter int `json:"faultsAfter"`
	// StoryFile is relative to the root of the module.
	StoryFile string `json:"storyFile"`
}

// output knows where things go.
type output struct {
	root    string // of the module, as seen from the package's directory
	results string
	stories string
	pages   string
}

func newOutput(t *testing.T, story string) output {
	t.Helper()
	root, err := os.Getwd()
	for ; err == nil; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if root == filepath.Dir(root) {
			err = errors.New("no go.mod is above the package's directory")
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	root = relative(t, root)
	out := filepath.Join(root, "reports", "out")
	return output{root: root, results: filepath.Join(out, "demo.json"), stories: filepath.Join(out, "stories", story),
		pages: filepath.Join(out, "demo", story)}
}

// clear removes what earlier showings left: their stories would be tried before searching, their
// campaigns gone on with.
func (o output) clear(t *testing.T) {
	t.Helper()
	for _, dir := range []string{o.stories, o.pages} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// index writes the one page that shows everything that was done, and the catalogue's page that it
// links to. It returns its path. The catalogue's timelines are those that make pages has left.
func (o output) index(t *testing.T) string {
	t.Helper()
	out := filepath.Dir(o.results)
	if _, err := reports.WriteCatalogue(o.root, filepath.Join(out, "catalogue"), "../demo/index.html"); err != nil {
		t.Fatal(err)
	}
	link := [2]string{"The catalogue of stories", "../catalogue/index.html"}
	page, err := reports.Index(filepath.Join(out, "demo"), "What make demo has shown", link)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// fromRoot is a path as seen from the root of the module.
func (o output) fromRoot(path string) string {
	rel, err := filepath.Rel(o.root, path)
	if err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

// alone waits until no other story's package writes what the stories share; the caller says when it
// is done.
func (o output) alone(t *testing.T) (done func()) {
	t.Helper()
	path := filepath.Join(filepath.Dir(o.results), ".demo.lock")
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	var lock *os.File
	if err == nil {
		lock, err = os.Create(path)
	}
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() { lock.Close() }
}

// write replaces the rows of a story in the results.
func (o output) write(t *testing.T, story string, rows []Row) {
	t.Helper()
	var all []Row
	data, err := os.ReadFile(o.results)
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s: %v", o.results, err)
	}
	all = append(slices.DeleteFunc(all, func(r Row) bool { return r.Story == story }), rows...)
	slices.SortStableFunc(all, func(a, b Row) int { return strings.Compare(a.Story, b.Story) })
	data, err = json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(o.results), 0o777)
	}
	if err == nil {
		err = os.WriteFile(o.results, append(data, '\n'), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}
