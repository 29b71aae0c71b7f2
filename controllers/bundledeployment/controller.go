// This file holds the controller: how it is set up, and one reconcile from beginning to end. Where
// the variants differ it asks their policy.

package bundledeployment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/controllers/bundledeployment/v1alpha1"
	"github.com/wavetank/wavetank/controllers/internal/release"
)

// ProvisionerID is the provisioner class that this operator serves: content that is a chart.
const ProvisionerID = "core-rukpak-io-helm"

// DefaultNamespace is where the release records are, and the namespace of objects that name none.
const DefaultNamespace = "rukpak-system"

// Store holds what bundles have been unpacked to.
type Store interface {
	// Load is the chart of an unpacked bundle. It is not changed by its user.
	Load(ctx context.Context, bundle *v1alpha1.Bundle) (*chart.Chart, error)
}

// Reconciler installs BundleDeployments. Fill in the exported fields and call SetupWithManager.
type Reconciler struct {
	// Client is the manager's: it reads from the cache and writes to the server.
	Client client.Client
	// Store holds the unpacked bundles.
	Store Store
	// Variant is the variant to run; the zero value is the fixed one.
	Variant Variant
	// Workers is how many deployments are reconciled at once; as the variant has it if zero.
	Workers int
	// Namespace of the release records; DefaultNamespace if empty.
	Namespace string
	// KeepRemains leaves what a failed first install has made where it is. Only the fixed variant
	// asks: V0 to V2 always remove it, V3 never does.
	KeepRemains bool

	policy   policy
	reads    client.Reader // of deployments
	helm     *release.Clients
	watches  *release.Watches
	identity string                                        // of this process among all that ever were, if fixed
	requeues workqueue.TypedRateLimiter[reconcile.Request] // how often reconciles have failed in a row
}

// ManagerOptions returns the options with what the operator needs of its manager: of all kinds but
// its own the cache holds only what belongs to a deployment.
func ManagerOptions(o ctrl.Options) ctrl.Options {
	o.Cache = release.CacheOf(o.Cache, labels.Set{v1alpha1.OwnerKindLabel: v1alpha1.BundleDeploymentKind},
		&v1alpha1.BundleDeployment{}, &v1alpha1.Bundle{})
	return o
}

// SetupWithManager registers the operator. Call it once for each manager.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	var err error
	if r.policy, err = r.Variant.policy(); err != nil {
		return err
	}
	r.reads = r.Client
	if r.policy.fixed {
		r.reads, r.identity = mgr.GetAPIReader(), string(uuid.NewUUID()) // see fix.go
	}
	if r.Workers == 0 {
		r.Workers = r.policy.workers
	}
	if r.Namespace == "" {
		r.Namespace = DefaultNamespace
	}
	if r.helm, err = release.NewClients(mgr.GetConfig(), mgr.GetRESTMapper()); err != nil {
		return err
	}

	events := []predicate.Predicate{predicate.NewPredicateFuncs(func(o client.Object) bool {
		return o.(*v1alpha1.BundleDeployment).Spec.ProvisionerClassName == ProvisionerID
	})}
	if r.policy.onlySpecChanges {
		events = append(events, predicate.GenerationChangedPredicate{})
	}
	r.requeues = workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstDelay, maxDelay)
	c, err := ctrl.NewControllerManagedBy(mgr).
		Named("controller.bundledeployment."+ProvisionerID).
		For(&v1alpha1.BundleDeployment{}, builder.WithPredicates(events...)).
		Watches(&v1alpha1.Bundle{}, handler.EnqueueRequestsFromMapFunc(deploymentOf)).
		WithOptions(controller.Options{MaxConcurrentReconciles: r.Workers, RateLimiter: r.requeues}).
		Build(r)
	r.watches = release.NewWatches(mgr, c, &v1alpha1.BundleDeployment{})
	return err
}

// deploymentOf is the deployment that a Bundle was made for.
func deploymentOf(_ context.Context, bundle client.Object) []reconcile.Request {
	name := bundle.GetLabels()[v1alpha1.OwnerNameLabel]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: name}}}
}

// Reconcile reconciles a deployment and writes what has changed: the status first, then the rest.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	until := time.Now().Add(release.Slice) // what is read from here on may have changed by then
	read := &v1alpha1.BundleDeployment{}
	if err := r.reads.Get(ctx, req.NamespacedName, read); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !read.DeletionTimestamp.IsZero() || r.policy.fixed && read.Spec.ProvisionerClassName != ProvisionerID {
		return ctrl.Result{}, nil
	}
	p := &pass{Reconciler: r, req: req, bd: read.DeepCopy(), until: until}
	result, err := p.run(ctx)
	if r.policy.fixed && release.Over(until) {
		return ctrl.Result{RequeueAfter: time.Duration(release.AtOnce)}, err // what it would write may be old
	}
	if !equality.Semantic.DeepEqual(read.Status, p.bd.Status) {
		if e := r.Client.Status().Update(ctx, p.bd); e != nil {
			return result, errors.Join(err, fmt.Errorf("writing the status: %w", e))
		}
	}
	read.Status, p.bd.Status = v1alpha1.BundleDeploymentStatus{}, v1alpha1.BundleDeploymentStatus{}
	read.ResourceVersion, read.ManagedFields = p.bd.ResourceVersion, p.bd.ManagedFields
	if !equality.Semantic.DeepEqual(read, p.bd) {
		if e := r.Client.Update(ctx, p.bd); e != nil {
			return result, errors.Join(err, fmt.Errorf("writing the deployment: %w", e))
		}
	}
	return result, err
}

// owner is the owner reference of everything that is made for a deployment.
func owner(bd *v1alpha1.BundleDeployment) metav1.OwnerReference {
	return *metav1.NewControllerRef(bd, v1alpha1.GroupVersion.WithKind(v1alpha1.BundleDeploymentKind))
}

// pass is one reconcile of one deployment.
type pass struct {
	*Reconciler
	req   ctrl.Request
	bd    *v1alpha1.BundleDeployment // with what this reconcile changes
	until time.Time                  // when the fixed variant stops writing

	// What is wanted, once that is known, and the client that installs it.
	chart  *chart.Chart
	values map[string]any
	client *release.Client
	held   *release.Held // its records
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
	p.set(v1alpha1.HasValidBundle, metav1.ConditionTrue, v1alpha1.UnpackSuccessful,
		"Successfully unpacked the "+bundle.Name+" Bundle")

	if p.chart, err = p.Store.Load(ctx, bundle); err != nil {
		return ctrl.Result{}, p.content(metav1.ConditionFalse, v1alpha1.BundleLoadFailed, err)
	}
	if p.values, err = values(p.bd); err != nil {
		return ctrl.Result{}, p.failed(v1alpha1.InstallFailed, err)
	}
	if err := p.connect(ctx); err != nil {
		return ctrl.Result{}, p.failed(v1alpha1.ErrorGettingClient, err)
	}
	installed, result, err := p.policy.apply(p, ctx)
	if err != nil || installed == nil {
		return result, err
	}
	if err := p.watches.Begin(installed); err != nil { // changes of the installed objects wake the operator
		return ctrl.Result{}, p.failed(v1alpha1.CreateDynamicWatchFailed, err)
	}
	p.set(v1alpha1.Installed, metav1.ConditionTrue, v1alpha1.InstallationSucceeded,
		"Instantiated bundle "+bundle.Name+" successfully")
	p.bd.Status.ActiveBundle = bundle.Name
	return ctrl.Result{}, p.forget(ctx, others)
}

// connect makes the client of this reconcile.
func (p *pass) connect(ctx context.Context) (err error) {
	marks := release.Marks{Owner: owner(p.bd), Labels: map[string]string{
		v1alpha1.OwnerKindLabel: v1alpha1.BundleDeploymentKind, v1alpha1.OwnerNameLabel: p.bd.Name}}
	of := release.Client{Name: p.bd.Name, Namespace: p.Namespace, Marks: marks, CleanUp: p.policy.cleanUp,
		MaxHistory: p.policy.maxHistory}
	if p.policy.fixed {
		of.Holder = release.Holder{Name: p.identity, Until: p.until}
	}
	p.held = &release.Held{}
	p.client, err = p.helm.For(ctx, of, p.Namespace, p.held)
	return err
}

// unpacking writes into the status how far the Bundle has come. Events of the Bundle bring the
// deployment back.
func (p *pass) unpacking(bundle *v1alpha1.Bundle) {
	if bundle.Status.Phase != v1alpha1.PhaseFailing {
		p.set(v1alpha1.HasValidBundle, metav1.ConditionTrue, v1alpha1.UnpackPending,
			"Waiting for the "+bundle.Name+" Bundle to be unpacked")
		return
	}
	message := "Failed to unpack the " + bundle.Name + " Bundle"
	if c := apimeta.FindStatusCondition(bundle.Status.Conditions, v1alpha1.TypeUnpacked); c != nil {
		message = c.Message
	}
	p.set(v1alpha1.HasValidBundle, metav1.ConditionFalse, v1alpha1.UnpackFailed, message)
}

// content writes into the status that there is nothing to install, and why.
func (p *pass) content(status metav1.ConditionStatus, reason string, err error) error {
	p.set(v1alpha1.HasValidBundle, status, reason, err.Error())
	return err
}

// failed writes into the status why the content is not installed.
func (p *pass) failed(reason string, err error) error {
	if wait := release.Later(0); !errors.As(err, &wait) {
		p.set(v1alpha1.Installed, metav1.ConditionFalse, reason, err.Error())
	}
	return err
}

func (p *pass) set(kind string, status metav1.ConditionStatus, reason, message string) {
	apimeta.SetStatusCondition(&p.bd.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: release.Said(message)})
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
