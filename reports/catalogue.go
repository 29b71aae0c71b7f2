package reports

import (
	"fmt"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/wavetank/wavetank/story"
)

// threads are the public threads that the stories of each scenario folder come from.
var threads = map[string]string{
	"bundledeployment": "[operator-framework/rukpak #596](https://github.com/operator-framework/rukpak/pull/596)",
	"clusterextension": "[operator-framework/operator-controller #1776](https://github.com/operator-framework/operator-controller/pull/1776)",
	"promotion":        "[weaveworks/pipeline-controller #214](https://github.com/weaveworks/pipeline-controller/pull/214)",
	"reposync":         "[GoogleContainerTools/kpt-config-sync #1191](https://github.com/GoogleContainerTools/kpt-config-sync/pull/1191)",
	"throttle":         "[zalando-incubator/kopf #351](https://github.com/zalando-incubator/kopf/pull/351)",
}

// Entry is one story of the catalogue.
type Entry struct {
	Folder string // scenario folder, for example "promotion"
	File   string // path from the root of the repository
	Story  *story.Story
}

// ReadCatalogue reads every story under root/scenarios/*/testdata/catalogue, in order.
func ReadCatalogue(root string) ([]Entry, error) {
	files, err := filepath.Glob(filepath.Join(root, "scenarios", "*", "testdata", "catalogue", "*.txtar"))
	if err != nil {
		return nil, err
	}
	sort.Strings(files)
	var out []Entry
	for _, f := range files {
		s, err := story.Read(f)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(root, f)
		if err != nil {
			return nil, err
		}
		rel = filepath.ToSlash(rel)
		folder := strings.Split(rel, "/")[1]
		out = append(out, Entry{Folder: folder, File: rel, Story: s})
	}
	return out, nil
}

// Pattern is the sorts of faults that a story's tape needs, as its labels name them.
func (e Entry) Pattern() string {
	var faults []string
	for _, c := range e.Story.Tape {
		rest, ok := strings.CutPrefix(c.ID, "fault ")
		if !ok {
			continue
		}
		rest, _, _ = strings.Cut(rest, " #")
		name, _, _ := strings.Cut(rest, "(")
		faults = append(faults, name)
	}
	if len(faults) == 0 {
		return "no fault"
	}
	sort.Strings(faults)
	return strings.Join(faults, " and ")
}

// found takes apart where a story says that it was found: "sweep, run 3 of base seed 7".
var found = regexp.MustCompile(`^(.+), run (\d+) of (base seed \d+)$`)

// Seconds is the CPU time that the search took.
func (e Entry) Seconds() string {
	if e.Story.Took == 0 {
		return "–"
	}
	return strconv.FormatFloat(e.Story.Took.Seconds(), 'f', 2, 64)
}

// FoundBy is the strategy that found a story, with the base seed, and Runs the number of runs that it took, the last one
// included: what a search costs, in a measure that is the same on every machine.
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

This page is written by ` + "`make catalogue`" + `; do not edit it. Each story must still break the variant that it is about
and pass on the cured one; the suite of its scenario sees to that on every ` + "`go test`" + `. How long a search took is said in
runs, the one that found the story included, and in seconds of CPU time of its process, from the first run to that one;
shrinking comes after that. Runs are the same on every machine; seconds are those of the machine that found the story, or,
if it was found before stories kept them, of one on which today's strategies searched for it anew.

| story | upstream thread | pattern | sentence | shortest run | found by | runs to find | CPU seconds to find | replay |
|---|---|---|---|---|---|---|---|---|
`

// Catalogue is the page of all stories, as Markdown.
func Catalogue(entries []Entry) string {
	var b strings.Builder
	b.WriteString(catalogueHead)
	for _, e := range entries {
		s := e.Story
		how, runs := e.FoundBy()
		fmt.Fprintf(&b, "| [%s](../%s) | %s | %s | %s | %s (from %s) | %s | %s | %s | `%s` |\n",
			s.Test, e.File, threads[e.Folder], e.Pattern(), s.Headline(), s.After, s.Before, how, runs, e.Seconds(), strings.ReplaceAll(s.Replay, "|", `\|`))
	}
	return b.String()
}
