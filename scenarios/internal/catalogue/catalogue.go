// Package catalogue makes the pages of the stored stories of the reference scenarios, and of the
// classes of bugs that they show.
package catalogue

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/reports"
)

//go:embed pages.html
var templateFiles embed.FS

var templates = template.Must(template.ParseFS(templateFiles, "pages.html"))

// document renders one of the templates as a page, with a script of the reports, or "" for none.
func document(title, name, script string, data any) ([]byte, error) {
	var b strings.Builder
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return nil, err
	}
	return reports.Document(title, template.HTML(b.String()), script)
}

// Entry is one story of the catalogue.
type Entry struct {
	Folder string // scenario folder, for example "promotion"
	File   string // path from the root of the repository
	Thread string // the public thread that the scenario was made from, as a Markdown link
	Story  *story.Story
}

// ReadCatalogue reads every story under root/scenarios/*/testdata/catalogue, in order. The file
// thread.md in a scenario's directory links to the thread that it was made from.
func ReadCatalogue(root string) ([]Entry, error) {
	folders, err := filepath.Glob(filepath.Join(root, "scenarios", "*", "testdata", "catalogue"))
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, dir := range folders {
		paths, err := story.List(dir)
		if err != nil {
			return nil, err
		}
		scenario := filepath.Dir(filepath.Dir(dir))
		thread, err := os.ReadFile(filepath.Join(scenario, "thread.md"))
		if err != nil {
			return nil, fmt.Errorf("every scenario with stories names the thread that it was made from: %w", err)
		}
		for _, path := range paths {
			s, err := story.Read(path)
			if err != nil {
				return nil, err
			}
			file, err := filepath.Rel(root, path)
			if err != nil {
				return nil, err
			}
			out = append(out, Entry{Folder: filepath.Base(scenario), File: filepath.ToSlash(file),
				Thread: strings.TrimSpace(string(thread)), Story: s})
		}
	}
	return out, nil
}

// Pattern is the classes of the faults that a story needs, in words.
func Pattern(s *story.Story) string { return strings.Join(reports.FaultNames(s), " and ") }

// cause is the first fault that the story needs and the number of the others; or else what it needs
// instead.
func (e Entry) cause() string {
	var injected []string
	for _, c := range e.Story.Choices {
		if c.Kind == story.Inject {
			injected = append(injected, strings.TrimSpace(c.Label.String()))
		}
	}
	switch {
	case len(injected) > 1:
		return fmt.Sprintf("%s; and %d more", injected[0], len(injected)-1)
	case len(injected) == 1:
		return injected[0]
	}
	return strings.TrimPrefix(e.Story.Needs(), "needs ")
}

const catalogueHead = `# Catalogue of stories

Each stored story of the reference scenarios: the shortest for each property and kind of fault, and some for variants
that no other story makes fail. "make reprove" checks that each story still makes its variant fail, and that the fixed
variant passes with the same choices. Of the cases in which a variant fails on the default schedule, the first one and
those that a class shows have a story. "make story-texts" writes this page; do not edit it.

| thread | variant | violates | class | cause | replay |
|---|---|---|---|---|---|
`

// Catalogue is the page of all stories, as Markdown. Classes are the classes of bugs.
func Catalogue(entries []Entry, classes []Class) string {
	all := slices.Concat([]string{catalogueHead}, rows(entries, classes), []string{"\n"}, threads(entries))
	return strings.Join(all, "")
}

// threads are the definitions of the links to the public threads, in the order of the stories.
func threads(entries []Entry) (out []string) {
	for _, e := range entries {
		if _, target, ok := strings.Cut(e.Thread, "]("); ok {
			out = append(out, fmt.Sprintf("[%s]: %s\n", e.thread(), strings.TrimSuffix(target, ")")))
		}
	}
	return slices.Compact(out)
}

// thread is the name of the thread without its owner: "rukpak #596".
func (e Entry) thread() string {
	text, _, _ := strings.Cut(strings.TrimPrefix(e.Thread, "["), "](")
	return path.Base(text)
}

// rows are the rows of the page, one for each story. They do not depend on one another.
func rows(entries []Entry, classes []Class) (out []string) {
	of := map[string]string{}
	for _, c := range classes {
		for _, file := range c.Stories {
			of[file] = fmt.Sprintf("[%s](CLASSES.md#%s)", c.Title, anchor(c.Title))
		}
	}
	for _, e := range entries {
		out = append(out, fmt.Sprintf("| [%s] | %s | %s | %s | %s | `wavetank replay %s` |\n",
			e.thread(), path.Base(e.Story.Test), e.Story.Property, cmp.Or(of[e.File], "–"),
			strings.ReplaceAll(e.cause(), "|", `\|`), e.File))
	}
	return out
}

var markdownLink = regexp.MustCompile(`^\[(.*)\]\((.*)\)$`)

// cataloguePage is the catalogue with a picture of each story. complete sets links of a card. index
// is a link back, or "".
func cataloguePage(entries []Entry, complete func(*reports.Card, Entry), index string) ([]byte, error) {
	type folder struct {
		Name  string
		Cards []reports.Card
	}
	var folders []folder
	for _, e := range entries {
		if len(folders) == 0 || folders[len(folders)-1].Name != e.Folder {
			folders = append(folders, folder{Name: e.Folder})
		}
		c := reports.NewCard(e.Story)
		complete(&c, e)
		if m := markdownLink.FindStringSubmatch(e.Thread); m != nil {
			c.Thread, c.ThreadURL = m[1], m[2]
		}
		f := &folders[len(folders)-1]
		f.Cards = append(f.Cards, c)
	}
	return document("Catalogue of stories", "catalogue", "", struct {
		Index   string
		Count   int
		Folders []folder
	}{index, len(entries), folders})
}

// WriteCatalogue writes dir/index.html, the page of the catalogue of the repository at root, and
// the page of the classes of bugs next to it. Timelines that are in dir, in the folders of their
// scenarios and under the names of their stories, are linked to. It returns the page's path.
func WriteCatalogue(root, dir, back string) (string, error) {
	entries, err := ReadCatalogue(root)
	if err != nil {
		return "", err
	}
	up, err := between(dir, root)
	if err != nil {
		return "", err
	}
	classes := classLinks{page: ClassesFile}
	if classes.cells, err = knownCells(root); err != nil {
		return "", err
	}
	html, err := cataloguePage(entries, func(c *reports.Card, e Entry) {
		c.File = up + "/" + e.File
		if timeline := timelineOf(e.File); exists(filepath.Join(dir, filepath.FromSlash(timeline))) {
			c.Page = timeline
		}
		c.Class = classes.of(e.Story)
	}, back)
	if err != nil {
		return "", err
	}
	if _, err := WriteClasses(root, dir, back); err != nil {
		return "", err
	}
	out := filepath.Join(dir, "index.html")
	return out, reports.WritePage(out, html)
}

// between is the way from one directory to another, as a link has it.
func between(from, to string) (string, error) {
	from, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	if to, err = filepath.Abs(to); err != nil {
		return "", err
	}
	rel, err := filepath.Rel(from, to)
	return filepath.ToSlash(rel), err
}
