// This file exists for what one pass holds in memory: the pipeline as it was read, what was seen of
// its targets, and what has been written of it so far.

package promotion

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

// pass is one look at one pipeline.
type pass struct {
	r *Reconciler
	// dry passes write nothing and act on nothing: they end with errDue instead.
	dry bool
	// live passes read everything from the server.
	live bool
	// reader reads what has Go types, appReader what has none: from the cache or live.
	reader, appReader client.Reader

	// pipeline is what this pass makes of it, written the same as it was before the changes not yet
	// written.
	pipeline, written *v1alpha1.Pipeline
}

// begin reads the pipeline. Only the earnest pass of a guarded variant reads live.
func (r *Reconciler) begin(ctx context.Context, key types.NamespacedName, dry bool) (*pass, error) {
	p := &pass{r: r, dry: dry, reader: r.Client, appReader: r.apps.cache, pipeline: &v1alpha1.Pipeline{}}
	if r.policy.guarded && !dry {
		p.live, p.reader, p.appReader = true, r.live, r.live
	}
	if err := p.reader.Get(ctx, key, p.pipeline); err != nil {
		return nil, err
	}
	p.written = p.pipeline.DeepCopy()
	return p, nil
}

// observe reads every target and sets the first part of the status. It says whether every target
// could be read.
func (p *pass) observe(ctx context.Context) (bool, error) {
	spec, status := &p.pipeline.Spec, &p.pipeline.Status
	seen := environments{}
	complete := true
	for i := range spec.Environments {
		env := &spec.Environments[i]
		now := &v1alpha1.EnvironmentStatus{}
		if before := status.Environments[env.Name]; before != nil {
			now.WaitingApproval, now.Promotion = before.WaitingApproval, before.Promotion
		}
		for _, target := range env.Targets {
			read, ok, err := p.readTarget(ctx, target)
			if err != nil {
				return false, err
			}
			now.Targets = append(now.Targets, read)
			complete = complete && ok
		}
		seen[env.Name] = now
	}

	ready := metav1.Condition{
		Type:    v1alpha1.ReadyCondition,
		Status:  metav1.ConditionTrue,
		Reason:  v1alpha1.ReconciliationSucceededReason,
		Message: "All targets were read",
	}
	if !complete {
		ready.Status = metav1.ConditionFalse
		ready.Reason = v1alpha1.TargetNotReadableReason
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

// readTarget reads one target. An application that is missing, or of a kind whose cache has not
// caught up, is no error but something to write down; ok is false then.
func (p *pass) readTarget(ctx context.Context, target v1alpha1.Target) (status v1alpha1.TargetStatus, ok bool,
	err error) {
	ref := p.pipeline.Spec.AppRef
	status.ClusterAppRef = v1alpha1.ClusterAppReference{LocalAppReference: ref, ClusterRef: target.ClusterRef}
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		status.Error = err.Error()
		return status, false, nil
	}
	app := &unstructured.Unstructured{}
	app.SetGroupVersionKind(gv.WithKind(ref.Kind))

	// The watch is wanted in any case, because it wakes this controller; what it has seen so far
	// matters only to those that read from it.
	at := place{clusterOf(p.pipeline, target), app.GroupVersionKind()}
	from, trouble, err := p.lookAt(ctx, at)
	if err != nil || trouble != "" {
		status.Error = trouble
		return status, false, err
	}
	synced, err := p.r.apps.watch(ctx, at, from)
	if err != nil {
		return status, false, err
	}
	var reader client.Reader = from.cached
	if p.live {
		reader = from.live
	} else if !synced {
		status.Error = fmt.Sprintf("the cache of %s is not synced yet", ref.Kind)
		return status, false, nil
	}
	missing, err := notFound(reader.Get(ctx, types.NamespacedName{Namespace: target.Namespace, Name: ref.Name}, app))
	if err != nil {
		return status, false, err
	}
	if missing {
		status.Error = fmt.Sprintf("%s %s/%s does not exist", ref.Kind, target.Namespace, ref.Name)
		return status, false, nil
	}
	describe(&status, app)
	return status, true, nil
}

// describe fills in what an application says of itself, in the manner of Flux: a Ready condition
// and the last applied revision. Ready without a revision is not usable, and is said to be so.
func describe(status *v1alpha1.TargetStatus, app *unstructured.Unstructured) {
	status.Ready = isReady(app)
	status.Revision, _, _ = unstructured.NestedString(app.Object, "status", "lastAppliedRevision")
	if status.Ready && status.Revision == "" {
		status.Ready = false
		status.Error = "the application is ready but names no lastAppliedRevision"
	}
}

// setPending sets or removes the reason why nothing can be promoted yet.
func (p *pass) setPending(d decision) {
	status := &p.pipeline.Status
	if d.pending != "" {
		apimeta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type:    v1alpha1.PromotionPendingCondition,
			Status:  metav1.ConditionTrue,
			Reason:  v1alpha1.EnvironmentNotReadyReason,
			Message: d.pending,
		})
		return
	}
	p.clearPending(v1alpha1.EnvironmentNotReadyReason)
}

// clearPending removes the PromotionPending condition if it is there for the given reason.
func (p *pass) clearPending(reason string) {
	status := &p.pipeline.Status
	c := apimeta.FindStatusCondition(status.Conditions, v1alpha1.PromotionPendingCondition)
	if c != nil && c.Reason == reason {
		apimeta.RemoveStatusCondition(&status.Conditions, v1alpha1.PromotionPendingCondition)
	}
}

// setApproval marks the environment that waits for a person, and no other.
func (p *pass) setApproval(d decision) {
	for name, env := range p.pipeline.Status.Environments {
		env.WaitingApproval = nil
		if d.approval != nil && d.approval.Name == name {
			env.WaitingApproval = &v1alpha1.WaitingApproval{Revision: d.revision}
		}
	}
}

// record puts the outcome of a promotion into the status. As in the original the error itself is
// only logged.
func (p *pass) record(ctx context.Context, d decision, pr *v1alpha1.PullRequest, err error) {
	if err != nil {
		log.FromContext(ctx).Error(err, "promoting", "environment", d.env.Name, "revision", d.revision)
	}
	now := metav1.NewTime(time.Now())
	p.pipeline.Status.Environments[d.env.Name].Promotion = &v1alpha1.PromotionRecord{
		Revision:          d.revision,
		LastAttemptedTime: &now,
		Succeeded:         err == nil,
		PullRequest:       pr,
	}
}

// write sends what this pass has changed in the status since the last write, and nothing if there
// is nothing. A guarded variant binds it to the resourceVersion that it knows and goes on from the
// server's reply; the others send the bare difference, and keep the resourceVersion that they began
// with.
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
	if err != nil {
		return err
	}
	p.pipeline.ResourceVersion = reply.ResourceVersion
	p.written.ResourceVersion = reply.ResourceVersion
	return nil
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
