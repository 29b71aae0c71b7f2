// This file holds what the page of a demonstration begins with: the story of each public thread.

package demo

import (
	"bytes"
	"html/template"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/wavetank/wavetank/internal/atomicfile"
	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim/result"
)

// maxWhy is how many lines of the explanation the page has. The timeline has all.
const maxWhy = 2

// thread is the story of a public thread.
type thread struct {
	*matrix.Summary
	Reported, Partial, Fixed told
}

// told is what a demonstration shows of a variant. Without a row it was not run.
type told struct {
	Row
	Is      string           // what the variant is
	Message string           // of the failure
	Why     []string         // the explanation of it
	Page    string           // its timeline, from the page
	Beside  string           // the same next to the run of the fixed variant
	Runs    matrix.PassingOf // what the table has of a variant that passes
}

var (
	threadPage = template.Must(template.New("thread").Parse(`<h2>{{.Folder}}
{{- with .Link}}: <a href="{{.URL}}">{{.Name}}</a>{{end}}</h2>
<ol>
{{with .Reported}}<li><b>The bug as reported.</b> {{$.Reports}}</li>
{{if .Message}}<li><b>Found in run {{.Row.Runs}}</b> of “{{.Case}}”, by {{.Variant}}: {{.Is}}
It violates “{{.Property}}”: {{.Message}}.
{{template "pages" .}}</li>{{end}}{{end}}
{{with .Partial}}{{if .Message}}<li><b>A fix that is not enough,</b> {{.Variant}}: {{.Is}}
It fails “{{.Case}}”, found in run {{.Row.Runs}}.
It violates “{{.Property}}”: {{.Message}}.{{range .Why}} {{.}}{{end}}
{{template "pages" .}}</li>{{end}}{{end}}
{{with .Fixed}}{{if .Row.Outcome}}<li><b>The fix,</b> {{.Variant}}: {{.Is}}
Here it {{.Outcome}} in {{.Row.Runs}} runs of “{{.Case}}”. It passes
{{.Runs.Cells}} cases of the table, in {{.Runs.Least}} to {{.Runs.Most}} runs each.
{{with $.Reported.Beside}}
<a href="{{.}}">The run in which the bug was found, beside the fix with the same choices</a>{{end}}</li>{{end}}{{end}}
</ol>
{{define "pages"}}{{with .Page}}<a href="{{.}}">Timeline</a>{{end}}{{end}}`))
	markdownLink = regexp.MustCompile(`^\[(.*)\]\((.*)\)$`)
)

// Link is the public thread.
func (t thread) Link() *struct{ Name, URL string } {
	if m := markdownLink.FindStringSubmatch(t.Thread); m != nil {
		return &struct{ Name, URL string }{m[1], m[2]}
	}
	return nil
}

// tell returns what was shown of a variant, from the directory of the page.
func (s *show) tell(summary *matrix.Summary, variant string) told {
	out := told{Is: summary.Is[variant], Runs: summary.Passing[variant]}
	for _, row := range s.rows {
		if row.Variant == variant {
			out.Row = row
		}
	}
	if f := s.failures[variant]; f != nil {
		out.Message, out.Why = f.Message, f.Story.Paragraph()
		out.Why = out.Why[:min(len(out.Why), maxWhy)]
		out.Page, out.Beside = s.pages(f)
	}
	return out
}

// pages are the timeline of a failure and the page that shows it next to the fixed variant, from
// the directory of the index.
func (s *show) pages(f *result.Failure) (page, beside string) {
	if f.Page == "" {
		return "", ""
	}
	page = s.scenario + "/" + filepath.Base(f.Page)
	return page, strings.TrimSuffix(page, ".html") + reports.BesideSuffix
}

// threadFile is the part of the page that tells the thread of one scenario.
const threadFile = "thread.part"

// writeThread writes the story of a thread: the first variant is the program as reported.
func (s *show) writeThread(summary *matrix.Summary, partial, fixed string) error {
	var b bytes.Buffer
	err := threadPage.Execute(&b, thread{summary, s.tell(summary, summary.Variants[0]), s.tell(summary, partial),
		s.tell(summary, fixed)})
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(s.out.pages, threadFile), b.Bytes())
}
