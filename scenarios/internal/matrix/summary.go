// This file sums a table up for the demonstration: what it shows, and one case for each variant.

package matrix

import (
	"cmp"
	"slices"
	"strings"
)

// Summary is a table with its results, for other pages than README.md.
type Summary struct {
	Folder, Thread, Reports, Shows string
	Variants                       []string
	Is                             map[string]string    // what each variant is
	Passing                        map[string]PassingOf // by variant
	Rows                           []Row
}

// PassingOf counts the cells that a variant passes, and the runs of one, at least and at most.
type PassingOf struct{ Cells, Least, Most int }

func (p PassingOf) and(runs int) PassingOf {
	if p.Cells == 0 {
		p.Least = runs
	}
	return PassingOf{p.Cells + 1, min(p.Least, runs), max(p.Most, runs)}
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
	p, err := newProver(t, nil)
	if err != nil {
		return nil, err
	}
	text, err := read()
	if err != nil {
		return nil, err
	}
	docs, err := constants("../../controllers/" + folder)
	s := &Summary{Folder: folder, Thread: text.thread, Reports: text.reports, Shows: text.shows,
		Is: map[string]string{}, Passing: map[string]PassingOf{}}
	for _, v := range t.Variants {
		s.Variants = append(s.Variants, string(v))
		_, is, _ := strings.Cut(docs[string(v)], " | ")
		s.Is[string(v)] = "it " + cmp.Or(is, t.About[v])
	}
	for cells := range slices.Chunk(p.cells, len(t.Variants)) {
		row := Row{Property: cells[0].Property, Case: cells[0].Case}
		for _, k := range cells {
			m := Mark{Text: k.Outcome, Runs: k.Runs}
			if k.Story != "" {
				m.Story = catalogue + "/" + k.Story
			}
			row.Marks = append(row.Marks, m)
			if k.Outcome == Passes {
				s.Passing[k.Variant] = s.Passing[k.Variant].and(k.Runs)
			}
		}
		s.Rows = append(s.Rows, row)
	}
	return s, err
}

// Typical returns one case for each variant: of those that it fails, preferably not on the default
// schedule, the one whose failure was found in the fewest runs; if it fails none, the one that
// needs the most runs.
func (t Table[V]) Typical() ([]Case[V], error) {
	p, err := newProver(t, nil)
	if err != nil {
		return nil, err
	}
	out := make([]Case[V], len(t.Variants))
	for j := range t.Variants {
		var best []int
		for i, c := range t.Cases {
			k := t.row(p.cells, i)[j]
			if k.Outcome == NotRun || k.Open {
				continue
			}
			rank := []int{count(k.Outcome != Fails), count(k.Default), k.Runs}
			if k.Outcome == Passes {
				rank[2] = -k.Needed
			}
			if best == nil || slices.Compare(rank, best) < 0 {
				best, out[j] = rank, c
			}
		}
	}
	return out, nil
}
