package demo

import "github.com/wavetank/wavetank/scenarios/internal/matrix"

// Of is a cell of a story's table as a claim: the variant is caught breaking the column's sentence
// if the table says that it falls, and holds otherwise.
func Of[V ~string](table matrix.Table[V], column string, v V, when string, runs int) Claim {
	c := table.Case(column)
	claim := Claim{Variant: string(v), When: when, Scenario: c.Scenario(v), Runs: runs}
	if c.Outcome(v) == matrix.Fails {
		claim.Caught = c.Property
	}
	return claim
}

// Beside is Of, and if the variant falls the full cure is shown beside it, in the same story.
func Beside[V ~string](table matrix.Table[V], column string, v V, when string, runs int) Claim {
	claim := Of(table, column, v, when, runs)
	if claim.Caught != "" {
		claim.Cured = table.Case(column).Scenario(table.Fixed)
	}
	return claim
}
