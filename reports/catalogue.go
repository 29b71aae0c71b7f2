package reports

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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

// Faults are the classes of the faults that a story needs; "no fault" if there is none.
func (e Entry) Faults() (classes []string) {
	for _, c := range e.Story.Choices {
		if c.Kind == story.Arm {
			classes = append(classes, c.Of)
		}
	}
	if len(classes) == 0 {
		return []string{"no fault"}
	}
	slices.Sort(classes)
	return slices.Compact(classes)
}

// Pattern is [Entry.Faults] in words.
func (e Entry) Pattern() string { return strings.Join(e.Faults(), " and ") }

// found takes apart where a story says that it was found: "sweep, run 3 of base seed 7".
var found = regexp.MustCompile(`^(.+), run (\d+) of (base seed \d+)$`)

// Seconds is the CPU time that the search took.
func (e Entry) Seconds() string {
	if e.Story.Took == 0 {
		return "–"
	}
	return strconv.FormatFloat(e.Story.Took.Seconds(), 'f', 2, 64)
}

// FoundBy is the strategy that found a story, with the base seed, and Runs the number of runs that
// it took, the last one included: what a search costs, in a measure that is the same on every
// machine.
func (e Entry) FoundBy() (how, runs string) {
	m := found.FindStringSubmatch(e.Story.Seed)
	if m == nil {
		return e.Story.Seed, "–"
	}
	n, err := strconv.Atoi(m[2])
	if err != nil {
		return e.Story.Seed, "–"
	}
	return m[1] + ", " + m[3], strconv.Itoa(n + 1)
}

// catalogueHead explains the page.
const catalogueHead = `# Catalogue of stories

This page is written by "make story-texts"; do not edit it. There is one story for each property and class of fault, the
shortest, and some for variants that no other story makes fail. Each story must still break the variant that it is
about and pass on the fixed one: "make reprove" checks that. What fails on the default schedule needs no story, and the
README.md of each scenario lists it. How long a search took is said in runs and in seconds of CPU time, from the first
run to the one that failed, without shrinking. Runs are the same on every machine; seconds are not.
`

// Catalogue is the page of all stories, as Markdown.
func Catalogue(entries []Entry) string {
	var b strings.Builder
	b.WriteString(catalogueHead)
	for _, section := range sections(entries) {
		b.WriteString(section)
	}
	return b.String()
}

// sections are the parts of the page, one for each scenario. They do not depend on one another.
func sections(entries []Entry) (out []string) {
	for len(entries) > 0 {
		here := entries[0]
		n := slices.IndexFunc(entries, func(e Entry) bool { return e.Folder != here.Folder })
		if n < 0 {
			n = len(entries)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "\n## %s\n\nMade from %s.\n\n", here.Folder, here.Thread)
		b.WriteString("| story | faults | sentence | shortest run | found by | runs to find | CPU seconds to find | " +
			"replay |\n")
		b.WriteString("|---|---|---|---|---|---|---|---|\n")
		for _, e := range entries[:n] {
			s := e.Story
			how, runs := e.FoundBy()
			replay := strings.ReplaceAll(s.Replay, "|", `\|`)
			fmt.Fprintf(&b, "| [%s](../%s) | %s | %s | %s (from %s) | %s | %s | %s | `%s` |\n",
				s.Test, e.File, e.Pattern(), s.Headline(), s.After, s.Before, how, runs, e.Seconds(), replay)
		}
		out, entries = append(out, b.String()), entries[n:]
	}
	return out
}
