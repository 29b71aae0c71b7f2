// Package correct holds operators without a known bug. They are the counterpart of package planted:
// whatever a search reports about them is a false alarm, or a bug that was not known.
//
// Each operator is small and written as its authors would write it: nothing in it is there for
// Wavetank. Its scenario declares every fault that fits, the default properties, and those of
// sim/property that the operator is expected to have. An operator that needs a property to be left
// out names it, next to the reason.
package correct

import (
	"slices"

	"github.com/wavetank/wavetank/sim"
)

// Operator is one correct operator and its scenario.
type Operator struct {
	Name  string
	Style string // how it is written, for the table of docs/false-alarms.md
	play  func(w *stage)
}

// Scenario is the operator's world: faults, properties and what users do.
func (o Operator) Scenario() func(*sim.World) {
	return func(w *sim.World) { o.play(&stage{World: w}) }
}

// Operators is the table, family by family.
func Operators() []Operator {
	return slices.Concat(textbookOperators(), applyOperators(), queueOperators(), cacheOperators(),
		childrenOperators(), externalOperators(), sharingOperators(), clockOperators(), clientGoOperators(),
		clusterOperators())
}
