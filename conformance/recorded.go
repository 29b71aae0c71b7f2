package conformance

// The recorded replies of the real server. With them a machine without a control plane can compare
// the model, and a review shows what a new row really does.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Recordings are the normalised observations of rows, by area and by name.
type Recordings map[string]map[string][]Observed

func recordingFile(dir, area string) string {
	return filepath.Join(dir, strings.ReplaceAll(area, " ", "-")+".jsonl")
}

// recorded is one line of a file.
type recorded struct {
	Row  string   `json:"row,omitempty"`
	Step Observed `json:"step"`
}

// ReadRecordings reads the files of all areas; an area without a file has no recordings.
func ReadRecordings(dir string, areas []string) (Recordings, error) {
	all := Recordings{}
	for _, area := range areas {
		all[area] = map[string][]Observed{}
		data, err := os.ReadFile(recordingFile(dir, area))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		in := bufio.NewReader(bytes.NewReader(data))
		row := ""
		for {
			line, err := in.ReadBytes('\n')
			if len(line) > 1 {
				var r recorded
				d := json.NewDecoder(bytes.NewReader(line))
				d.UseNumber()
				if err := d.Decode(&r); err != nil {
					return nil, fmt.Errorf("%s: %w", recordingFile(dir, area), err)
				}
				if r.Row != "" {
					row = r.Row
				}
				all[area][row] = append(all[area][row], r.Step)
			}
			if err != nil {
				break
			}
		}
	}
	return all, nil
}

// Write stores the recordings of the given rows in the order of the table, and drops those of
// removed rows.
func (r Recordings) Write(dir string, rows []Row) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files := map[string]*bytes.Buffer{}
	for _, row := range rows {
		out := files[row.Area]
		if out == nil {
			out = &bytes.Buffer{}
			files[row.Area] = out
		}
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		for i, o := range r[row.Area][row.Name] {
			line := recorded{Step: o}
			if i == 0 {
				line.Row = row.Name
			}
			if err := enc.Encode(line); err != nil {
				return err
			}
		}
	}
	for area, out := range files {
		if err := os.WriteFile(recordingFile(dir, area), out.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Areas lists the areas of rows, in the order of the table.
func Areas(rows []Row) []string {
	var areas []string
	for _, r := range rows {
		if !slices.Contains(areas, r.Area) {
			areas = append(areas, r.Area)
		}
	}
	return areas
}

// plain passes observations through JSON, so that fresh and recorded ones have the same Go types.
func plain(observed []Observed) []Observed {
	data, err := json.Marshal(observed)
	if err != nil {
		panic("conformance: an observation is not JSON: " + err.Error())
	}
	var out []Observed
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		panic("conformance: " + err.Error())
	}
	return out
}
