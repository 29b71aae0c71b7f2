// This file exists to wire the operator into a manager and to show one pass from beginning to end,
// the same for every variant.

package promotion

import (
	"context"
	"errors"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

// Reconciler promotes revisions along pipelines. Fill in the exported fields and call
// SetupWithManager.
type Reconciler struct {
	// Client is the manager's: it reads from the cache and writes to the server.
	Client client.Client
	// HTTP reaches the forge; http.DefaultClient if nil.
	HTTP *http.Client
	// Forge is the base URL of the forge's API; if empty it is the host of a pipeline's repository
	// URL.
	Forge string
	// Dial makes of a kubeconfig how to reach another cluster; clientcmd.RESTConfigFromKubeConfig
	// if nil.
	Dial func(kubeconfig []byte) (*rest.Config, error)
	// Variant is the stage of the story to play; the zero value is the fixed variant.
	Variant Variant
	// Workers is how many pipelines are reconciled at once; one if zero.
	Workers int

	policy policy
	live   client.Reader
	apps   *apps
}

// SetupWithManager registers the operator. Call it once for each manager.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	var err error
	if r.policy, err = r.Variant.policy(); err != nil {
		return err
	}
	if r.HTTP == nil {
		r.HTTP = http.DefaultClient
	}
	if r.Dial == nil {
		r.Dial = clientcmd.RESTConfigFromKubeConfig
	}
	switch r.apps, err = newApps(mgr, r.Dial); {
	case err != nil && r.policy.swallow:
		// as in the original, in which this is surely a slip: the process goes on, and nothing is
		// ever reconciled
		return nil
	case err != nil:
		return err
	}
	r.live = mgr.GetAPIReader()

	var pipelineEvents []predicate.Predicate
	if r.policy.onlySpecChanges {
		pipelineEvents = append(pipelineEvents, predicate.GenerationChangedPredicate{})
	}
	b := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.Pipeline{}, builder.WithPredicates(pipelineEvents...)).
		Watches(newGitopsCluster(), handler.EnqueueRequestsFromMapFunc(r.apps.pipelinesIn)).
		WatchesRawSource(source.Channel(r.apps.events, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: r.Workers})
	if r.policy.guarded {
		b = b.Owns(&v1alpha1.Promotion{}).
			Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.apps.pipelinesBehind))
	}
	return b.Complete(r)
}

// errDue ends a dry pass at the first thing that it would do.
var errDue = errors.New("something is due")

// Reconcile makes one pass. A guarded variant first makes it dry, over the cache, and makes it
// again in earnest, with live reads, only if the dry pass came upon something to do.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	if !r.policy.guarded {
		return r.pass(ctx, req, false)
	}
	result, err := r.pass(ctx, req, true)
	if errors.Is(err, errDue) {
		return r.pass(ctx, req, false)
	}
	return result, err
}

func (r *Reconciler) pass(ctx context.Context, req ctrl.Request, dry bool) (ctrl.Result, error) {
	p, err := r.begin(ctx, req.NamespacedName, dry)
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !p.pipeline.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	complete, err := p.observe(ctx)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := p.write(ctx); err != nil { // targets and Ready
		return ctrl.Result{}, err
	}
	if !complete && r.policy.requeueUnread {
		return p.requeue()
	}

	d := decide(&p.pipeline.Spec, p.pipeline.Status.Environments, r.policy.done)
	p.setPending(d)
	if err := p.write(ctx); err != nil { // PromotionPending
		return ctrl.Result{}, err
	}
	p.setApproval(d)
	if r.policy.guarded {
		return p.promoteGuarded(ctx, d)
	}
	if d.env == nil {
		return ctrl.Result{}, p.write(ctx)
	}
	return ctrl.Result{}, p.promote(ctx, d) // promotion
}

// requeue asks for another pass with back-off.
func (p *pass) requeue() (ctrl.Result, error) {
	if p.dry {
		return ctrl.Result{}, errDue
	}
	//nolint:staticcheck // a rate-limited requeue without an error is what the original asks for
	return ctrl.Result{Requeue: true}, nil
}

// promote carries out a decision without a guard: ask the gate, act, write down the outcome.
func (p *pass) promote(ctx context.Context, d decision) error {
	if gate := p.r.policy.gate; gate != nil {
		if open, err := gate(ctx, p, d); err != nil || !open {
			return err
		}
	}
	// The original asks the environment whether to promote and the pipeline how, and panics if that
	// does not say.
	pr, err := p.carryOut(ctx, p.order(d, (*p.pipeline.Spec.Promotion).Strategy))
	if p.r.policy.record {
		p.record(ctx, d, pr, err)
	} else if err != nil {
		return err
	}
	return p.write(ctx)
}

// notFound tells an absent object from a failed read.
func notFound(err error) (bool, error) {
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return false, err
}
