// This file exists for the full cure: how a release comes through any interruption. It is meant to be copied.
//
//   - Finish first. While the newest record is not deployed, its version is the target, from the manifest in the record:
//     the catalog is not asked, for an edge from v2 to v3 presupposes a whole v2. This holds for failures as well as for
//     interruptions. A user who wants out says so by the upgrade constraint policy SelfCertified.
//   - Finishing is done in place, on the record that was begun, and what is there already is not written again. So it may
//     be interrupted as often as you like, anywhere, and there is no moment between two records.
//   - A record says who is making the attempt, and until when. He writes nothing after that: his connection refuses. So a
//     process that finds a pending record which is not its own waits for that time, and for the requests that may be
//     under way, and then takes the record over, by a write with an optimistic lock. An attempt that takes longer
//     than its time is not lost: the next one finds less to do. What remains is a process that is frozen between that
//     check and the wire, for longer than the grace.
//   - Records are written so that they cannot be torn: chunks are named by their content, they are written before the
//     index that names them, and old ones are deleted last. A record that an older version of the operator tore is made
//     again from the catalog, or else the status says that it is broken and that the catalog no longer has its bundle.
//   - Before anything is done again, the status says that it was interrupted, and how often.
//   - What is dropped is looked for once more when a version is whole: Helm only logs it when it cannot delete something, and
//     knows nothing of versions that were skipped.
//
// No worker ever waits: whoever has to, says when to call again.

package clusterextension

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	helmtime "helm.sh/helm/v3/pkg/time"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/controllers/internal/release"
)

// InterruptionsKey is where a record says how often it was interrupted, and PrunedKey where it says that nothing is left of what
// records before it have made and it does not have.
const (
	InterruptionsKey = "wavetank.example/interruptions"
	PrunedKey        = "wavetank.example/pruned"
)

const (
	// slice is how long an attempt may write, and grace how long after that its last request may still be under way, or
	// clocks may differ.
	slice, grace = 20 * time.Second, 10 * time.Second
	// manyInterruptions are a sign that it is the attempt that kills the operator.
	manyInterruptions = 5
)

// finish finishes what was begun before anything else is decided. It is done when the newest record is at rest.
func (p *pass) finish(ctx context.Context) (wait ctrl.Result, done bool, err error) {
	indices, err := p.records.Indices(map[string]string{"name": p.ext.Name})
	if err != nil {
		return ctrl.Result{}, false, p.retrying(nil, err)
	}
	for i := range indices {
		if release.Status(&indices[i]) == helmrelease.StatusDeployed {
			p.setInstalled(bundleOf(indices[i].Annotations)) // whoever deployed it may have died before he could say so
		}
		if _, err := p.records.Decode(&indices[i]); errors.Is(err, release.ErrTorn) {
			return p.mend(ctx, &indices[i], err)
		} else if err != nil {
			return ctrl.Result{}, false, p.retrying(nil, err)
		}
	}
	if len(indices) == 0 {
		return ctrl.Result{}, true, nil
	}
	newest := &indices[len(indices)-1]
	status, bundle := release.Status(newest), bundleOf(newest.Annotations)
	overridden := p.ext.Spec.Source.Catalog.UpgradeConstraintPolicy == v1.PolicySelfCertified
	if status != helmrelease.StatusFailed && !status.IsPending() || status == helmrelease.StatusFailed && overridden {
		return ctrl.Result{}, true, nil
	}
	if left, err := p.take(ctx, newest); err != nil || left > 0 {
		return ctrl.Result{RequeueAfter: left}, false, err
	}
	begun, err := p.records.Get(newest.Name)
	if err != nil {
		return ctrl.Result{}, false, p.retrying(bundle, err)
	}
	if overridden {
		err = p.markFailed(begun)
	} else if err = p.client.Resume(begun); err == nil {
		err = p.open(ctx) // what follows has its own time
	}
	if err != nil {
		return ctrl.Result{}, false, p.retrying(bundle, p.history(newest, err))
	}
	return ctrl.Result{}, true, nil
}

// take makes the record this process's, or says how long another one may still write. Before it returns with the record, the
// status says what has happened.
func (p *pass) take(ctx context.Context, index *corev1.Secret) (wait time.Duration, err error) {
	bundle := bundleOf(index.Annotations)
	n := interruptions(index)
	// A record of this very process is pending because it could not write down how its attempt ended: a failure like any
	// other. To count it would be news to the status each time, whose event would start the next attempt at once.
	interrupted := release.Status(index).IsPending() && index.Annotations[release.HolderKey] != p.records.Holder
	if interrupted {
		n++
	}
	wait, err = p.records.Hold(index, p.until, grace, map[string]string{InterruptionsKey: strconv.Itoa(n)})
	switch {
	case err != nil:
		return 0, p.retrying(bundle, err)
	case wait > 0:
		_ = p.retrying(bundle, fmt.Errorf("it was interrupted, or another process is still at it, which has to stop at %s", index.Annotations[release.UntilKey]))
		return wait, nil
	case interrupted:
		index.Annotations[InterruptionsKey] = strconv.Itoa(n)
		_ = p.retrying(bundle, p.history(index, nil))
		return 0, p.writeStatus(ctx)
	}
	return 0, nil
}

// history says what has happened to an attempt so far.
func (p *pass) history(index *corev1.Secret, err error) error {
	n, more := interruptions(index), "resuming"
	if n > manyInterruptions {
		more = "something may kill the operator whenever it gets there; resuming"
	}
	switch {
	case n == 0:
		return err
	case err == nil:
		return fmt.Errorf("it was interrupted %d times; %s", n, more)
	}
	return fmt.Errorf("it was interrupted %d times, and then it failed: %w", n, err)
}

// mend makes a record that cannot be read again, from the catalog.
func (p *pass) mend(ctx context.Context, index *corev1.Secret, torn error) (wait ctrl.Result, done bool, err error) {
	bundle, status := bundleOf(index.Annotations), release.Status(index)
	if !status.IsPending() && status != helmrelease.StatusDeployed && status != helmrelease.StatusFailed {
		// It is history, and nobody needs it.
		if err := p.records.DeleteRaw(index.Name); err != nil {
			return ctrl.Result{}, false, p.retrying(bundle, err)
		}
		return ctrl.Result{RequeueAfter: time.Millisecond}, false, nil
	}
	bundles, err := p.Catalog.Package(ctx, p.ext.Spec.Source.Catalog.PackageName)
	if err != nil {
		return ctrl.Result{}, false, p.retrying(bundle, err)
	}
	i := slices.IndexFunc(bundles, func(b Bundle) bool { return b.Name == bundle.Name })
	if i < 0 {
		return ctrl.Result{}, false, p.retrying(bundle, fmt.Errorf("it was interrupted, its release record is broken, and the catalog no longer has the "+
			"bundle to make it again from; restore the bundle to the catalog: %w", torn))
	}
	if left, err := p.take(ctx, index); err != nil || left > 0 {
		return ctrl.Result{RequeueAfter: left}, false, err
	}
	again, err := p.client.DryInstall(bundles[i].Chart, map[string]any{})
	if err == nil {
		again.Version, again.Labels = release.Revision(index), index.Annotations
		again.Info.FirstDeployed, again.Info.LastDeployed = helmtime.Now(), helmtime.Now()
		again.SetStatus(status, "made again from the catalog, because it could not be read")
		err = p.client.Config.Releases.Update(again)
	}
	if err != nil {
		return ctrl.Result{}, false, p.retrying(bundle, err)
	}
	return ctrl.Result{RequeueAfter: time.Millisecond}, false, nil
}

// prune makes up for what Helm has not deleted.
func (p *pass) prune(deployed *helmrelease.Release) error {
	if err := p.client.Prune(deployed); err != nil {
		return err
	}
	indices, err := p.records.Indices(map[string]string{"name": p.ext.Name, "version": strconv.Itoa(deployed.Version)})
	if err != nil {
		return err
	}
	for i := range indices {
		if err := p.records.Annotate(&indices[i], map[string]string{PrunedKey: "true"}); err != nil {
			return fmt.Errorf("writing down that nothing is left of what was there before: %w", err)
		}
	}
	return nil
}

func interruptions(index *corev1.Secret) int {
	n, err := strconv.Atoi(index.Annotations[InterruptionsKey])
	if err != nil {
		return 0 // an older version of this operator made the record
	}
	return n
}
