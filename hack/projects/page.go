package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// examined is what was found out by hand: for each property that broke in a project, whether the
// bug is real.
//
//go:embed examined.json
var examinedFile []byte

type examined struct {
	Findings map[string]string `json:"findings"`
	Needs    string            `json:"needs"` // what to write where every reconcile fails
}

// writePage writes the table. It returns the number of findings without an assessment.
func writePage(file string, all map[string]measured) (unexamined int, err error) {
	var notes map[string]examined
	if err := json.Unmarshal(examinedFile, &notes); err != nil {
		return 0, err
	}
	var b, rest bytes.Buffer
	past, slowest := 0, measured{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m := all[name]
		if len(m.AllFailed) == 0 && m.Failed == "" {
			past++
		}
		if m.CPU > slowest.CPU {
			slowest = m
		}
	}
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(notes)) {
		if _, ok := all[name]; !ok {
			missing = append(missing, name)
		}
	}
	fmt.Fprintf(&b, `# wavetank init on ten projects

Made by `+"`make projects`"+`. The projects in
[cmd/wavetank/internal/project](../cmd/wavetank/internal/project) follow the documentation of kubebuilder and
operator-sdk, and do not import Wavetank. They were not edited: `+"`wavetank init`"+` wrote the tests and
ran them. Where no property was violated, `+"`wavetank run ./... --runs 1000`"+` followed.

%d of %d get past "every reconcile failed". The slowest, %s, used %.0f s of CPU time from checkout to its
result, with a warm build cache. Real seconds depend on what else the machine does: the load average is in
the last column. %d CPUs, %s.

| project | what it is | tests | longest, lines | guesses | result | CPU s | real s | load |
| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |
`, past, len(all), slowest.Project, slowest.CPU, runtime.NumCPU(), runtime.Version())
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m := all[name]
		n := notes[m.Project]
		result := fmt.Sprintf("quiet in %d runs", m.Runs)
		switch {
		case m.Failed != "":
			result = "failed"
			fmt.Fprintf(&rest, "- %s: %s\n", m.Project, m.Failed)
		case len(m.AllFailed) > 0:
			result = "every reconcile failed"
			fmt.Fprintf(&rest, "- %s: every reconcile fails. %s\n", m.Project, n.Needs)
		case len(m.Findings) > 0:
			result = "finding"
		}
		for _, f := range m.Findings {
			said := n.Findings[f]
			if said == "" {
				unexamined++
				said = "not examined"
			}
			fmt.Fprintf(&rest, "- %s, \"%s\": %s\n", m.Project, f, said)
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %s | %.0f | %.0f | %.0f |\n", m.Project, is(m.Project), m.Tests,
			m.Lines, m.Guesses, result, m.CPU, m.Seconds, max(m.Load, m.LoadAtStart))
	}
	if len(missing) > 0 {
		fmt.Fprintf(&b, "\nNot measured with the rights that ship: %s.\n",
			strings.Join(missing, "; "))
	}
	if rest.Len() > 0 {
		fmt.Fprintf(&b, "\n## What was found, and whether it is real\n\n%s", rest.String())
	}
	return unexamined, os.WriteFile(file, b.Bytes(), 0o666)
}

// is tells what a project has, by the first line of its archive.
func is(name string) string {
	archive, err := txtar.ParseFile(filepath.Join(projects, name+".txtar"))
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(archive.Comment), "\n")
	return first
}
