// Package planted holds bugs that were planted on purpose. They measure what a search finds, how
// soon, and how short its stories are.
//
// Each bug is a small ordinary operator with one flaw, its fixed variant that differs in a line or
// a few, a scenario, and the property that the flaw breaks. Its depth is the least number of
// choices other than the default that breaks the property; that a fault is switched on for the run
// does not count. The table is also what docs/search.md is made from.
//
// Patterns that are not planted yet, though sim has the faults: states that a watch drops or merges
// on its way, an expired watch, a paused process that resumes as a zombie, a refused or mutating
// webhook, a revoked right, a namespace that ends slowly.
package planted

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim"
)

// Bug is one planted bug.
type Bug struct {
	Name    string
	Pattern string
	// Depth is the least number of disturbances that breaks the property.
	Depth int
	// Needs says in words which disturbances.
	Needs string
	// Property is the sentence that breaks.
	Property string
	// play puts the flaw into the world, or its fixed variant, and does what its users do.
	play func(w *stage, fixed bool)
}

// Scenario is the world with the flaw in it, or with its fixed variant.
func (b Bug) Scenario(fixed bool) func(*sim.World) {
	return func(w *sim.World) { b.play(&stage{World: w}, fixed) }
}

// Operator is the operator with the flaw, or its fixed variant, without faults, properties and
// users. It returns what users would apply.
func (b Bug) Operator(fixed bool) func(*sim.World) []client.Object {
	return func(w *sim.World) []client.Object {
		s := &stage{World: w, bare: true}
		b.play(s, fixed)
		return s.samples
	}
}

// Bugs is the table, family by family.
func Bugs() []Bug {
	return slices.Concat(staleBugs(), inversionBugs(), crashBugs(), giveUpBugs(), outageBugs(), raceBugs(),
		workerBugs(), replyBugs(), deletionBugs(), queueBugs(), leaderBugs(), rareBugs(), handlerBugs())
}
