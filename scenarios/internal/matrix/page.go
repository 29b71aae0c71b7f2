// This file renders the page of a scenario, README.md, from the table and its results.

package matrix

import (
	"fmt"
	"strings"
)

// header explains the page. Its argument is the scenario folder.
const header = `# Results of %[1]s

` + "`make matrices STORY=%[1]s`" + ` writes this page from [results.json](results.json); do not edit it.
` + "`go test ./scenarios/%[1]s`" + ` fails when it is stale, repeats every failure, and runs the passing cells again.

A cell is a case and a variant: ✗ failed, ✓ passed, – not run. Of a failed cell, runs are those until the first
failure, and steps those of the failing run that is repeated. Of a passed cell they are all runs and all steps, with
every fault that the case lists. Cases of one workload share their runs: each run checks all properties that the
variant must keep. Commit is the commit on which the runs were made.

A failed cell names the story whose choices make it fail, which may have been found for another cell, or the default
schedule: then it fails without any choice. ` + "`make reprove`" + ` searches a failure that names neither.

| cell | outcome | runs | steps | story | note | commit |
|---|---|---|---|---|---|---|
`

// render returns the page.
func render(folder string, cells []cell, ending string) string {
	var b strings.Builder
	fmt.Fprintf(&b, header, folder)
	for _, c := range cells {
		link := ""
		switch {
		case c.Default:
			link = "default schedule"
		case c.Story != "":
			link = fmt.Sprintf("[%s](%s/%s)", strings.TrimSuffix(c.Story, ".txtar"), catalogue, c.Story)
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %s | %s | %s |\n",
			c.name(), c.Outcome, c.Runs, c.Steps, link, c.Note, c.Commit)
	}
	b.WriteString(ending)
	return b.String()
}
