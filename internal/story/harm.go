package story

import (
	"cmp"
	"slices"
)

// harmful are the properties that Wavetank declares, the most harmful violation first.
var harmful = []string{"no panic", "same effects", "no effect twice", "fields of others stay", "no missing permission",
	"no stuck finalizer", "the world settles", "nothing is left", "nothing outlives its owner", "same end state",
	"nothing is deleted and made again", "ready means done", "status names what exists", "no hot loop",
	"cache untouched", "no writes at rest",
	"observedGeneration is up to date", "same end state in any order", "apply is stable"}

// Harm ranks the violation of a property: the lower, the more harmful. Those that a scenario
// declares itself come first, because its author asks for them.
func Harm(property string) int { return slices.Index(harmful, property) + 1 }

// ByHarm orders findings, the most harmful first.
func ByHarm(a, b Finding) int { return cmp.Compare(Harm(a.Property), Harm(b.Property)) }
