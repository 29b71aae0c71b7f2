// This file exists for results.json: what the runs of each case have shown, which the next go test reads back.

package verdicts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Where things are in a scenario folder.
const (
	results   = "results.json"
	page      = "VERDICTS.md"
	catalogue = "testdata/catalogue"
)

// Result is what the runs of a case have shown of one variant.
type Result struct {
	Case     string `json:"case"`
	Variant  string `json:"variant"`
	Property string `json:"property"`
	Passed   bool   `json:"passed"`
	// Runs made: all, or those until the first failure. Steps of all runs, or of the shortest one that fails.
	Runs  int `json:"runs"`
	Steps int `json:"steps"`
	// Faults are those injected in the shortest run that fails.
	Faults int `json:"faults,omitempty"`
	// Default says that the variant fails without any choice; Story is the file whose choices make it fail. A failure
	// with neither must be searched.
	Default bool   `json:"default,omitempty"`
	Story   string `json:"story,omitempty"`
	// Commit is the one on which it was observed.
	Commit string `json:"commit"`
}

// name is how a page calls the result.
func (r Result) name() string { return r.Case + ": " + r.Variant }

// readResults reads results.json, by name. No file is an empty one.
func readResults() (map[string]Result, error) {
	data, err := os.ReadFile(results)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var all []Result
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("%s is not a list of results: %w; write it anew with make verdicts", results, err)
	}
	byName := map[string]Result{}
	for _, r := range all {
		byName[r.name()] = r
	}
	return byName, nil
}

// encode is the text of results.json: a line for each cell that was observed.
func encode(cells []cell) []byte {
	var lines [][]byte
	for _, c := range cells {
		if c.Observed == Silent || c.Runs == 0 {
			continue
		}
		line, err := json.Marshal(c.Result)
		if err != nil {
			panic(err) // it holds numbers and strings
		}
		lines = append(lines, line)
	}
	return fmt.Appendf(nil, "[\n%s\n]\n", bytes.Join(lines, []byte(",\n")))
}

// merge puts what was observed into the cells of the table that are asked.
func merge(cells []cell, seen map[string]Result) []cell {
	for i := range cells {
		c, s := &cells[i], seen[cells[i].name()]
		if c.Observed == Silent {
			continue
		}
		if s.Passed != c.Passed || s.Runs == 0 {
			c.Status = open
		}
		s.Case, s.Variant, s.Property, s.Passed = c.Case, c.Variant, c.Property, c.Passed
		c.Result = s
	}
	return cells
}
