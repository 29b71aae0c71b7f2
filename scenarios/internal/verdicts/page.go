// This file renders VERDICTS.md, the page for people, from the table and its results.

package verdicts

import (
	"fmt"
	"strings"
)

// header explains the page. Its argument is the scenario folder.
const header = `# Verdicts of %[1]s

` + "`make verdicts STORY=%[1]s`" + ` writes this page from [results.json](results.json); do not edit it.
` + "`go test ./scenarios/%[1]s`" + ` fails when it is stale, repeats every failure, and runs the passing cells again.

A cell is a case and a variant. Expected is what notes said that were written from the public thread and the code
upstream before anything ran; they are not kept here. Observed is what the runs showed: ✗ failed, ✓ passed, ~ in part,
– nothing is said or asked. Of a failed cell, runs are those until the first failure, and steps those of the failing run
that is repeated. Of a passed cell they are all runs and all steps, with every fault that the case lists. Cases of one
scene share their runs: each run checks all properties that the variant must keep. Commit is the commit on which the
runs were made.

A failed cell names the story whose choices make it fail, which may have been found for another cell, or the default
schedule: then it fails without any choice. ` + "`make reprove`" + ` searches a failure that names neither.

| cell | expected (dossier) | observed | runs | steps | story | status | commit |
|---|---|---|---|---|---|---|---|
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
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %s | %s | %s |\n",
			c.name(), c.Expected, c.Observed, c.Runs, c.Steps, link, c.Status, c.Commit)
	}
	b.WriteString(ending)
	return b.String()
}
