// This file adds the operator to a manager, and holds one reconcile from beginning to end. Variants
// differ in their policy only.

package clusterextension

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/controllers/internal/release"
)

// DefaultNamespace is where the release records are.
const DefaultNamespace = "olmv1-system"

// Owner is the owner that the release records name.
const Owner = "operator-controller"

// Reconciler installs ClusterExtensions. Fill in the exported fields and call SetupWithManager.
type Reconciler struct {
	// Client is the manager's: it reads from the cache and writes to the server.
	Client client.Client
	// Catalog is where bundles come from.
	Catalog Catalog
	// Variant is the variant to run; the zero value is the fixed one.
	Variant Variant
	// Workers is how many extensions are reconciled at once; 1 if zero.
	Workers int
	// Namespace of the release records; DefaultNamespace if empty.
	Namespace string
	// ChunkSize is how much of a release record fits into one Secret, in bytes; 1 MiB if zero.
	ChunkSize int

	policy   policy
	reads    client.Reader // of extensions
	helm     *release.Clients
	watches  *release.Watches
	identity string // of this process, among all that ever were
}

// ManagerOptions returns the options with what the operator needs of its manager: of all kinds but
// its own the cache holds only what belongs to an extension.
func ManagerOptions(o ctrl.Options) ctrl.Options {
	o.Cache = release.CacheOf(o.Cache, labels.Set{v1.OwnerKindLabel: v1.ClusterExtensionKind}, &v1.ClusterExtension{},
		&v1.ClusterCatalog{})
	return o
}

// SetupWithManager registers the operator. Call it once for each manager.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	var err error
	if r.policy, err = r.Variant.policy(); err != nil {
		return err
	}
	if r.Namespace == "" {
		r.Namespace = DefaultNamespace
	}
	r.identity = string(uuid.NewUUID())
	if r.helm, err = release.NewClients(mgr.GetConfig(), mgr.GetRESTMapper()); err != nil {
		return err
	}
	r.reads = r.Client
	var events []predicate.Predicate
	if r.policy.fenced {
		// As the events of its own status are dropped, a pass that read an old one from the cache
		// could take it for what it was about to write. No event would tell it that the newest
		// status differs.
		r.reads, events = mgr.GetAPIReader(), append(events, notOnlyStatus())
	}
	c, err := ctrl.NewControllerManagedBy(mgr).
		Named("controller-operator-cluster-extension-controller").
		For(&v1.ClusterExtension{}, builder.WithPredicates(events...)).
		Watches(&v1.ClusterCatalog{}, handler.EnqueueRequestsFromMapFunc(r.all), builder.WithPredicates(newContent())).
		WithOptions(controller.Options{MaxConcurrentReconciles: max(1, r.Workers)}).
		Build(r)
	r.watches = release.NewWatches(mgr, c, &v1.ClusterExtension{})
	return err
}

// newContent passes changes of the image that a catalog was resolved to.
func newContent() predicate.Predicate {
	ref := func(o client.Object) string {
		if s := o.(*v1.ClusterCatalog).Status.ResolvedSource; s != nil && s.Image != nil {
			return s.Image.Ref
		}
		return ""
	}
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return ref(e.ObjectOld) != ref(e.ObjectNew) }}
}

// notOnlyStatus drops updates of nothing but the status.
func notOnlyStatus() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() ||
			!slices.Equal(e.ObjectOld.GetFinalizers(), e.ObjectNew.GetFinalizers())
	}}
}

// all returns every extension, because each may need a catalog.
func (r *Reconciler) all(ctx context.Context, _ client.Object) (out []reconcile.Request) {
	var list v1.ClusterExtensionList
	if err := r.Client.List(ctx, &list); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "listing the extensions for a catalog")
		return nil
	}
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Name: list.Items[i].Name}})
	}
	return out
}

// Reconcile makes one pass and writes the changes: the status first, then the finalizers.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	until := time.Now().Add(release.Slice) // what is read from here on may have changed by then
	read := &v1.ClusterExtension{}
	if err := r.reads.Get(ctx, req.NamespacedName, read); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	p := &pass{Reconciler: r, read: read, ext: read.DeepCopy(), until: until}
	err := p.run(ctx)
	var result ctrl.Result
	if wait := release.Later(0); errors.As(err, &wait) {
		result.RequeueAfter, err = time.Duration(wait), nil
	}
	if r.policy.fenced && release.Over(until) { // what it would say may be old
		if errors.Is(err, release.ErrTooLate) {
			err = nil // which is no failure
		}
		return ctrl.Result{RequeueAfter: time.Duration(release.AtOnce)}, err
	}
	if e := p.writeStatus(ctx); e != nil {
		if errors.Is(err, reconcile.TerminalError(nil)) {
			err = nil // it is final once the status says so; until then it is retried
		}
		return result, errors.Join(err, e)
	}
	if !equality.Semantic.DeepEqual(read.Finalizers, p.ext.Finalizers) {
		patch := client.MergeFromWithOptions(read, client.MergeFromWithOptimisticLock{})
		only := read.DeepCopy()
		only.Finalizers = p.ext.Finalizers
		if e := r.Client.Patch(ctx, only, patch); client.IgnoreNotFound(e) != nil {
			return result, errors.Join(err, fmt.Errorf("writing the finalizers: %w", e))
		}
	}
	return result, err
}

// writeStatus writes the status if it has changed.
func (p *pass) writeStatus(ctx context.Context) error {
	if equality.Semantic.DeepEqual(p.read.Status, p.ext.Status) {
		return nil
	}
	written := p.read.DeepCopy()
	written.Status = p.ext.DeepCopy().Status
	if err := p.Client.Status().Update(ctx, written); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	p.read = written
	return nil
}

// owner is the owner reference of everything that is made for an extension.
func owner(ext *v1.ClusterExtension) metav1.OwnerReference {
	return *metav1.NewControllerRef(ext, v1.GroupVersion.WithKind(v1.ClusterExtensionKind))
}
