// This file holds the variants: one policy each, and a line for each step from the controller as it
// was to the fixed one. A copy of the fixed variant needs only its policy.

package bundledeployment

import (
	"context"
	"fmt"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/controllers/bundledeployment/v1alpha1"
	"github.com/wavetank/wavetank/controllers/internal/release"
)

// Variant names one policy. The zero value is V4, the one to use.
type Variant string

// The variants, as the thread has them, and V4.
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
	// V4 is fixed: see fix.go.
	V4 Variant = "V4"
)

// policy is the set of decisions in which the variants differ.
type policy struct {
	// apply does what a release needs.
	apply func(*pass, context.Context) (*helmrelease.Release, ctrl.Result, error)
	// fixed has a reconcile write only for as long as it holds the release record, and read from
	// the server: see fix.go.
	fixed bool
	// onlySpecChanges drops events of BundleDeployments whose generation has not changed.
	onlySpecChanges bool
	// cleanUp is what Helm does after a failure.
	cleanUp release.CleanUp
	// workers is the default of Reconciler.Workers.
	workers int
	// maxHistory is how many release records are kept; 0 keeps all of them.
	maxHistory int
}

// cleanUpWait is the 30 s of the thread. Helm looks every 2 s whether the objects are gone; a limit
// that is a multiple of that would leave it to the runtime whether the last look still counts.
const cleanUpWait = 30*time.Second - 7*time.Millisecond

// policies are those of the variants.
func policies() map[Variant]policy {
	v0 := policy{apply: (*pass).applyAtOnce, workers: 1}
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
	v4.apply, v4.fixed = (*pass).applyWhenDue, true
	v4.workers = v2.workers // nothing waits for a clean-up, but requests may be slow

	return map[Variant]policy{V0: v0, V0StatusFilter: v0StatusFilter, V1: v1, V2: v2, V3: v3, V4: v4, "": v4}
}

// Variants lists every variant.
func Variants() []Variant { return []Variant{V0, V0StatusFilter, V1, V2, V3, V4} }

// DefaultWorkers returns how many workers a variant has by default.
func DefaultWorkers(v Variant) int { return policies()[v].workers }

func (v Variant) policy() (policy, error) {
	p, ok := policies()[v]
	if !ok {
		return policy{}, fmt.Errorf("bundledeployment: there is no variant %q, only %v", string(v), Variants())
	}
	return p, nil
}

// applyAtOnce does at once what the release needs, as the original does.
func (p *pass) applyAtOnce(context.Context) (*helmrelease.Release, ctrl.Result, error) {
	current, err := p.client.Get()
	upgrade := false
	if current != nil && err == nil {
		upgrade, err = p.client.NeedsUpgrade(current, p.chart, p.values)
	}
	if err != nil {
		return nil, ctrl.Result{}, p.failed(v1alpha1.ErrorGettingReleaseState, err)
	}
	reason := v1alpha1.ReconcileFailed
	switch {
	case current == nil:
		reason = v1alpha1.InstallFailed
		current, err = p.client.Install(p.chart, p.values)
	case upgrade:
		reason = v1alpha1.UpgradeFailed
		current, err = p.client.Upgrade(p.chart, p.values)
	default:
		err = p.client.Reconcile(current, func() error { return nil })
	}
	if err != nil {
		return nil, ctrl.Result{}, p.failed(reason, err)
	}
	return current, ctrl.Result{}, nil
}
