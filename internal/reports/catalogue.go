package reports

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/story"
)

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

// faults are the classes of the faults that a story needs.
func (e Entry) faults() (classes []string) {
	for _, c := range e.Story.Choices {
		if c.Kind == story.Arm {
			classes = append(classes, c.Of)
		}
	}
	slices.Sort(classes)
	return slices.Compact(classes)
}

// Faults are the classes of the faults that a story needs; "no fault" if there is none.
func (e Entry) Faults() []string {
	if classes := e.faults(); len(classes) > 0 {
		return classes
	}
	return []string{"no fault"}
}

// Pattern is [Entry.Faults] in words.
func (e Entry) Pattern() string { return strings.Join(e.Faults(), " and ") }

// cause is the first fault that the story needs and the number of the others; or else what it needs
// instead.
func (e Entry) cause() string {
	var injected []string
	for _, c := range e.Story.Choices {
		if c.Kind == story.Inject {
			injected = append(injected, strings.TrimSpace(c.Label()))
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
variant passes with the same choices. A variant that fails on the default schedule needs no story; the README.md of its
scenario lists it. "make story-texts" writes this page; do not edit it.

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
