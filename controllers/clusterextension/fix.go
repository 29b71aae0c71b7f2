// This file holds the fixed variant: how a release survives any interruption. It is meant to be
// copied, with controller.go and pass.go.
//
//   - Finish first. While the newest record is not deployed and healthy, its version is the
//     target, from the manifest in the record: an edge from v2 to v3 presupposes a whole v2. A user
//     who wants out sets the upgrade constraint policy SelfCertified.
//   - It is finished on the record that was begun, and what is there is not written again. So it
//     may be interrupted anywhere and often, and there is no moment between two records.
//   - The newest record names the process that may write, and until when. A process holds it before
//     it installs, upgrades, repairs or prunes, by a write with an optimistic lock on what it read
//     before it decided anything. After that time its connection refuses writes, and another
//     process waits for it. A process that is frozen between that check and the wire can still
//     write late.
//   - Records cannot be torn: chunks are named by their content and written before the index that
//     names them, and old ones are deleted last. What an older version tore is repaired.
//   - Before anything is done again, the status says that it was interrupted, and how often.
//   - Events of its own status are dropped, so a refusal that says something else each time is
//     tried no sooner. A chart that renders something else each time is applied once.
//   - What is dropped is looked for once more when a version is whole: Helm only logs what it
//     cannot delete, and knows nothing of versions that were skipped.
//   - An attempt with a chart that has hooks is not continued, as that would leave the hooks out.
//
// No worker ever waits, except for hooks. A pass that has to wait returns when to call it again.

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
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/controllers/internal/release"
)

// Labels of the release records.
const (
	// InterruptionsKey counts how often an attempt was interrupted.
	InterruptionsKey = "wavetank.example/interruptions"
	// PrunedKey says that nothing is left of what records before this one have made and it does not
	// have.
	PrunedKey = "wavetank.example/pruned"
	// ChartKey is the digest of the chart that it was made from.
	ChartKey = "wavetank.example/chart"
)

// manyInterruptions are a sign that it is the attempt that kills the operator.
const manyInterruptions = 5

// finish finishes an attempt that was begun before the pass decides anything else.
func (p *pass) finish(ctx context.Context) error {
	indices, err := p.records.Indices(map[string]string{"name": p.ext.Name})
	if err != nil {
		return p.retrying(nil, err)
	}
	if len(indices) == 0 {
		return nil
	}
	p.newest = &indices[len(indices)-1]
	overridden := p.overridden()
	for i := range indices {
		r, err := p.records.Decode(&indices[i])
		if release.Status(&indices[i]) == helmrelease.StatusDeployed {
			if err == nil && &indices[i] == p.newest && !overridden {
				if err := p.awaitHealth(ctx, r); err != nil {
					return err
				}
			}
			p.setInstalled(bundleOf(indices[i].Annotations)) // its process may have died before it wrote the status
		}
		if errors.Is(err, release.ErrTorn) {
			return p.mend(ctx, &indices[i], err)
		} else if err != nil {
			return p.retrying(nil, err)
		}
	}
	status, bundle := release.Status(p.newest), bundleOf(p.newest.Annotations)
	if !unfinished(status) || status == helmrelease.StatusFailed && overridden {
		return nil
	}
	if err := p.hold(ctx); err != nil {
		return err
	}
	begun, err := p.records.Get(p.newest.Name)
	if err != nil {
		return p.retrying(bundle, err)
	}
	switch {
	case overridden:
		err = p.markFailed(begun)
	case release.Hooked(begun):
		return p.blocked(bundle, fmt.Errorf("revision %d was not finished, and its chart has hooks, which would be "+
			"left out if it were; set the upgrade constraint policy to %s to have what is wanted then applied from "+
			"the beginning", begun.Version, v1.PolicySelfCertified))
	default:
		err = p.client.Resume(begun)
	}
	if err != nil {
		return p.retrying(bundle, p.history(p.newest, err))
	}
	return release.AtOnce // what follows has its own time
}

// looks is how often the health of a version is checked. Events of the status of installed objects
// cause no reconcile.
const looks = release.Later(10 * time.Second)

// awaitHealth writes into the status what a deployed version lacks to be healthy, and repairs drift
// meanwhile. Until the version is healthy the status does not call it installed.
func (p *pass) awaitHealth(ctx context.Context, deployed *helmrelease.Release) error {
	bundle := bundleOf(deployed.Labels)
	ill, err := release.Ill(ctx, p.reads, deployed)
	if err == nil && ill == "" {
		return nil
	}
	if p.ext.Status.Install == nil {
		p.setInstalled(nil)
	}
	if err == nil {
		err = p.client.Reconcile(deployed, func() error { return p.hold(ctx) })
	}
	if err != nil {
		return p.retrying(bundle, err)
	}
	_ = p.retrying(bundle, fmt.Errorf("it is applied and not healthy: %s", ill))
	return looks
}

// overridden reports whether the user allows every change of version.
func (p *pass) overridden() bool {
	return p.ext.Spec.Source.Catalog.UpgradeConstraintPolicy == v1.PolicySelfCertified
}

// unfinished reports whether the attempt of a record did not succeed. Other variants undo an
// install by an uninstall.
func unfinished(s helmrelease.Status) bool {
	return s.IsPending() || s == helmrelease.StatusFailed || s == helmrelease.StatusUninstalling
}

// hold makes this process the one that may write, by the newest record as it was read, or returns
// how long another process still may. Before it returns with the record, the status reports what
// has happened to it.
func (p *pass) hold(ctx context.Context) error {
	if p.newest == nil || p.client.Holder.Holds(p.newest) {
		return nil // the record that it will make says so, or this one does
	}
	bundle := bundleOf(p.newest.Annotations)
	n := interruptions(p.newest)
	// A record of this very process is pending because it could not write down how its attempt
	// ended: a failure like any other.
	interrupted := release.Status(p.newest).IsPending() && p.newest.Annotations[release.HolderKey] != p.identity
	if interrupted {
		n++
	}
	held, err := p.client.Holder.Hold(p.records.Secrets, p.newest, map[string]string{InterruptionsKey: strconv.Itoa(n)})
	if wait := release.Later(0); errors.As(err, &wait) {
		if unfinished(release.Status(p.newest)) { // else the one who is at it has the say
			_ = p.retrying(bundle, fmt.Errorf("it was interrupted, or another process is still at it, which has to "+
				"stop at %s", p.newest.Annotations[release.UntilKey]))
		}
		return err
	} else if err != nil {
		return p.retrying(bundle, err)
	}
	p.newest = held
	switch condition := apimeta.FindStatusCondition(p.ext.Status.Conditions, v1.TypeProgressing); {
	case interrupted:
		_ = p.retrying(bundle, p.history(held, nil))
		return p.writeStatus(ctx)
	case release.Status(held).IsPending() && (condition == nil || condition.Reason != v1.ReasonRetrying):
		_ = p.retrying(bundle, errors.New("the time for it was over before it was finished; going on from there"))
		return p.writeStatus(ctx)
	}
	return nil
}

// heldLabels are the labels of a record of this pass, in addition to those of its bundle.
func (p *pass) heldLabels(b *Bundle) map[string]string {
	held := p.client.Holder.Labels()
	held[InterruptionsKey], held[PrunedKey], held[ChartKey] = "0", "false", release.Digest(b.Chart, nil)
	return held
}

// asRead reports whether the newest record is still the one that this pass has read at first.
func (p *pass) asRead(newest *helmrelease.Release) bool {
	if p.newest == nil || newest == nil {
		return p.newest == nil && newest == nil
	}
	return release.Revision(p.newest) == newest.Version && release.Status(p.newest) == newest.Info.Status
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

// mend makes a record that cannot be read again from the catalog, or deletes it if it is not
// needed.
func (p *pass) mend(ctx context.Context, index *corev1.Secret, torn error) error {
	bundle, status := bundleOf(index.Annotations), release.Status(index)
	begun := index.Name == p.newest.Name && unfinished(status)
	if status != helmrelease.StatusDeployed && (!begun || p.overridden()) {
		// It is history, or the user wants it to be.
		if begun {
			if err := p.hold(ctx); err != nil {
				return err
			}
		}
		if err := p.records.DeleteRaw(index.Name); err != nil {
			return p.retrying(bundle, err)
		}
		return release.AtOnce
	}
	bundles, err := p.Catalog.Package(ctx, p.ext.Spec.Source.Catalog.PackageName)
	if err != nil {
		return p.retrying(bundle, err)
	}
	i := slices.IndexFunc(bundles, func(b Bundle) bool { return b.Name == bundle.Name })
	if i < 0 {
		return p.retrying(bundle, fmt.Errorf("it was interrupted, its release record is broken, and the catalog no "+
			"longer has the bundle to make it again from; restore the bundle to the catalog, or set the upgrade "+
			"constraint policy to %s: %w", v1.PolicySelfCertified, torn))
	}
	if err := p.hold(ctx); err != nil {
		return err
	}
	if index, err = p.records.Index(index.Name); err != nil {
		return p.retrying(bundle, err)
	}
	made, err := p.client.DryInstall(bundles[i].Chart, map[string]any{})
	if err == nil {
		made.Version, made.Labels = release.Revision(index), index.Annotations
		made.Info.FirstDeployed, made.Info.LastDeployed = helmtime.Now(), helmtime.Now()
		made.SetStatus(status, "made again from the catalog, because it could not be read")
		err = p.client.Config.Releases.Update(made)
	}
	if err != nil {
		return p.retrying(bundle, err)
	}
	return release.AtOnce
}

// prune deletes objects that Helm should have deleted.
func (p *pass) prune(ctx context.Context, deployed *helmrelease.Release) error {
	if deployed.Labels[PrunedKey] == "true" {
		return nil
	}
	if release.Revision(p.newest) != deployed.Version { // it was made in this pass
		version := strconv.Itoa(deployed.Version)
		indices, err := p.records.Indices(map[string]string{"name": p.ext.Name, "version": version})
		if err != nil || len(indices) == 0 {
			return errors.Join(err, fmt.Errorf("the record of revision %d cannot be found", deployed.Version))
		}
		p.newest = &indices[0]
	}
	if err := p.hold(ctx); err != nil {
		return err
	}
	if err := p.client.Prune(deployed); err != nil {
		return err
	}
	if _, err := release.Annotate(p.records.Secrets, p.newest, map[string]string{PrunedKey: "true"}); err != nil {
		return fmt.Errorf("writing down that nothing is left of what was there before: %w", err)
	}
	return nil
}

func interruptions(index *corev1.Secret) int {
	n, _ := strconv.Atoi(index.Annotations[InterruptionsKey]) // 0 if an older version of this operator made it
	return n
}
