// This file exists to wire the operator into a manager and to show one pass from beginning to end,
// the same for every variant.

package bundledeployment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
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
	// Variant is the stage of the story to play; the zero value is the full cure.
	Variant Variant
	// Workers is how many deployments are reconciled at once; as the variant has it if zero.
	Workers int
	// Namespace of the release records; DefaultNamespace if empty.
	Namespace string
	// KeepRemains leaves what a failed first install has made where it is. Only the full cure asks:
	// V0 to V2 always remove it, V3 never does.
	KeepRemains bool

	policy  policy
	reads   client.Reader // of deployments
	helm    *release.Clients
	watches *release.Watches
	// identity is this process, among all that ever were, if it is cured.
	identity string
}

// ManagerOptions returns the options with what the operator needs of its manager: of all kinds but
// its own the cache holds only what belongs to a deployment.
func ManagerOptions(o ctrl.Options) ctrl.Options {
	everything := cache.ByObject{Label: labels.Everything()}
	o.Cache.ByObject = map[client.Object]cache.ByObject{&v1alpha1.BundleDeployment{}: everything, &v1alpha1.Bundle{}: everything}
	o.Cache.DefaultLabelSelector = labels.SelectorFromSet(labels.Set{v1alpha1.OwnerKindLabel: v1alpha1.BundleDeploymentKind})
	return o
}

// SetupWithManager registers the operator. Call it once for each manager.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	var err error
	if r.policy, err = r.Variant.policy(); err != nil {
		return err
	}
	r.reads = r.Client
	if r.policy.cured {
		r.reads, r.identity = mgr.GetAPIReader(), string(uuid.NewUUID()) // see cure.go
	}
	if r.Workers == 0 {
		r.Workers = r.policy.workers
	}
	if r.Namespace == "" {
		r.Namespace = DefaultNamespace
	}
	if r.helm, err = release.NewClients(release.Fenced(mgr.GetConfig()), mgr.GetRESTMapper()); err != nil {
		return err
	}

	events := []predicate.Predicate{predicate.NewPredicateFuncs(func(o client.Object) bool {
		return o.(*v1alpha1.BundleDeployment).Spec.ProvisionerClassName == ProvisionerID
	})}
	if r.policy.onlySpecChanges {
		events = append(events, predicate.GenerationChangedPredicate{})
	}
	c, err := ctrl.NewControllerManagedBy(mgr).
		Named("controller.bundledeployment."+ProvisionerID).
		For(&v1alpha1.BundleDeployment{}, builder.WithPredicates(events...)).
		Watches(&v1alpha1.Bundle{}, handler.EnqueueRequestsFromMapFunc(deploymentOf)).
		WithOptions(controller.Options{MaxConcurrentReconciles: r.Workers}).
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

// Reconcile makes one pass and writes down what has changed: the status first, then the rest.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	until := time.Now().Add(release.Slice) // what is read from here on may have changed by then
	read := &v1alpha1.BundleDeployment{}
	if err := r.reads.Get(ctx, req.NamespacedName, read); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !read.DeletionTimestamp.IsZero() || r.policy.cured && read.Spec.ProvisionerClassName != ProvisionerID {
		return ctrl.Result{}, nil
	}
	p := &pass{Reconciler: r, bd: read.DeepCopy(), until: until}
	result, err := p.run(ctx)
	if r.policy.cured && release.Over(until) {
		return ctrl.Result{RequeueAfter: time.Duration(release.AtOnce)}, err // what it would say may be old
	}
	if !equality.Semantic.DeepEqual(read.Status, p.bd.Status) {
		if e := r.Client.Status().Update(ctx, p.bd); e != nil {
			return result, errors.Join(err, fmt.Errorf("writing the status: %w", e))
		}
	}
	read.Status, p.bd.Status = v1alpha1.BundleDeploymentStatus{}, v1alpha1.BundleDeploymentStatus{}
	read.ResourceVersion = p.bd.ResourceVersion
	read.ManagedFields = p.bd.ManagedFields
	if !equality.Semantic.DeepEqual(read, p.bd) {
		if e := r.Client.Update(ctx, p.bd); e != nil {
			return result, errors.Join(err, fmt.Errorf("writing the deployment: %w", e))
		}
	}
	return result, err
}

// owner is what everything that is made for a deployment says of whose it is.
func owner(bd *v1alpha1.BundleDeployment) metav1.OwnerReference {
	return *metav1.NewControllerRef(bd, v1alpha1.GroupVersion.WithKind(v1alpha1.BundleDeploymentKind))
}
