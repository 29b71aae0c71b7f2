// Package matrix checks which variants of a reference scenario fail which cases.
//
// A scenario folder gives its [Table] to [Test] in a test called TestMatrix. Its cells are specs of
// a Ginkgo suite, see the package suite. An ordinary go test compares the table with results.json,
// repeats every failure on its variant and on the fixed one, and runs each passing cell a few
// times. With -matrix.write (make matrices) TestMatrix makes the runs that are missing, and writes
// the results, the page README.md and the stories under testdata/catalogue.
package matrix

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// Case is one case for all variants: what happens, under which faults, and which property must
// hold. V names the variants.
type Case[V ~string] struct {
	// Name is unique in its table. It is part of the names of tests.
	Name string
	// New returns the scenario under Faults, which may be nil. Every run needs fresh faults.
	New    func(v V, faults ...fault.Fault) func(*sim.World)
	Faults func() []fault.Fault
	// Workload takes the place of New in cases that differ only in their property. A variant is
	// then checked in one run for all properties that it must keep, so that the passing cells share
	// their runs.
	Workload *Workload[V]
	// Fail are the variants that must break the property. The others must pass.
	Fail     []V
	Property string
	// Skip are the variants for which the case makes no sense. NotRun are more of these, with a
	// reason for the page.
	Skip   []V
	NotRun map[V]string
	// Notes say why a variant passes or fails, where the code of the variant does not show it.
	Notes map[V]string
}

// Names are the variants of these names, which blanks separate.
func Names[V ~string](names string) (out []V) {
	for _, name := range strings.Fields(names) {
		out = append(out, V(name))
	}
	return out
}

// Except are all variants but those of these names.
func Except[V ~string](all []V, names string) []V {
	some := Names[V](names)
	return slices.DeleteFunc(slices.Clone(all), func(v V) bool { return slices.Contains(some, v) })
}

// Because is NotRun or Notes with one reason for some variants.
func Because[V ~string](reason string, variants ...V) map[V]string {
	out := map[V]string{}
	for _, v := range variants {
		out[v] = reason
	}
	return out
}

// OnlyFixed is NotRun for a case under every fault, as the other variants fail under fewer faults.
func OnlyFixed[V ~string](all []V, fixed V) map[V]string {
	out := Because("it fails under fewer faults, see the other cases", all...)
	delete(out, fixed)
	return out
}

// Workload is what happens, without the properties. Its cases have the same Faults.
type Workload[V ~string] struct {
	New func(v V, properties []string, faults ...fault.Fault) func(*sim.World)
}

// Scenario is the scenario of the case for one variant.
func (c Case[V]) Scenario(v V) func(*sim.World) { return c.with(v, c.Property) }

func (c Case[V]) with(v V, properties ...string) func(*sim.World) {
	var faults []fault.Fault
	if c.Faults != nil {
		faults = c.Faults()
	}
	if c.Workload != nil {
		return c.Workload.New(v, properties, faults...)
	}
	return c.New(v, faults...)
}

// Marks for the outcome of a cell.
const (
	Fails  = "✗"
	Passes = "✓"
	NotRun = "–"
)

// Outcome is what the table says of a variant, which the tests check.
func (c Case[V]) Outcome(v V) string {
	switch {
	case slices.Contains(c.Fail, v):
		return Fails
	case slices.Contains(c.Skip, v), c.NotRun[v] != "":
		return NotRun
	}
	return Passes
}

// Table is all cases of a scenario.
type Table[V ~string] struct {
	Variants []V
	// About says what a variant is that is no constant of the controller's package. Of the others
	// the page shows the documentation.
	About map[V]string
	// Fixed is the fixed variant, which must pass with the choices of every failure.
	Fixed V
	Cases []Case[V]
	// Predictions were made before anything ran. The page compares them with the cells.
	Predictions []Prediction[V]
	// Situations were to be covered beside the variants.
	Situations []Situation
}

// Case finds a case by name. It panics if there is none.
func (t Table[V]) Case(name string) Case[V] {
	i := slices.IndexFunc(t.Cases, func(c Case[V]) bool { return c.Name == name })
	if i < 0 {
		panic(fmt.Sprintf("matrix: there is no case %q", name))
	}
	return t.Cases[i]
}

// scenario is the scenario of a passing cell, with all properties of its workload that the variant
// must keep.
func (t Table[V]) scenario(c Case[V], v V) func(*sim.World) {
	properties := []string{c.Property}
	for _, other := range t.Cases {
		if c.Workload != nil && other.Workload == c.Workload && other.Name != c.Name && other.Outcome(v) == Passes {
			properties = append(properties, other.Property)
		}
	}
	slices.Sort(properties)
	return c.with(v, properties...)
}

// Runs of a passing cell that its result needs.
const (
	ofEveryFault = 2000 // of a case that only the fixed variant is run in
	ofFixed      = 300
	ofOthers     = 100
)

// needed is the number of runs that the result of a passing cell needs.
func (t Table[V]) needed(c Case[V], v V) int {
	alone := true
	for _, other := range t.Variants {
		alone = alone && (other == t.Fixed || c.Outcome(other) == NotRun)
	}
	switch {
	case v != t.Fixed:
		return ofOthers
	case alone:
		return ofEveryFault
	}
	return ofFixed
}

// cell is a case and a variant.
type cell struct {
	Result
	Outcome string
	// Needed is the number of runs that the result needs, if the cell passes.
	Needed int
	// Note is the table's note, or the reason why the cell is not run.
	Note string
	// Open says that the runs did not show what the table says.
	Open bool
}

// cells returns the table as cells without results.
func (t Table[V]) cells() (cells []cell, err error) {
	names := map[string]bool{}
	for _, c := range t.Cases {
		for _, v := range t.Variants {
			r := Result{Case: c.Name, Variant: string(v), Property: c.Property, Passed: c.Outcome(v) == Passes}
			name := r.name()
			if names[name] {
				return nil, fmt.Errorf("%q is there twice", name)
			}
			names[name] = true
			note := cmp.Or(c.NotRun[v], c.Notes[v])
			cells = append(cells, cell{Result: r, Outcome: c.Outcome(v), Needed: t.needed(c, v), Note: note})
		}
	}
	return cells, nil
}
