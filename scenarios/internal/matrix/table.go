// Package matrix checks which variants of a reference scenario fail which cases.
//
// A scenario gives its [Table] to [Test] in a test called TestMatrix. Its cells are specs of a
// Ginkgo suite, see the package suite. An ordinary go test compares the table with results.json,
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

// Case is one case for all variants, which V names. Lists of variants are names with blanks between
// them, or "all but" these.
type Case[V ~string] struct {
	Name     string // unique in its table; part of the names of tests
	Workload *Workload[V]
	Faults   func() []fault.Fault // fresh ones for each run; nil for none
	Property string
	Fail     string // variants that must violate the property; the others that are run must pass
	Remarks  []Remark
}

// Workload is what happens, without the properties. Its cases have the same Faults. A variant is
// checked in one run for all properties that it must keep, so that passing cells share their runs.
type Workload[V ~string] struct {
	New func(v V, properties []string, faults ...fault.Fault) func(*sim.World)
}

// Remark is a note on some variants.
type Remark struct {
	variants, reason string
	omits            bool
}

// Note gives the reason why variants pass or fail, if their code does not show it.
func Note(variants, reason string) Remark { return Remark{variants: variants, reason: reason} }

// Omit names variants that are not run, with the reason: "" if the case makes no sense for them.
func Omit(variants, reason string) Remark { return Remark{variants, reason, true} }

// OnlyFixed is for a case under every fault, in which only the fixed variant is run.
func OnlyFixed[V ~string](fixed V) Remark {
	return Omit(allBut+string(fixed), "it fails under fewer faults, see the other cases")
}

const allBut = "all but "

// Narrow leaves variants that have one bug each out of the cases that do not name them.
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

// among reports whether a list has a variant.
func among[V ~string](v V, list string) bool {
	names, except := strings.CutPrefix(list, allBut)
	return slices.Contains(strings.Fields(names), string(v)) != except
}

// Marks for the outcome of a cell.
const (
	Fails  = "✗"
	Passes = "✓"
	NotRun = "–"
)

// Outcome is the mark that a variant must get.
func (c Case[V]) Outcome(v V) string {
	switch {
	case among(v, c.Fail):
		return Fails
	case slices.ContainsFunc(c.Remarks, func(r Remark) bool { return r.omits && among(v, r.variants) }):
		return NotRun
	}
	return Passes
}

// Scenario is the scenario of the case for one variant.
func (c Case[V]) Scenario(v V) func(*sim.World) { return c.with(v, c.Property) }

func (c Case[V]) with(v V, properties ...string) func(*sim.World) {
	if c.Faults == nil {
		return c.Workload.New(v, properties)
	}
	return c.Workload.New(v, properties, c.Faults()...)
}

// Table is all cases of a scenario.
type Table[V ~string] struct {
	Variants []V
	// About describes the variants that are no constants of the controller's package. For the
	// others the page shows the documentation of the constant.
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

// cell is a case and a variant.
type cell struct {
	Result
	Outcome string
	Needed  int    // runs at least, if it passes
	Each    int    // injections of each class of faults, if it passes
	Note    string // of the table
	Faulted bool   // the case lists faults
	Now     string // the digest of the code as it is
	Open    bool   // the runs have not shown the outcome
}

// cells returns the table as cells with the results of earlier runs.
func (t Table[V]) cells(seen map[string]Result) (cells []cell, err error) {
	names, now := map[string]bool{}, digest()
	for _, c := range t.Cases {
		if names[c.Name] {
			return nil, fmt.Errorf("%q is there twice", c.Name)
		}
		names[c.Name] = true
		lists := c.Fail
		for _, r := range c.Remarks {
			lists += " " + r.variants
		}
		for _, name := range strings.Fields(strings.ReplaceAll(lists, allBut, "")) {
			if !slices.Contains(t.Variants, V(name)) {
				return nil, fmt.Errorf("%q lists %q, which is no variant", c.Name, name)
			}
		}
		for _, v := range t.Variants {
			k := cell{Outcome: c.Outcome(v), Needed: withoutFaults, Each: ofOthers, Faulted: c.Faults != nil,
				Now: now, Result: seen[c.Name+": "+string(v)]}
			k.Open = k.Outcome != NotRun &&
				(k.Passed != (k.Outcome == Passes) || k.Property != c.Property || k.Runs == 0)
			k.Case, k.Variant, k.Property, k.Passed = c.Name, string(v), c.Property, k.Outcome == Passes
			if k.Faulted {
				k.Needed = withFaults
			}
			if v == t.Fixed {
				k.Each = ofFixed
				run := func(o V) bool { return o != v && c.Outcome(o) != NotRun }
				if k.Faulted && !slices.ContainsFunc(t.Variants, run) {
					k.Needed = ofEveryFault
				}
			}
			if i := slices.IndexFunc(c.Remarks, func(r Remark) bool {
				return r.omits == (k.Outcome == NotRun) && among(v, r.variants)
			}); i >= 0 {
				k.Note = c.Remarks[i].reason
			}
			cells = append(cells, k)
		}
	}
	return cells, nil
}

// row returns the cells of a case.
func (t Table[V]) row(cells []cell, i int) []cell { return cells[i*len(t.Variants):][:len(t.Variants)] }
