// This file sums a table up for the demonstration: what it shows, and one cell for each variant.

package matrix

// Summary is a table with its results, for other pages than README.md.
type Summary struct {
	Folder, Thread, Reports, Shows string
	Variants                       []string
	Rows                           []Row
}

// Row is a case with what the matrix shows of each variant.
type Row struct {
	Property, Case string
	Marks          []Mark
}

// Mark is what the matrix shows of a cell: ✗, ✓ or –, and the story's path, "" for none.
type Mark struct {
	Text, Story string
	Runs        int
}

// Summary returns the table with the results that are in the working directory.
func (t Table[V]) Summary(folder string) (*Summary, error) {
	cells, err := t.results()
	if err != nil {
		return nil, err
	}
	says, err := read()
	if err != nil {
		return nil, err
	}
	s := &Summary{Folder: folder, Thread: says.thread, Reports: says.reports, Shows: says.shows}
	for _, v := range t.Variants {
		s.Variants = append(s.Variants, string(v))
	}
	for i, c := range t.Cases {
		row := Row{Property: c.Property, Case: c.Name}
		for _, k := range t.row(cells, i) {
			m := Mark{Text: k.Outcome, Runs: k.Runs}
			if k.Story != "" {
				m.Story = catalogue + "/" + k.Story
			}
			row.Marks = append(row.Marks, m)
		}
		s.Rows = append(s.Rows, row)
	}
	return s, nil
}

// Typical returns one case for each variant: of those that it fails, preferably not on the default
// schedule, the one whose failure was found in the fewest runs; if it fails none, the one that
// needs the most runs.
func (t Table[V]) Typical() ([]Case[V], error) {
	cells, err := t.results()
	if err != nil {
		return nil, err
	}
	out := make([]Case[V], len(t.Variants))
	for j := range t.Variants {
		var best cell
		for i, c := range t.Cases {
			k := t.row(cells, i)[j]
			better := best.Outcome == "" || k.Outcome == Fails && best.Outcome == Passes
			switch {
			case k.Outcome == NotRun, k.Open:
				continue
			case k.Outcome == best.Outcome && k.Outcome == Fails && k.Default == best.Default:
				better = k.Runs < best.Runs
			case k.Outcome == best.Outcome && k.Outcome == Fails:
				better = best.Default
			case k.Outcome == best.Outcome:
				better = k.Needed > best.Needed
			}
			if better {
				best, out[j] = k, c
			}
		}
	}
	return out, nil
}

// results returns the cells with the results that are in the working directory.
func (t Table[V]) results() ([]cell, error) {
	cells, err := t.cells()
	if err != nil {
		return nil, err
	}
	seen, err := readResults()
	return merge(cells, seen), err
}
