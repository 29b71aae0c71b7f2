// This file holds what a demonstration leaves on disk: reports/out/demo.json for programs, and
// stories and pages for people.

package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/wavetank/wavetank/internal/atomicfile"
	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/scenarios/internal/catalogue"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
)

// Row is one line of reports/out/demo.json.
type Row struct {
	Scenario string  `json:"scenario"` // its folder
	Variant  string  `json:"variant"`
	Case     string  `json:"case"`
	Property string  `json:"property"`
	Outcome  string  `json:"outcome"` // failed or passed
	Runs     int     `json:"runs"`    // until the first failure, or all
	Seconds  float64 `json:"seconds"` // with shrinking
	// Steps and Faults are those of the shortest failing run; 0 if nothing failed.
	Steps  int `json:"steps"`
	Faults int `json:"faults"`
	// StoryFile is relative to the root of the module.
	StoryFile string `json:"storyFile"`
}

// root is the root of the workspace, as seen from a scenario's folder: replay commands name no
// directories of a machine.
const root = "../.."

// output knows where things go.
type output struct{ dir, stories, pages string }

func newOutput(dir, scenario string) output {
	return output{dir, filepath.Join(dir, "stories", scenario), filepath.Join(dir, "demo", scenario)}
}

func (o output) results() string { return filepath.Join(o.dir, "demo.json") }

// clear removes what earlier demonstrations left: their stories would be tried before searching,
// their campaigns continued.
func (o output) clear(t *testing.T) {
	t.Helper()
	for _, dir := range []string{o.stories, o.pages} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// index writes the one page that shows everything that was done, and the catalogue's page that it
// links to. The catalogue's timelines are those that make pages has left.
func (o output) index(t *testing.T, summary *matrix.Summary) {
	t.Helper()
	demo := filepath.Dir(o.pages)
	_, err := catalogue.WriteCatalogue(root, filepath.Join(o.dir, "catalogue"), "../demo/index.html")
	if err == nil {
		err = o.writeSummary(summary)
	}
	front := reports.Front{Title: "What make demo has shown", Planted: true,
		Links: [][2]string{{"The catalogue of stories", "../catalogue/index.html"}}}
	if err == nil {
		front.First, err = partsOf(demo, threadFile)
	}
	if err == nil {
		front.Parts, err = partsOf(demo, summaryFile)
	}
	if err == nil {
		front.Class, err = catalogue.ClassOf(root, demo)
	}
	if err == nil {
		_, err = reports.WriteIndex(demo, front)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// partsOf reads a part of the page for each scenario.
func partsOf(demo, name string) (out []template.HTML, err error) {
	paths, err := filepath.Glob(filepath.Join(demo, "*", name))
	for _, path := range paths {
		data, unread := os.ReadFile(path)
		err = errors.Join(err, unread)
		out = append(out, template.HTML(data))
	}
	return out, err
}

// summaryFile is the part of the page that is about one scenario.
const summaryFile = "summary.part"

var summaryPage = template.Must(template.New("summary").Parse(`<h2 id="{{.Folder}}">{{.Folder}}</h2>
<p>{{.Reports}} {{.Shows}}</p>
<div class="scroll"><table><thead><tr><th scope="col">property</th><th scope="col">case</th>
{{range .Variants}}<th scope="col">{{.}}</th>{{end}}</tr></thead><tbody>
{{range .Rows}}<tr><td>{{.Property}}</td><td>{{.Case}}</td>{{range .Marks}}<td>{{if .Story -}}
<a href="../../../scenarios/{{$.Folder}}/{{.Story}}">{{.Text}}</a>{{else}}{{.Text}}{{end}}
{{- if eq .Text "✓"}} {{.Runs}}{{end -}}
</td>{{end}}</tr>
{{end}}</tbody></table></div>
`))

func (o output) writeSummary(summary *matrix.Summary) error {
	var b bytes.Buffer
	if err := summaryPage.Execute(&b, summary); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(o.pages, summaryFile), b.Bytes())
}

// alone waits until no other scenario's package writes what they share; the caller says when it is
// done.
func (o output) alone(t *testing.T) (done func()) {
	t.Helper()
	err := os.MkdirAll(o.dir, 0o777)
	var lock *os.File
	if err == nil {
		lock, err = os.Create(filepath.Join(o.dir, ".demo.lock"))
	}
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() { lock.Close() }
}

// write replaces the rows of a scenario in the results.
func (o output) write(t *testing.T, scenario string, rows []Row) {
	t.Helper()
	var all []Row
	data, err := os.ReadFile(o.results())
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s: %v", o.results(), err)
	}
	all = append(slices.DeleteFunc(all, func(r Row) bool { return r.Scenario == scenario }), rows...)
	slices.SortStableFunc(all, func(a, b Row) int { return strings.Compare(a.Scenario, b.Scenario) })
	data, err = json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = atomicfile.Write(o.results(), append(data, '\n'))
	}
	if err != nil {
		t.Fatal(err)
	}
}
