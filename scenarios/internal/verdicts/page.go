// This file exists for VERDICTS.md, which people read and which the next go test reads back.

package verdicts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// Where things are in a scenario folder.
const (
	page      = "VERDICTS.md"
	catalogue = "testdata/catalogue"
)

// header explains the page. %s is the scenario folder.
const header = `# Verdicts of %[1]s

This page is written by ` + "`make verdicts STORY=%[1]s`" + `; do not edit it. ` + "`go test ./scenarios/%[1]s`" + ` fails when it is stale, replays
every story, and tries the cells that hold again.

A cell is a question and a variant. Expected is what the dossier said: notes, not kept here, that were written from the
public thread and the code upstream before anything ran. Observed is what the runs showed: ✗ falls, ✓ holds, ~ in part, –
nothing is said or asked. For a cell that falls, runs are those until it did and steps those of its shortest story; for one that holds, all runs and all
steps, with every fault that the question lists; where several questions are asked of the same happenings, a variant is
asked in each run all that it answers. Commit is the one on which the cell was last observed.

| cell | expected (dossier) | observed | runs | steps | story | status | commit |
|---|---|---|---|---|---|---|---|
`

// render writes the page, down to its ending.
func render(story string, cells []cell, ending string) string {
	var b strings.Builder
	fmt.Fprintf(&b, header, story)
	for _, c := range cells {
		link := ""
		if c.Story != "" {
			link = fmt.Sprintf("[%s](%s/%s)", strings.TrimSuffix(c.Story, ".txtar"), catalogue, c.Story)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %s | %s | %s |\n", c.Name, c.Expected, c.Observed, c.Runs, c.Steps, link, c.Status, c.Commit)
	}
	b.WriteString(ending)
	return b.String()
}

var linked = regexp.MustCompile(`^\[.*\]\(.*/(.*)\)$`)

// observations are what the page says was observed, by the name of the cell. No page is an empty one.
func observations() (map[string]cell, error) {
	data, err := os.ReadFile(page)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	found := map[string]cell{}
	for _, line := range strings.Split(string(data), "\n") {
		f := strings.Split(strings.Trim(line, "|"), " | ")
		if len(f) != 8 || !strings.HasPrefix(line, "| ") || strings.Contains(line, "expected (dossier)") {
			continue
		}
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		runs, bad := strconv.Atoi(f[3])
		steps, worse := strconv.Atoi(f[4])
		if err := errors.Join(bad, worse); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", page, f[0], err)
		}
		c := cell{Name: f[0], Expected: f[1], Observed: f[2], Runs: runs, Steps: steps, Status: f[6], Commit: f[7]}
		if m := linked.FindStringSubmatch(f[5]); m != nil {
			c.Story = m[1]
		}
		found[c.Name] = c
	}
	return found, nil
}

// merge puts what the page says was observed into the cells of the table that are asked.
func merge(cells []cell, seen map[string]cell) []cell {
	for i := range cells {
		c, s := &cells[i], seen[cells[i].Name]
		if c.Observed == Silent {
			continue
		}
		c.Runs, c.Steps, c.Story, c.Commit = s.Runs, s.Steps, s.Story, s.Commit
		if s.Observed != c.Observed || s.Runs == 0 {
			c.Status = open
		}
	}
	return cells
}
