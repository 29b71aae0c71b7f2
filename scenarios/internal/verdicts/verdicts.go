// Package verdicts checks the table of a reference scenario: which variant must fail which case.
// Its results say what the runs showed, and stories show how the failing variants fail.
//
// A scenario folder gives its [Table] to [Test] in a test called TestVerdicts. An ordinary go test
// compares the table with results.json, repeats every failure on its variant and on the fixed one,
// and runs each passing cell a few times. With -verdicts.write (make verdicts) every cell is
// searched at length. Then the results, the page VERDICTS.md and the stories under
// testdata/catalogue are written.
package verdicts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// Column is one case for all variants: what happens, under which faults, and which property must
// hold. V names the variants.
type Column[V ~string] struct {
	// Name is unique in its table. It is part of the names of tests.
	Name string
	// Tell returns the scenario under Faults, which may be nil. Every run needs fresh faults.
	Tell   func(v V, faults ...fault.Fault) func(*sim.World)
	Faults func() []fault.Fault
	// Scene takes the place of Tell in columns that differ only in their property. A variant is
	// then checked in one run for all properties that it must keep, so that the passing cells share
	// their runs.
	Scene *Scene[V]
	// Caught are the variants that must break the property Broken. The others must pass.
	Caught []V
	Broken string
	// Skipped are the variants for which the case makes no sense. Unasked are more of these, with a
	// reason for the page.
	Skipped []V
	Unasked map[V]string

	// Dossier is what was expected of each variant before anything ran, in the table's order, with
	// blanks between: ✗ (fails), ✓ (passes), ~ (in part) or – (no word of it). Because says, by
	// variant, why the runs showed something else or why the cell is run all the same. "" stands
	// for all variants that are not named.
	Dossier string
	Because map[V]string
}

// OnlyCure is Unasked for a column under every fault: only the fixed variant is run, as the others
// fail under fewer faults.
func OnlyCure[V ~string](all []V, cure V) map[V]string {
	out := map[V]string{}
	for _, v := range all {
		if v != cure {
			out[v] = "it falls under fewer faults, see the columns before"
		}
	}
	return out
}

// Scene is what happens, without the properties. Its columns have the same Faults.
type Scene[V ~string] struct {
	Tell func(v V, sentences []string, faults ...fault.Fault) func(*sim.World)
}

// Scenario is the scenario of the column for one variant.
func (c Column[V]) Scenario(v V) func(*sim.World) { return c.scenario(v, c.Broken) }

func (c Column[V]) scenario(v V, properties ...string) func(*sim.World) {
	var faults []fault.Fault
	if c.Faults != nil {
		faults = c.Faults()
	}
	if c.Scene != nil {
		return c.Scene.Tell(v, properties, faults...)
	}
	return c.Tell(v, faults...)
}

// Marks for what was expected of a cell, and for what was observed.
const (
	Falls  = "✗"
	Holds  = "✓"
	Partly = "~" // never observed, so a reason must say which part
	Silent = "–" // nothing was expected, or the cell is not run
)

// Answer is what the table says of a variant, which the tests check.
func (c Column[V]) Answer(v V) string {
	switch {
	case slices.Contains(c.Caught, v):
		return Falls
	case slices.Contains(c.Skipped, v), c.Unasked[v] != "":
		return Silent
	}
	return Holds
}

// Table is all cases of a scenario.
type Table[V ~string] struct {
	Variants []V
	// Cure is the fixed variant, which must pass with the choices of every failure.
	Cure    V
	Columns []Column[V]
	// Upstream is the variant that upstream chose in the end, and Settled says how. The page then
	// says which cases it passes and fails. An empty Settled leaves that out.
	Upstream V
	Settled  string
	// Foretold are predictions, which the page compares with the cells.
	Foretold []Prediction[V]
	// Wanted are situations that were to be covered beside the variants.
	Wanted []Wanted
	// AtLeast is the number of runs that every passing cell needs in the results; 50 if zero, so
	// that a new scenario is checked in minutes. A finished one has Enough.
	AtLeast int
}

// Column finds a column by name. It panics if there is none.
func (t Table[V]) Column(name string) Column[V] {
	i := slices.IndexFunc(t.Columns, func(c Column[V]) bool { return c.Name == name })
	if i < 0 {
		panic(fmt.Sprintf("verdicts: there is no column %q", name))
	}
	return t.Columns[i]
}

// campaign is the scenario of a passing cell, with all properties of its scene that the variant
// must keep.
func (t Table[V]) campaign(c Column[V], v V) func(*sim.World) {
	properties := []string{c.Broken}
	for _, other := range t.Columns {
		if c.Scene != nil && other.Scene == c.Scene && other.Name != c.Name && other.Answer(v) == Holds {
			properties = append(properties, other.Broken)
		}
	}
	slices.Sort(properties)
	return c.scenario(v, properties...)
}

// cell is one line of the page.
type cell struct {
	Result
	// Expected and Observed are marks.
	Expected, Observed string
	// Status is what the page says. claim is what it says if the runs show what the table says.
	Status, claim string
}

// How a status begins.
const (
	agrees    = "agrees"
	corrected = "dossier corrected: "
	unasked   = "not asked: "
	open      = "open"
)

// cells returns the table as cells without results.
func (t Table[V]) cells() (cells []cell, err error) {
	names := map[string]bool{}
	for _, c := range t.Columns {
		marks := strings.Fields(c.Dossier)
		if len(marks) != len(t.Variants) {
			return nil, fmt.Errorf("%q has %d marks in Dossier for %d variants", c.Name, len(marks), len(t.Variants))
		}
		for i, v := range t.Variants {
			if !slices.Contains([]string{Falls, Holds, Partly, Silent}, marks[i]) {
				return nil, fmt.Errorf("%q has the mark %q in Dossier for %s", c.Name, marks[i], v)
			}
			r := Result{Case: c.Name, Variant: string(v), Property: c.Broken, Passed: c.Answer(v) == Holds}
			name := r.name()
			if names[name] {
				return nil, fmt.Errorf("%q is there twice", name)
			}
			names[name] = true
			status := c.status(v, marks[i])
			made := cell{Result: r, Expected: marks[i], Observed: c.Answer(v), Status: status, claim: status}
			cells = append(cells, made)
		}
	}
	return cells, nil
}

// status compares what was expected with the table. A difference without a reason is open.
func (c Column[V]) status(v V, expected string) string {
	if why := c.Unasked[v]; why != "" {
		return unasked + why
	}
	if expected == c.Answer(v) {
		return agrees
	}
	because, named := c.Because[v]
	if !named {
		because = c.Because[""]
	}
	if because == "" {
		return open
	}
	return corrected + because
}
