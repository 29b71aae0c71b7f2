// This file exists for VERDICTS.md, which people read: results.json beside the table.

package verdicts

import (
	"fmt"
	"strings"
)

// header explains the page. %s is the scenario folder.
const header = `# Verdicts of %[1]s

This page is written by ` + "`make verdicts STORY=%[1]s`" + `; do not edit it. ` + "`go test ./scenarios/%[1]s`" + ` fails when it is stale, repeats
every failure, and tries the cells that hold again. The numbers come from [results.json](results.json).

A cell is a question and a variant. Expected is what the dossier said: notes, not kept here, that were written from the
public thread and the code upstream before anything ran. Observed is what the runs showed: ✗ falls, ✓ holds, ~ in part, –
nothing is said or asked. For a cell that falls, runs are those until it did and steps those of its shortest run; for one that holds, all runs and all
steps, with every fault that the question lists; where several questions are asked of the same happenings, a variant is
asked in each run all that it answers. Commit is the one on which the cell was last observed.

A cell that falls names the story whose choices make it fail, which may have been found for another cell, or the default
schedule: then it fails without any choice. One that names neither is searched by ` + "`make reprove`" + `.

| cell | expected (dossier) | observed | runs | steps | story | status | commit |
|---|---|---|---|---|---|---|---|
`

// render writes the page, down to its ending.
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
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %s | %s | %s |\n", c.name(), c.Expected, c.Observed, c.Runs, c.Steps, link, c.Status, c.Commit)
	}
	b.WriteString(ending)
	return b.String()
}
