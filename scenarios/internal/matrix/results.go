// This file holds results.json: what the runs of each cell showed. The next go test reads it.

package matrix

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Files and folders of a scenario.
const (
	results   = "results.json"
	page      = "README.md"
	catalogue = "testdata/catalogue"
)

// format is the version of results.json.
const format = 2

// Result is what the runs of one case showed of one variant.
type Result struct {
	Case     string `json:"case"`
	Variant  string `json:"variant"`
	Property string `json:"property"`
	Passed   bool   `json:"passed"`
	// Runs counts all runs, or those until the first failure.
	Runs int `json:"runs"`
	// Steps counts the steps of all runs, or those of the failing run that is repeated.
	Steps int `json:"steps"`
	// Faults counts the injections in the failing run that is repeated.
	Faults int `json:"faults,omitempty"`
	// Unreached are the classes of faults that were injected in the failing run, and not in that of
	// the fixed variant with the same choices.
	Unreached []string `json:"unreached,omitempty"`
	// Injected counts the injections in all runs of a passing cell, by class.
	Injected map[string]int `json:"injected,omitempty"`
	// Never are the faults of the case that were never injected in the runs of a passing cell.
	Never []string `json:"never,omitempty"`
	// Default says that the variant fails on the default schedule. Story is the file whose choices
	// make it fail. A failure has one of them.
	Default bool   `json:"default,omitempty"`
	Story   string `json:"story,omitempty"`
	// Digest is that of the code with which the runs of a passing cell were made.
	Digest string `json:"digest,omitempty"`
	// Commit is the commit on which the runs were made.
	Commit string `json:"commit"`
}

// name is the name of the result's cell.
func (r Result) name() string { return r.Case + ": " + r.Variant }

// unexplained is the error of a failure that names no choices, so that it cannot be repeated.
func (r Result) unexplained() error {
	if r.Passed || r.Default || r.Story != "" {
		return nil
	}
	return fmt.Errorf("%s has no story of %q and does not say that it fails on the default schedule", results, r.name())
}

// file is results.json.
type file struct {
	Format  int      `json:"format"`
	Results []Result `json:"results"`
}

// readResults reads results.json, by name. A missing file counts as empty.
func readResults() (map[string]Result, error) {
	data, err := os.ReadFile(results)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	const anew = "remove it and run make matrices STORY=…, which writes it anew"
	var version struct{ Format int }
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, fmt.Errorf("%s has no results: %w; %s", results, err, anew)
	}
	if version.Format != format {
		return nil, fmt.Errorf("%s has format %d, not %d; %s", results, version.Format, format, anew)
	}
	var all file
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("%s has no results: %w; %s", results, err, anew)
	}
	byName := map[string]Result{}
	for _, r := range all.Results {
		byName[r.name()] = r
	}
	return byName, nil
}

// encode returns the text of results.json: a line for each cell with runs.
func encode(cells []cell) []byte {
	var lines [][]byte
	for _, c := range cells {
		if c.Outcome == NotRun || c.Runs == 0 {
			continue
		}
		line, err := json.Marshal(c.Result)
		if err != nil {
			panic(err) // it holds numbers and strings
		}
		lines = append(lines, line)
	}
	return fmt.Appendf(nil, "{\"format\": %d, \"results\": [\n%s\n]}\n", format, bytes.Join(lines, []byte(",\n")))
}

// merge puts results into their cells. A cell without a result, or with another one than the table
// says, is open.
func merge(cells []cell, seen map[string]Result) []cell {
	for i := range cells {
		c, s := &cells[i], seen[cells[i].name()]
		if c.Outcome == NotRun {
			continue
		}
		c.Open = s.Passed != c.Passed || s.Property != c.Property || s.Runs == 0
		s.Case, s.Variant, s.Property, s.Passed = c.Case, c.Variant, c.Property, c.Passed
		c.Result = s
	}
	return cells
}
