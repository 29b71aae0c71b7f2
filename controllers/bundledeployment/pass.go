// This file exists for what happens between reading a deployment and writing its status.

package bundledeployment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	helmrelease "helm.sh/helm/v3/pkg/release"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/controllers/bundledeployment/v1alpha1"
	"github.com/wavetank/wavetank/controllers/internal/release"
)

// pass is one look at one deployment.
type pass struct {
	*Reconciler
	// bd is what this pass makes of it.
	bd *v1alpha1.BundleDeployment
	// until is when it stops writing, if it is cured.
	until time.Time

	// What it wants installed, once that is known.
	chart  *chart.Chart
	values map[string]any
	client *release.Client
	held   *release.Held // of its records, if it is cured
}

func (p *pass) run(ctx context.Context) (ctrl.Result, error) {
	p.bd.Status.ObservedGeneration = p.bd.Generation
	bundle, others, err := p.bundle(ctx)
	if err != nil {
		return ctrl.Result{}, p.content(metav1.ConditionUnknown, v1alpha1.ReconcileFailed, err)
	}
	if bundle.Status.Phase != v1alpha1.PhaseUnpacked {
		p.unpacking(bundle)
		return ctrl.Result{}, nil
	}
	p.set(v1alpha1.HasValidBundle, metav1.ConditionTrue, v1alpha1.UnpackSuccessful, "Successfully unpacked the "+bundle.Name+" Bundle")

	if p.chart, err = p.Store.Load(ctx, bundle); err != nil {
		return ctrl.Result{}, p.content(metav1.ConditionFalse, v1alpha1.BundleLoadFailed, err)
	}
	if p.values, err = values(p.bd); err != nil {
		return ctrl.Result{}, p.failed(v1alpha1.InstallFailed, err)
	}
	if p.policy.cured {
		ctx = release.Until(ctx, p.until)
		p.held = &release.Held{Holder: p.identity, Until: p.until.UTC().Format(time.RFC3339Nano)}
	}
	marks := release.Marks{Known: p.helm.Marked, Owner: owner(p.bd), Labels: map[string]string{
		v1alpha1.OwnerKindLabel: v1alpha1.BundleDeploymentKind, v1alpha1.OwnerNameLabel: p.bd.Name}}
	if p.client, err = p.helm.For(ctx, p.bd.Name, p.Namespace, marks, p.held); err != nil {
		return ctrl.Result{}, p.failed(v1alpha1.ErrorGettingClient, err)
	}
	p.client.CleanUp, p.client.MaxHistory, p.client.Confirm = p.policy.cleanUp, p.policy.maxHistory, p.policy.cured
	p.client.ResetValues = p.policy.cured
	if p.policy.cured {
		p.client.Timeout = time.Until(p.until)
	}

	apply := p.apply
	if p.policy.cured {
		apply = p.applyWhenDue
	}
	installed, result, err := apply(ctx)
	if err != nil || installed == nil {
		return result, err
	}
	if err := p.watch(ctx, installed); err != nil {
		return ctrl.Result{}, p.failed(v1alpha1.CreateDynamicWatchFailed, err)
	}
	p.set(v1alpha1.Installed, metav1.ConditionTrue, v1alpha1.InstallationSucceeded, "Instantiated bundle "+bundle.Name+" successfully")
	p.bd.Status.ActiveBundle = bundle.Name
	return ctrl.Result{}, p.forget(ctx, others)
}

// apply does at once what the release needs, as the original does.
func (p *pass) apply(context.Context) (*helmrelease.Release, ctrl.Result, error) {
	current, state, err := p.client.State(p.chart, p.values)
	if err != nil {
		return nil, ctrl.Result{}, p.failed(v1alpha1.ErrorGettingReleaseState, err)
	}
	reason := v1alpha1.ReconcileFailed
	switch state {
	case release.NeedsInstall:
		reason = v1alpha1.InstallFailed
		current, err = p.client.Install(p.chart, p.values)
	case release.NeedsUpgrade:
		reason = v1alpha1.UpgradeFailed
		current, err = p.client.Upgrade(p.chart, p.values)
	case release.Unchanged:
		err = p.client.Reconcile(current, nil)
	}
	if err != nil {
		return nil, ctrl.Result{}, p.failed(reason, err)
	}
	return current, ctrl.Result{}, nil
}

// watch makes sure that changes of the installed objects wake the operator.
func (p *pass) watch(ctx context.Context, of *helmrelease.Release) error {
	objects, err := release.Objects(strings.NewReader(of.Manifest))
	if err != nil {
		return err
	}
	return p.watches.Begin(ctx, objects)
}

// unpacking writes down how far the Bundle has come. Its own events tell when there is more.
func (p *pass) unpacking(bundle *v1alpha1.Bundle) {
	status, reason, message := metav1.ConditionTrue, v1alpha1.UnpackPending, "Waiting for the "+bundle.Name+" Bundle to be unpacked"
	if c := apimeta.FindStatusCondition(bundle.Status.Conditions, v1alpha1.TypeUnpacked); bundle.Status.Phase == v1alpha1.PhaseFailing {
		status, reason, message = metav1.ConditionFalse, v1alpha1.UnpackFailed, "Failed to unpack the "+bundle.Name+" Bundle"
		if c != nil {
			message = c.Message
		}
	}
	p.set(v1alpha1.HasValidBundle, status, reason, message)
}

// content writes down that there is nothing to install, and why.
func (p *pass) content(status metav1.ConditionStatus, reason string, err error) error {
	p.set(v1alpha1.HasValidBundle, status, reason, err.Error())
	return err
}

// failed writes down that the content is not installed, and why.
func (p *pass) failed(reason string, err error) error {
	if wait := release.Later(0); errors.As(err, &wait) {
		return err
	}
	p.set(v1alpha1.Installed, metav1.ConditionFalse, reason, err.Error())
	return err
}

func (p *pass) set(kind string, status metav1.ConditionStatus, reason, message string) {
	apimeta.SetStatusCondition(&p.bd.Status.Conditions, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: release.Said(message)})
}

// values are what the deployment's config gives the chart.
func values(bd *v1alpha1.BundleDeployment) (map[string]any, error) {
	if len(bd.Spec.Config.Raw) == 0 {
		return map[string]any{}, nil
	}
	var config struct{ Values string }
	if err := json.Unmarshal(bd.Spec.Config.Raw, &config); err != nil {
		return nil, fmt.Errorf("reading the config: %w", err)
	}
	return chartutil.ReadValues([]byte(config.Values))
}
