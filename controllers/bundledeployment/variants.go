// This file exists to show at a glance what the variants of the story do differently: one policy,
// one line for each step from the controller as it was to the full cure.

package bundledeployment

import (
	"fmt"
	"time"

	"github.com/wavetank/wavetank/controllers/internal/release"
)

// Variant names one stage of the story. The zero value is V4, the one to use.
type Variant string

// The variants, in the order of the story.
const (
	// V0 undoes what a failed action left behind, and does not wait for that to be done.
	V0 Variant = "V0"
	// V0StatusFilter is V0 without its own status writes as a reason to run. Not in the thread: the
	// obvious patch.
	V0StatusFilter Variant = "V0-status-filter"
	// V1 waits up to 30 s for what it undoes.
	V1 Variant = "V1"
	// V2 also has many workers, because one of them may be waiting. The end of the pull request.
	V2 Variant = "V2"
	// V3 undoes nothing, and keeps no more than ten records. What upstream has shipped instead.
	V3 Variant = "V3"
	// V4 is the full cure: see cure.go.
	V4 Variant = "V4"
)

// policy is the set of decisions in which the variants differ. The zero policy is V0.
type policy struct {
	// onlySpecChanges drops events of BundleDeployments whose generation has not changed.
	onlySpecChanges bool
	// cleanUp is what Helm is told to do after a failure.
	cleanUp release.CleanUp
	// workers are used unless the operator is told how many.
	workers int
	// maxHistory is how many release records are kept; 0 keeps all of them.
	maxHistory int
	// cured takes from Helm the decision when to act: see cure.go.
	cured bool
}

// cleanUpWait is the 30 s of the thread. Helm looks every 2 s whether the objects are gone; a limit
// that is a multiple of that would leave it to the runtime whether the last look still counts.
const cleanUpWait = 30*time.Second - 7*time.Millisecond

// policies is the table of the story.
func policies() map[Variant]policy {
	v0 := policy{workers: 1}
	v0StatusFilter := v0
	v0StatusFilter.onlySpecChanges = true
	v1 := v0
	v1.cleanUp.Wait = cleanUpWait
	v2 := v1
	v2.workers = 4
	v3 := v0
	v3.cleanUp.Off = true
	v3.maxHistory = 10
	v4 := v3
	v4.onlySpecChanges = true
	v4.cured = true
	v4.workers = v2.workers // nothing waits for a clean-up, but requests may be slow

	return map[Variant]policy{V0: v0, V0StatusFilter: v0StatusFilter, V1: v1, V2: v2, V3: v3, V4: v4, "": v4}
}

// Variants lists every variant in the order of the story.
func Variants() []Variant { return []Variant{V0, V0StatusFilter, V1, V2, V3, V4} }

// DefaultWorkers is how many workers a variant has unless the operator is told.
func DefaultWorkers(v Variant) int { return policies()[v].workers }

func (v Variant) policy() (policy, error) {
	p, ok := policies()[v]
	if !ok {
		return policy{}, fmt.Errorf("bundledeployment: there is no variant %q; the variants are %v", string(v), Variants())
	}
	return p, nil
}
