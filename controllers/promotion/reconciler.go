// This file wires the operator into a manager and shows one pass from beginning to end, the same
// for every variant.

package promotion

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

// Reconciler promotes revisions along pipelines. Fill in its fields, and call SetupWithManager.
type Reconciler struct {
	// Client is the manager's: it reads from the cache and writes to the server.
	Client client.Client
	// HTTP reaches the forge; http.DefaultClient if nil.
	HTTP *http.Client
	// Dial makes of a kubeconfig how to reach another cluster; clientcmd.RESTConfigFromKubeConfig
	// if nil.
	Dial func(kubeconfig []byte) (*rest.Config, error)
	// Variant is the stage of the story to play; the zero value is the fixed variant.
	Variant Variant
	// Workers is how many pipelines are reconciled at once; one if zero.
	Workers int

	policy policy
	live   client.Reader
	caches *caches
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
	if r.caches, err = newCaches(mgr, r.Dial); err != nil {
		return r.policy.setUp(err)
	}
	r.live = mgr.GetAPIReader()
	b := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.Pipeline{}, builder.WithPredicates(r.policy.events...)).
		Watches(newGitopsCluster(), handler.EnqueueRequestsFromMapFunc(r.caches.pipelinesIn)).
		WatchesRawSource(source.Channel(r.caches.events, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: r.Workers})
	if r.policy.guarded {
		b = b.Owns(&v1alpha1.Promotion{}).
			Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.caches.pipelinesBehind))
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

// pass is one look at one pipeline.
type pass struct {
	r *Reconciler
	// dry passes write nothing and act on nothing: they end with errDue instead.
	dry bool
	// live has applications read from the server, and not from their caches.
	live bool
	// reader and untyped read the rest, from the cache or live: with Go types, and without.
	reader, untyped client.Reader

	// pipeline is what this pass makes of it, written the same as it was before the changes not yet
	// written.
	pipeline, written *v1alpha1.Pipeline
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
	switch again := !complete && r.policy.requeueUnread; {
	case again && dry:
		return ctrl.Result{}, errDue
	case again:
		//nolint:staticcheck // the original asks for a rate-limited requeue without an error
		return ctrl.Result{Requeue: true}, nil
	}

	d := decide(&p.pipeline.Spec, p.pipeline.Status.Environments, r.policy.done)
	p.pend(v1alpha1.EnvironmentNotReadyReason, d.Pending)
	if err := p.write(ctx); err != nil { // PromotionPending
		return ctrl.Result{}, err
	}
	p.setApproval(d)
	return r.policy.promote(ctx, p, d)
}

// begin reads the pipeline. Only the earnest pass of a guarded variant reads live.
func (r *Reconciler) begin(ctx context.Context, key types.NamespacedName, dry bool) (*pass, error) {
	p := &pass{r: r, dry: dry, reader: r.Client, untyped: r.caches.cache, pipeline: &v1alpha1.Pipeline{}}
	if p.live = r.policy.guarded && !dry; p.live {
		p.reader, p.untyped = r.live, r.live
	}
	if err := p.reader.Get(ctx, key, p.pipeline); err != nil {
		return nil, err
	}
	p.written = p.pipeline.DeepCopy()
	return p, nil
}

// observe reads every target and sets the first part of the status. It reports whether every target
// could be read.
func (p *pass) observe(ctx context.Context) (bool, error) {
	spec, status := &p.pipeline.Spec, &p.pipeline.Status
	seen, complete := environments{}, true
	for i := range spec.Environments {
		env := &spec.Environments[i]
		now := &v1alpha1.EnvironmentStatus{}
		if before := status.Environments[env.Name]; before != nil {
			now.WaitingApproval, now.Promotion = before.WaitingApproval, before.Promotion
		}
		for _, target := range env.Targets {
			read, ok, err := p.target(ctx, target)
			if err != nil {
				return false, err
			}
			now.Targets = append(now.Targets, read)
			complete = complete && ok
		}
		seen[env.Name] = now
	}

	ready := metav1.Condition{Type: v1alpha1.ReadyCondition, Status: metav1.ConditionTrue,
		Reason: v1alpha1.ReconciliationSucceededReason, Message: "All targets were read"}
	if !complete {
		ready.Status, ready.Reason = metav1.ConditionFalse, v1alpha1.TargetNotReadableReason
		ready.Message = "One or more targets could not be read"
	}
	if p.r.policy.stamp {
		ready.Message += " at " + time.Now().UTC().Format(time.RFC3339Nano)
	}
	status.ObservedGeneration = p.pipeline.Generation
	status.Environments = seen
	apimeta.SetStatusCondition(&status.Conditions, ready)
	if p.r.policy.guarded && complete {
		p.countEpisode()
	}
	return complete, nil
}

// pend sets the PromotionPending condition. Without a message it removes it, if it is there for the
// given reason.
func (p *pass) pend(reason, message string) {
	status := &p.pipeline.Status
	c := apimeta.FindStatusCondition(status.Conditions, v1alpha1.PromotionPendingCondition)
	switch {
	case message != "":
		apimeta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: v1alpha1.PromotionPendingCondition,
			Status: metav1.ConditionTrue, Reason: reason, Message: message})
	case c != nil && c.Reason == reason:
		apimeta.RemoveStatusCondition(&status.Conditions, v1alpha1.PromotionPendingCondition)
	}
}

// setApproval marks the environment that waits for a person, and no other.
func (p *pass) setApproval(d decision) {
	for name, env := range p.pipeline.Status.Environments {
		env.WaitingApproval = nil
		if d.Approval != nil && d.Approval.Name == name {
			env.WaitingApproval = &v1alpha1.WaitingApproval{Revision: d.Revision}
		}
	}
}

// write sends what this pass has changed in the status since the last write. A guarded variant
// binds it to the resourceVersion that it knows and continues from the server's reply. The others
// send the difference without a precondition.
func (p *pass) write(ctx context.Context) error {
	if equality.Semantic.DeepEqual(p.written.Status, p.pipeline.Status) {
		return nil
	}
	if p.dry {
		return errDue
	}
	if !p.r.policy.guarded {
		_, err := p.patch(ctx, client.MergeFrom(p.written))
		return err
	}
	reply, err := p.patch(ctx, client.MergeFromWithOptions(p.written, client.MergeFromWithOptimisticLock{}))
	if err == nil {
		p.pipeline.ResourceVersion, p.written.ResourceVersion = reply.ResourceVersion, reply.ResourceVersion
	}
	return err
}

// patch sends the difference between what was written and what is in memory.
func (p *pass) patch(ctx context.Context, kind client.Patch) (*v1alpha1.Pipeline, error) {
	reply := p.pipeline.DeepCopy() // the client overwrites what it is given with the server's reply
	if err := p.r.Client.Status().Patch(ctx, reply, kind); err != nil {
		return nil, fmt.Errorf("writing the status of pipeline %s/%s: %w", reply.Namespace, reply.Name, err)
	}
	p.written = p.pipeline.DeepCopy()
	return reply, nil
}
