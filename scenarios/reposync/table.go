// This file holds the table: for each variant, which cases it fails under which faults.

package reposync

import (
	"slices"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
)

// Table is the matrix of the scenario. A variant that is in neither Fail nor NotRun must pass.
func Table() matrix.Table[reposync.Variant] {
	return matrix.Table[reposync.Variant]{
		Variants: reposync.Variants(), Fixed: reposync.V10, Cases: Cases(), Predictions: predictions(),
		Situations: situations(),
	}
}

// Cases are the cases of the table.
func Cases() []matrix.Case[reposync.Variant] {
	return slices.Concat(liveness(), order(), rights(), status(), byHand(), others(), roots())
}

type (
	cases    = []matrix.Case[reposync.Variant]
	variants = []reposync.Variant
	because  = map[reposync.Variant]string
)

// only are the variants of these names, and except all others.
func only(names string) []reposync.Variant { return matrix.Names[reposync.Variant](names) }

func except(names string) []reposync.Variant { return matrix.Except(reposync.Variants(), names) }

// notRun are variants that are not run, each list of them after its reason.
func notRun(reasons ...string) because {
	out := because{}
	for i := 0; i < len(reasons); i += 2 {
		for _, v := range only(reasons[i+1]) {
			out[v] = reasons[i]
		}
	}
	return out
}

// Reasons why a variant is not run.
const (
	failsAnyway = "it fails without that, see “namespace finishes”"
	noHook      = "it has no webhook"
	gaveUp      = "the user whom its webhook refuses gives up after a minute, and it is later that the namespace may go"
	keeps       = "its binding does not go before the RepoSync, see “rights outlive use”"
	likeV0      = "it is stuck where V0 is, which is run"
	regardless  = "it takes the finalizer off whatever has become of the reconciler, " +
		"see the cases in which that is dead"
)

// Notes of several variants.
const atOnce = "the RepoSync goes at once"
