// This file holds the steps of a pass between the read of an extension and the write of its status.

package clusterextension

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/controllers/internal/release"
)

// maxRecords is how many release records are kept.
const maxRecords = 10

// pass is one reconcile of one extension.
type pass struct {
	*Reconciler
	// read is the extension as the server has it, as far as this pass knows, and ext the changed
	// copy.
	read, ext *v1.ClusterExtension

	client  *release.Client
	records *release.Chunked

	// If it is fenced:
	until  time.Time      // when this pass stops writing
	newest *corev1.Secret // the index of the newest record; nil if there is none
}

func (p *pass) run(ctx context.Context) error {
	if !p.ext.DeletionTimestamp.IsZero() {
		// What it has installed goes with it, and so does what the caches of this process hold.
		controllerutil.RemoveFinalizer(p.ext, v1.CleanupUnpackCacheFinalizer)
		controllerutil.RemoveFinalizer(p.ext, v1.CleanupContentManagerCacheFinalizer)
		return nil
	}
	added := controllerutil.AddFinalizer(p.ext, v1.CleanupUnpackCacheFinalizer)
	if controllerutil.AddFinalizer(p.ext, v1.CleanupContentManagerCacheFinalizer) || added {
		return nil // the event of that write comes back
	}
	if err := p.open(ctx); err != nil {
		return p.retrying(nil, err)
	}
	if p.policy.first != nil {
		if err := p.policy.first(p, ctx); err != nil {
			return err
		}
	}
	installed, err := p.installed()
	if err != nil {
		p.set(v1.TypeInstalled, metav1.ConditionUnknown, v1.ReasonFailed, err.Error())
		return p.retrying(nil, err)
	}
	p.setInstalled(installed)
	bundles, err := p.Catalog.Package(ctx, p.ext.Spec.Source.Catalog.PackageName)
	if err != nil {
		return p.retrying(nil, err)
	}
	wanted, err := resolve(bundles, p.ext.Spec.Source.Catalog, installed)
	if err != nil {
		return p.retrying(nil, err)
	}
	made, err := p.apply(ctx, wanted)
	if err == nil {
		err = p.watches.Begin(made) // changes of the installed objects wake the operator
	}
	if err != nil {
		return p.retrying(wanted, err)
	}
	arrived := p.policy.fenced && (p.newest == nil || release.Revision(p.newest) != made.Version)
	if p.policy.fenced {
		if err := p.prune(ctx, made); err != nil {
			return p.retrying(wanted, err)
		}
		if err := p.awaitHealth(ctx, made); err != nil {
			return err
		}
	}
	p.setInstalled(wanted)
	p.set(v1.TypeProgressing, metav1.ConditionTrue, v1.ReasonSucceeded, "Desired state reached")
	if arrived {
		return release.AtOnce // there may be a way on from here, and no event of its own status says so
	}
	return nil
}

// open makes the client of the release, for this pass.
func (p *pass) open(ctx context.Context) (err error) {
	marks := release.Marks{Owner: owner(p.ext), Labels: map[string]string{
		v1.OwnerKindLabel: v1.ClusterExtensionKind, v1.OwnerNameLabel: p.ext.Name}}
	of := release.Client{Name: p.ext.Name, Namespace: p.ext.Spec.Namespace, Marks: marks, MaxHistory: maxRecords,
		CleanUp: release.CleanUp{Off: true}}
	if p.policy.fenced {
		of.Holder = release.Holder{Name: p.identity, Until: p.until}
	}
	p.records = &release.Chunked{Owner: Owner, Size: p.ChunkSize}
	p.client, err = p.helm.For(ctx, of, p.Namespace, p.records)
	return err
}

// installed is the bundle of the newest record that is marked as deployed; nil if none is.
func (p *pass) installed() (*Bundle, error) {
	history, err := p.client.Config.Releases.History(p.ext.Name)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	releaseutil.Reverse(history, releaseutil.SortByRevision)
	for _, r := range history {
		if r.Info.Status == helmrelease.StatusDeployed {
			return bundleOf(r.Labels), nil
		}
	}
	return nil, nil
}

// apply installs a bundle, upgrades to it, or repairs objects that have drifted.
func (p *pass) apply(ctx context.Context, b *Bundle) (*helmrelease.Release, error) {
	p.client.Labels = b.labels(p.ext.Spec.Source.Catalog.PackageName)
	if p.policy.fenced {
		maps.Copy(p.client.Labels, p.heldLabels(b))
	}
	newest, err := p.client.Get()
	if err != nil {
		return nil, err
	}
	if p.policy.fenced && !p.asRead(newest) {
		return nil, release.AtOnce
	}
	if p.policy.pending != nil && newest != nil && newest.Info.Status.IsPending() {
		if newest, err = p.clear(newest); err != nil {
			return nil, err
		}
	}
	if newest == nil {
		if _, err := p.client.DryInstall(b.Chart, map[string]any{}); err != nil {
			return nil, err
		}
		return p.client.Install(b.Chart, map[string]any{})
	}
	if upgrade, err := p.needsUpgrade(newest, b); err != nil {
		return nil, err
	} else if !upgrade {
		return newest, p.client.Reconcile(newest, func() error { return p.hold(ctx) })
	}
	if err := p.hold(ctx); err != nil {
		return nil, err
	}
	return p.client.Upgrade(b.Chart, map[string]any{})
}

// needsUpgrade compares the newest record with what the chart renders now; V6 with the chart.
func (p *pass) needsUpgrade(newest *helmrelease.Release, b *Bundle) (bool, error) {
	whole := newest.Info.Status == helmrelease.StatusDeployed
	if p.policy.fenced && whole && newest.Labels[ChartKey] == p.client.Labels[ChartKey] {
		return false, nil
	}
	return p.client.NeedsUpgrade(newest, b.Chart, map[string]any{})
}

// setInstalled writes the installed bundle into the status.
func (p *pass) setInstalled(b *Bundle) {
	if b == nil {
		p.ext.Status.Install = nil
		p.set(v1.TypeInstalled, metav1.ConditionFalse, v1.ReasonFailed, "No bundle installed")
		return
	}
	p.ext.Status.Install = &v1.ClusterExtensionInstallStatus{Bundle: v1.BundleMetadata{Name: b.Name,
		Version: b.Version}}
	p.set(v1.TypeInstalled, metav1.ConditionTrue, v1.ReasonSucceeded,
		fmt.Sprintf("Installed bundle %s successfully", b.Name))
}

// retrying writes into the status why there is no progress, and returns the error for the work
// queue.
func (p *pass) retrying(b *Bundle, err error) error {
	if wait := release.Later(0); errors.As(err, &wait) {
		return err
	}
	if b != nil {
		err = fmt.Errorf("error for resolved %s: %w", b, err)
	}
	p.set(v1.TypeProgressing, metav1.ConditionTrue, v1.ReasonRetrying, err.Error())
	return err
}

// blocked writes into the status what only the user can change, and returns a terminal error.
func (p *pass) blocked(b *Bundle, err error) error {
	p.set(v1.TypeProgressing, metav1.ConditionFalse, v1.ReasonBlocked, fmt.Sprintf("error for resolved %s: %v", b, err))
	return reconcile.TerminalError(err)
}

func (p *pass) set(kind string, status metav1.ConditionStatus, reason, message string) {
	apimeta.SetStatusCondition(&p.ext.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, ObservedGeneration: p.ext.Generation,
		Message: release.Said(strings.Join(strings.Fields(message), " "))})
}
