// This file holds the decision of a pass, and how the variants before the fixed one carry it out.

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

// decision is the outcome of looking at one pipeline.
type decision struct {
	// Pending says why no revision can be promoted yet; empty when there is one.
	Pending string
	// Revision is the common revision of the first environment.
	Revision string
	// Env is the environment to promote, nil when there is none.
	Env *v1alpha1.Environment
	// Approval is the environment that waits for a person, nil when there is none.
	Approval *v1alpha1.Environment
}

// environments is the status of the environments by name.
type environments map[string]*v1alpha1.EnvironmentStatus

// done reports whether an environment that does not run a revision yet needs no promotion to it
// any more.
type done func(env *v1alpha1.EnvironmentStatus, revision string) bool

// decide finds the first environment, in order, that does not run what the first one runs. It never
// looks past it: a later environment gets a revision only after every earlier one has proved it.
func decide(spec *v1alpha1.PipelineSpec, status environments, done done) decision {
	if len(spec.Environments) == 0 {
		return decision{Pending: "The pipeline has no environments"}
	}
	first := status[spec.Environments[0].Name]
	revision := commonRevision(first)
	if revision == "" {
		return decision{Pending: "Waiting for all targets to have the same revision"}
	}
	if !allReady(first) {
		return decision{Pending: "Waiting for all targets to be ready"}
	}
	for i := range spec.Environments[1:] {
		env := &spec.Environments[i+1]
		seen := status[env.Name]
		if allRun(seen, revision) && allReady(seen) {
			continue
		}
		policy := spec.PolicyFor(env)
		switch {
		case policy == nil || done(seen, revision):
			return decision{Revision: revision}
		case policy.Manual:
			return decision{Revision: revision, Approval: env}
		}
		return decision{Revision: revision, Env: env}
	}
	return decision{Revision: revision}
}

// anyTargetRuns takes a target that runs the revision as a sign that it was promoted. The rule of
// the original.
func anyTargetRuns(env *v1alpha1.EnvironmentStatus, revision string) bool {
	for _, target := range env.Targets {
		if target.Revision == revision {
			return true
		}
	}
	return false
}

// recorded takes the record's word for it, whether the promotion succeeded or not.
func recorded(env *v1alpha1.EnvironmentStatus, revision string) bool {
	return env.Promotion != nil && env.Promotion.Revision == revision
}

// never leaves the question to the guard.
func never(*v1alpha1.EnvironmentStatus, string) bool { return false }

func commonRevision(env *v1alpha1.EnvironmentStatus) string {
	if len(env.Targets) == 0 || !allRun(env, env.Targets[0].Revision) {
		return ""
	}
	return env.Targets[0].Revision
}

func allRun(env *v1alpha1.EnvironmentStatus, revision string) bool {
	for _, target := range env.Targets {
		if target.Revision != revision {
			return false
		}
	}
	return true
}

func allReady(env *v1alpha1.EnvironmentStatus) bool {
	for _, target := range env.Targets {
		if !target.Ready {
			return false
		}
	}
	return true
}
