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
	Runs     int    `json:"runs"`  // all, or those until the first failure
	Steps    int    `json:"steps"` // of all runs, or of the failing run that is repeated
	// Faults counts the injections in the failing run that is repeated.
	Faults int `json:"faults,omitempty"`
	// Injected counts the injections in all runs of a passing cell, by fault, or by class if the
	// runs are old.
	Injected map[string]int `json:"injected,omitempty"`
	// Never are the faults of the case that were never injected in the runs of a passing cell.
	Never []string `json:"never,omitempty"`
	// Campaigns counts those that the runs of a passing cell were made in.
	Campaigns int `json:"campaigns,omitempty"`
	// Default is set if the variant fails on the default schedule. Story is the file whose choices
	// make it fail. A failure has one of them, or both.
	Default bool   `json:"default,omitempty"`
	Story   string `json:"story,omitempty"`
	Digest  string `json:"digest,omitempty"` // of the code with which a passing cell was run
	Commit  string `json:"commit"`           // on which the runs were made
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
	Format  int
	Results []Result
}

// readResults reads results.json, by name. A missing file counts as empty.
func readResults() (map[string]Result, error) {
	data, err := os.ReadFile(results)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all file
	if err = errors.Join(err, json.Unmarshal(data, &all)); err == nil && all.Format != format {
		err = fmt.Errorf("it has format %d, not %d", all.Format, format)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w; remove it and run make matrices STORY=…", results, err)
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
