// This file exists for what happens between reading an extension and writing its status: what is installed, what should
// be, and the way there.

package clusterextension

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/controllers/internal/release"
)

// mostRecords is how many release records are kept.
const mostRecords = 10

// pass is one look at one extension.
type pass struct {
	*Reconciler
	// read is the extension as the server has it, as far as this pass knows, and ext what it makes of it.
	read, ext *v1.ClusterExtension

	client  *release.Client
	records *release.Chunked
	until   time.Time // when this pass stops writing, if it is fenced
}

func (p *pass) run(ctx context.Context) (ctrl.Result, error) {
	if !p.ext.DeletionTimestamp.IsZero() {
		// The caches of this process hold nothing of it that would not go by itself, and what it has installed goes with it.
		controllerutil.RemoveFinalizer(p.ext, v1.CleanupUnpackCacheFinalizer)
		controllerutil.RemoveFinalizer(p.ext, v1.CleanupContentManagerCacheFinalizer)
		return ctrl.Result{}, nil
	}
	added := controllerutil.AddFinalizer(p.ext, v1.CleanupUnpackCacheFinalizer)
	if controllerutil.AddFinalizer(p.ext, v1.CleanupContentManagerCacheFinalizer) || added {
		return ctrl.Result{}, nil // the event of that write comes back
	}
	if err := p.open(ctx); err != nil {
		return ctrl.Result{}, p.retrying(nil, err)
	}
	if p.policy.first != nil {
		if wait, done, err := p.policy.first(p, ctx); err != nil || !done {
			return wait, err
		}
	}
	installed, err := p.installed()
	if err != nil {
		p.set(v1.TypeInstalled, metav1.ConditionUnknown, v1.ReasonFailed, err.Error())
		return ctrl.Result{}, p.retrying(nil, err)
	}
	p.setInstalled(installed)
	bundles, err := p.Catalog.Package(ctx, p.ext.Spec.Source.Catalog.PackageName)
	if err != nil {
		return ctrl.Result{}, p.retrying(nil, err)
	}
	wanted, err := resolve(bundles, p.ext.Spec.Source.Catalog, installed)
	if err != nil {
		return ctrl.Result{}, p.retrying(nil, err)
	}
	made, err := p.apply(wanted)
	if err != nil {
		return ctrl.Result{}, p.retrying(wanted, err)
	}
	if err := p.watch(ctx, made); err != nil {
		return ctrl.Result{}, p.retrying(wanted, err)
	}
	if p.policy.fenced && made.Labels[PrunedKey] != "true" {
		if err := p.prune(made); err != nil {
			return ctrl.Result{}, p.retrying(wanted, err)
		}
	}
	p.setInstalled(wanted)
	p.set(v1.TypeProgressing, metav1.ConditionTrue, v1.ReasonSucceeded, "Desired state reached")
	return ctrl.Result{}, nil
}

// open makes the client of the release, for this pass.
func (p *pass) open(ctx context.Context) error {
	if p.policy.fenced {
		p.until = time.Now().Add(slice)
		ctx = release.Until(ctx, p.until)
	}
	secrets, err := p.helm.Secrets(ctx, p.Namespace)
	if err != nil {
		return err
	}
	p.records = &release.Chunked{Secrets: secrets, Owner: Owner, For: owner(p.ext), Size: p.ChunkSize}
	if p.policy.fenced {
		p.records.Careful, p.records.Holder = true, p.identity
	}
	config, err := p.helm.Configuration(ctx, p.ext.Spec.Namespace, p.records)
	if err != nil {
		return err
	}
	marks := release.Marks{Known: p.helm.Marked, Owner: owner(p.ext), Labels: map[string]string{
		v1.OwnerKindLabel: v1.ClusterExtensionKind, v1.OwnerNameLabel: p.ext.Name}}
	p.client = &release.Client{Config: config, Name: p.ext.Name, Namespace: p.ext.Spec.Namespace, Marks: marks,
		MaxHistory: mostRecords, Confirm: p.policy.fenced, CleanUp: release.CleanUp{Off: true}}
	return nil
}

// installed is the bundle of the newest record that is marked as deployed; nil if none is.
func (p *pass) installed() (*Bundle, error) {
	history, err := p.client.Config.Releases.History(p.ext.Name)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var newest *helmrelease.Release
	for _, r := range history {
		if r.Info.Status == helmrelease.StatusDeployed && (newest == nil || r.Version > newest.Version) {
			newest = r
		}
	}
	if newest == nil {
		return nil, nil
	}
	return bundleOf(newest.Labels), nil
}

// apply has Helm install or upgrade to a bundle, or puts back what has drifted.
func (p *pass) apply(b *Bundle) (*helmrelease.Release, error) {
	p.client.Labels = b.labels(p.ext.Spec.Source.Catalog.PackageName)
	if p.policy.fenced {
		p.client.Labels[release.HolderKey], p.client.Labels[release.UntilKey] = p.identity, p.until.UTC().Format(time.RFC3339Nano)
		p.client.Labels[InterruptionsKey], p.client.Labels[PrunedKey] = "0", "false"
	}
	newest, err := p.client.Get()
	if err != nil {
		return nil, err
	}
	if newest != nil && newest.Info.Status.IsPending() && p.policy.pending != nil {
		if err := p.policy.pending(p, newest); err != nil {
			return nil, err
		}
		if !p.policy.goOn {
			return nil, fmt.Errorf("%s was interrupted while %s; trying again", bundleOf(newest.Labels), newest.Info.Status)
		}
		if newest, err = p.client.Get(); err != nil {
			return nil, err
		}
	}
	if newest == nil {
		if _, err := p.client.DryInstall(b.Chart, map[string]any{}); err != nil {
			return nil, err
		}
		return p.client.Install(b.Chart, map[string]any{})
	}
	desired, err := p.client.DryRun(b.Chart, map[string]any{})
	if err != nil {
		return nil, err
	}
	if s := newest.Info.Status; desired.Manifest != newest.Manifest || s == helmrelease.StatusFailed || s == helmrelease.StatusSuperseded {
		return p.client.Upgrade(b.Chart, map[string]any{})
	}
	return newest, p.client.Reconcile(newest)
}

// watch makes sure that changes of the installed objects wake the operator.
func (p *pass) watch(ctx context.Context, of *helmrelease.Release) error {
	objects, err := release.Objects(strings.NewReader(of.Manifest))
	if err != nil {
		return err
	}
	return p.watches.Begin(ctx, objects)
}

// setInstalled writes down what is installed.
func (p *pass) setInstalled(b *Bundle) {
	if b == nil {
		p.ext.Status.Install = nil
		p.set(v1.TypeInstalled, metav1.ConditionFalse, v1.ReasonFailed, "No bundle installed")
		return
	}
	p.ext.Status.Install = &v1.ClusterExtensionInstallStatus{Bundle: v1.BundleMetadata{Name: b.Name, Version: b.Version}}
	p.set(v1.TypeInstalled, metav1.ConditionTrue, v1.ReasonSucceeded, fmt.Sprintf("Installed bundle %s successfully", b.Name))
}

// retrying writes down why there is no progress, and returns the error for the work queue.
func (p *pass) retrying(b *Bundle, err error) error {
	if b != nil {
		err = fmt.Errorf("error for resolved %s: %w", b, err)
	}
	p.set(v1.TypeProgressing, metav1.ConditionTrue, v1.ReasonRetrying, oneLine(err.Error()))
	return err
}

func (p *pass) set(kind string, status metav1.ConditionStatus, reason, message string) {
	apimeta.SetStatusCondition(&p.ext.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: p.ext.Generation})
}
