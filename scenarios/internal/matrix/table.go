// Package matrix checks which variants of a reference scenario fail which cases.
//
// A scenario folder gives its [Table] to [Test] in a test called TestMatrix. Its cells are specs of
// a Ginkgo suite, see the package suite. An ordinary go test compares the table with results.json,
// repeats every failure on its variant and on the fixed one, and runs each passing cell a few
// times. With -matrix.write (make matrices) TestMatrix makes the runs that are missing, and writes
// the results, the page README.md and the stories under testdata/catalogue.
package matrix

import (
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
	Name     string
	Workload *Workload[V]
	// Faults may be nil. Every run needs fresh ones.
	Faults   func() []fault.Fault
	Property string
	// Fail are the variants that must break the property. The others that are run must pass.
	Fail    string
	Remarks []Remark
}

// NewCase is a row of a table. The variants that fail are given by their names, which blanks
// separate, or as "all but" these.
func NewCase[V ~string](name string, w *Workload[V], faults func() []fault.Fault, property, fail string,
	remarks ...Remark) Case[V] {
	return Case[V]{Name: name, Workload: w, Faults: faults, Property: property, Fail: fail, Remarks: remarks}
}

// Remark says more of a case, for some variants.
type Remark struct {
	variants, reason string
	omits            bool
}

// Note says why variants pass or fail, where their code does not show it.
func Note(variants, reason string) Remark { return Remark{variants: variants, reason: reason} }

// Omit says which variants are not run, and why: "" if the case makes no sense for them.
func Omit(variants, reason string) Remark { return Remark{variants, reason, true} }

// OnlyFixed is for a case under every fault, in which only the fixed variant is run.
func OnlyFixed[V ~string](fixed V) Remark {
	return Omit(allBut+string(fixed), "it fails under fewer faults, see the other cases")
}

const allBut = "all but "

// Narrow leaves variants that have one fault each out of the cases that do not name them.
func Narrow[V ~string](cases []Case[V], variants ...V) []Case[V] {
	cases = slices.Clone(cases)
	for i := range cases {
		c := &cases[i]
		for _, v := range variants {
			if strings.HasPrefix(c.Fail, allBut) {
				c.Fail += " " + string(v)
			}
			if !among(v, c.Fail) {
				c.Remarks = append([]Remark{Omit(string(v), "")}, c.Remarks...)
			}
		}
	}
	return cases
}

// among reports whether a variant is one of those that are listed.
func among[V ~string](v V, list string) bool {
	names, except := strings.CutPrefix(list, allBut)
	return slices.Contains(strings.Fields(names), string(v)) != except
}

// Workload is what happens, without the properties. Its cases have the same Faults. A variant is
// checked in one run for all properties that it must keep, so that passing cells share their runs.
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
	return c.Workload.New(v, properties, faults...)
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
	case among(v, c.Fail):
		return Fails
	case slices.ContainsFunc(c.Remarks, func(r Remark) bool { return r.omits && among(v, r.variants) }):
		return NotRun
	}
	return Passes
}

// note is why a variant is not run, or why it passes or fails.
func (c Case[V]) note(v V) string {
	omitted := c.Outcome(v) == NotRun
	for _, r := range c.Remarks {
		if r.omits == omitted && among(v, r.variants) {
			return r.reason
		}
	}
	return ""
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
		if other.Workload == c.Workload && other.Name != c.Name && other.Outcome(v) == Passes {
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
	// Note is a remark of the table's.
	Note string
	// Faulted says that the case lists faults, Now is the digest of the code that there is.
	Faulted bool
	Now     string
	// Open says that the runs did not show what the table says.
	Open bool
}

// cells returns the table as cells without results.
func (t Table[V]) cells() (cells []cell, err error) {
	names, now := map[string]bool{}, digest()
	for _, c := range t.Cases {
		if err := t.checkNames(c); err != nil {
			return nil, err
		}
		for _, v := range t.Variants {
			r := Result{Case: c.Name, Variant: string(v), Property: c.Property, Passed: c.Outcome(v) == Passes}
			name := r.name()
			if names[name] {
				return nil, fmt.Errorf("%q is there twice", name)
			}
			names[name] = true
			cells = append(cells, cell{Result: r, Outcome: c.Outcome(v), Needed: t.needed(c, v), Note: c.note(v),
				Faulted: c.Faults != nil, Now: now})
		}
	}
	return cells, nil
}

// checkNames checks that a case lists only variants of the table.
func (t Table[V]) checkNames(c Case[V]) error {
	lists := c.Fail
	for _, r := range c.Remarks {
		lists += " " + r.variants
	}
	for _, name := range strings.Fields(strings.ReplaceAll(lists, allBut, "")) {
		if !slices.Contains(t.Variants, V(name)) {
			return fmt.Errorf("%q lists %q, which is no variant", c.Name, name)
		}
	}
	return nil
}
