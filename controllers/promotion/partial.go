// This file is about the variants before the fixed one: how they promote, and what the partial
// fixes put between deciding and promoting.

package promotion

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

// promoteOnce carries out a decision without a guard: ask the gate, act, write down the outcome.
func promoteOnce(ctx context.Context, p *pass, d decision) (ctrl.Result, error) {
	if d.Env == nil {
		return ctrl.Result{}, p.write(ctx)
	}
	if gate := p.r.policy.gate; gate != nil {
		if open, err := gate(ctx, p, d); err != nil || !open {
			return ctrl.Result{}, err
		}
	}
	// The original asks the environment whether to promote and the pipeline how, and panics if that
	// does not say.
	o := newOrder(p.pipeline, d.Env.Name, d.Revision, (*p.pipeline.Spec.Promotion).Strategy)
	pr, err := p.r.give(ctx, o)
	if err := p.r.policy.ended(ctx, p, d, pr, err); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, p.write(ctx)
}

// outcome takes in how a promotion ended.
type outcome func(ctx context.Context, p *pass, d decision, pr *v1alpha1.PullRequest, err error) error

// forget keeps nothing (V0): an error ends the pass.
func forget(_ context.Context, _ *pass, _ decision, _ *v1alpha1.PullRequest, err error) error {
	return err
}

// record (V1a) puts the outcome into the status. As in the original the error itself is only
// logged.
func record(ctx context.Context, p *pass, d decision, pr *v1alpha1.PullRequest, err error) error {
	if err != nil {
		log.FromContext(ctx).Error(err, "promoting", "environment", d.Env.Name, "revision", d.Revision)
	}
	now := metav1.NewTime(time.Now())
	p.pipeline.Status.Environments[d.Env.Name].Promotion = &v1alpha1.PromotionRecord{
		Revision: d.Revision, LastAttemptedTime: &now, Succeeded: err == nil, PullRequest: pr,
	}
	return nil
}

// swallow ignores an error of the set-up, as the original does: the process continues, and nothing
// is ever reconciled.
func swallow(error) error { return nil }

// gate reports whether a decision may be carried out.
type gate func(ctx context.Context, p *pass, d decision) (bool, error)

// readRecordLive (V4) asks the server instead of the cache whether the promotion is recorded.
func readRecordLive(ctx context.Context, p *pass, d decision) (bool, error) {
	live := &v1alpha1.Pipeline{}
	if err := p.r.live.Get(ctx, client.ObjectKeyFromObject(p.pipeline), live); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	env := live.Status.Environments[d.Env.Name]
	return live.UID == p.pipeline.UID && (env == nil || !recorded(env, d.Revision)), nil
}

// recordIntent (V6) writes the record first, bound to the resourceVersion that this pass read. If
// anyone has written since, the pass ends with a conflict and promotes nothing.
func recordIntent(ctx context.Context, p *pass, d decision) (bool, error) {
	now := metav1.NewTime(time.Now())
	p.pipeline.Status.Environments[d.Env.Name].Promotion = &v1alpha1.PromotionRecord{
		Revision: d.Revision, LastAttemptedTime: &now,
	}
	_, err := p.patch(ctx, client.MergeFromWithOptions(p.written, client.MergeFromWithOptimisticLock{}))
	return err == nil, err
}

// createGuardOnce (V7) creates a guard object that only one pass can create. It is never read
// again.
func createGuardOnce(ctx context.Context, p *pass, d decision) (bool, error) {
	err := p.r.Client.Create(ctx, newGuard(p.pipeline, d.Env.Name, d.Revision, 0))
	if apierrors.IsAlreadyExists(err) {
		return false, nil
	}
	return err == nil, err
}
