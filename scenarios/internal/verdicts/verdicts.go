// Package verdicts holds the word that a story gives: a table of variants against questions, what was expected of every
// cell before anything ran, what the runs showed, and the story that is kept of each fall.
//
// A scenario folder states its [Table] and hands it to [Test] in a test called TestVerdicts. An ordinary go test holds the
// page VERDICTS.md against the table, replays every kept story on the variant that it breaks and on the full cure, and
// tries each held cell a few times. With -verdicts.write (make verdicts) every cell is searched at length, the stories
// of those that fall are kept under testdata/catalogue, and the page is written.
package verdicts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/sim"
)

// Column is one question asked of all variants of a story. V names the variants.
type Column[V ~string] struct {
	// Name of the column, unique in its table. It is part of the names of tests.
	Name string
	// Tell is the scenario, under Faults (nil for none). Every run asks for fresh faults.
	Tell   func(v V, faults ...sim.Fault) func(*sim.World)
	Faults func() []sim.Fault
	// Scene takes the place of Tell in columns that differ in nothing but what they ask: a variant is then asked in one
	// run all that it answers, and the cells that hold share their runs.
	Scene *Scene[V]
	// Caught are the variants that must fail; Broken is the sentence under which they do. The others must hold.
	Caught []V
	Broken string
	// Skipped are the variants of which the question makes no sense; Unasked are others of these, with what the page is to
	// say of them.
	Skipped []V
	Unasked map[V]string

	// Dossier is what was expected of each variant, in the table's order, before anything ran: ✗ (falls), ✓ (holds), ~
	// (in part) or – (the dossier says nothing of it), with blanks between. Because says, by variant, why the dossier was wrong or why
	// the cell is asked all the same; "" stands for all variants that are not named.
	Dossier string
	Because map[V]string
}

// OnlyCure is Unasked for a column under every fault: of all variants only the cure is asked, for the others fall under fewer.
func OnlyCure[V ~string](all []V, cure V) map[V]string {
	out := map[V]string{}
	for _, v := range all {
		if v != cure {
			out[v] = "it falls under fewer faults, see the columns before"
		}
	}
	return out
}

// Scene is what happens, waiting for the sentences that are asked of it. Its columns have the same Faults.
type Scene[V ~string] struct {
	Tell func(v V, sentences []string, faults ...sim.Fault) func(*sim.World)
}

// Scenario is the column's question to one variant.
func (c Column[V]) Scenario(v V) func(*sim.World) { return c.scenario(v, c.Broken) }

func (c Column[V]) scenario(v V, sentences ...string) func(*sim.World) {
	var faults []sim.Fault
	if c.Faults != nil {
		faults = c.Faults()
	}
	if c.Scene != nil {
		return c.Scene.Tell(v, sentences, faults...)
	}
	return c.Tell(v, faults...)
}

// Marks are what the dossier and the page say of a cell.
const (
	Falls  = "✗"
	Holds  = "✓"
	Partly = "~" // never what is observed, so a reason must say what part
	Silent = "–" // the dossier says nothing, or the cell is not asked
)

// Answer is what the table says of a variant: the truth as the tests hold it.
func (c Column[V]) Answer(v V) string {
	switch {
	case slices.Contains(c.Caught, v):
		return Falls
	case slices.Contains(c.Skipped, v), c.Unasked[v] != "":
		return Silent
	}
	return Holds
}

// Table is a story's word.
type Table[V ~string] struct {
	Variants []V
	// Cure is the variant that every kept story must leave alone.
	Cure    V
	Columns []Column[V]
	// Upstream is the variant that upstream settled for in the end, and Settled says how. The page ends with what it keeps and what it
	// gives up; there is no such end if Settled is empty.
	Upstream V
	Settled  string
	// Foretold are the dossier's predictions, which the page holds against the cells.
	Foretold []Prediction[V]
	// Wanted are the scenarios that the dossier lists beyond its variants.
	Wanted []Wanted
	// AtLeast is in how many runs every cell that holds must have held for the page to stand; 50 if zero, so that a story
	// that is being written can be looked at in minutes. A finished one has Enough.
	AtLeast int
}

// Column finds a column by name; a name that is not there is a mistake of the caller's.
func (t Table[V]) Column(name string) Column[V] {
	i := slices.IndexFunc(t.Columns, func(c Column[V]) bool { return c.Name == name })
	if i < 0 {
		panic(fmt.Sprintf("verdicts: there is no column %q", name))
	}
	return t.Columns[i]
}

// campaign is what a cell that holds is tried with: every question of its scene that the variant answers.
func (t Table[V]) campaign(c Column[V], v V) func(*sim.World) {
	sentences := []string{c.Broken}
	for _, other := range t.Columns {
		if c.Scene != nil && other.Scene == c.Scene && other.Name != c.Name && other.Answer(v) == Holds {
			sentences = append(sentences, other.Broken)
		}
	}
	slices.Sort(sentences)
	return c.scenario(v, sentences...)
}

// cell is one line of the page.
type cell struct {
	Result
	// Expected and Observed are marks.
	Expected, Observed string
	// Status is what the page says; claim is what it says if the runs show what the table says.
	Status, claim string
}

// The words that begin a status.
const (
	agrees    = "agrees"
	corrected = "dossier corrected: "
	unasked   = "not asked: "
	open      = "open"
)

// cells are the table as lines of a page on which nothing has been observed yet.
func (t Table[V]) cells() (cells []cell, err error) {
	names := map[string]bool{}
	for _, c := range t.Columns {
		marks := strings.Fields(c.Dossier)
		if len(marks) != len(t.Variants) {
			return nil, fmt.Errorf("the dossier of %q has %d marks for %d variants", c.Name, len(marks), len(t.Variants))
		}
		for i, v := range t.Variants {
			if !slices.Contains([]string{Falls, Holds, Partly, Silent}, marks[i]) {
				return nil, fmt.Errorf("the dossier of %q says %q of %s", c.Name, marks[i], v)
			}
			r := Result{Case: c.Name, Variant: string(v), Property: c.Broken, Passed: c.Answer(v) == Holds}
			name := r.name()
			if names[name] {
				return nil, fmt.Errorf("%q is there twice", name)
			}
			names[name] = true
			status := c.status(v, marks[i])
			cells = append(cells, cell{Result: r, Expected: marks[i], Observed: c.Answer(v), Status: status, claim: status})
		}
	}
	return cells, nil
}

// status compares the dossier with the table. A difference without a reason is open.
func (c Column[V]) status(v V, expected string) string {
	if why := c.Unasked[v]; why != "" {
		return unasked + why
	}
	if expected == c.Answer(v) {
		return agrees
	}
	because, said := c.Because[v]
	if !said {
		because = c.Because[""]
	}
	if because == "" {
		return open
	}
	return corrected + because
}
