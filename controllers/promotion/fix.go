// This file holds the fixed variant (V8): a promotion that takes effect once in spite of stale
// reads, lost replies, repetition and crashes. Copy it with reconciler.go and withdraw.go.

package promotion

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

const (
	// firstRetry and lastRetry bound the time between two attempts; it doubles from one to the
	// other.
	firstRetry = 2 * time.Second
	lastRetry  = 2 * time.Minute
	// asking begins the message of a guard whose receiver cannot be asked.
	asking = "asking for the outcome of an earlier attempt: "
)

// countEpisode begins a new episode if the first environment runs another revision. The number is
// written at the resourceVersion that was read, and targets are read live after the pipeline. So
// each recorded episode was a real stay, differs from the one before it, and has its own number. A
// stay that was too short to be seen gets no episode, because nothing was promoted in it.
func (p *pass) countEpisode() {
	status, spec := &p.pipeline.Status, &p.pipeline.Spec
	if len(spec.Environments) == 0 {
		return
	}
	revision := commonRevision(status.Environments[spec.Environments[0].Name])
	before := ptr.Deref(status.Episode, v1alpha1.Episode{})
	if revision != "" && revision != before.Revision {
		status.Episode = &v1alpha1.Episode{Number: before.Number + 1, Revision: revision}
	}
}

// promoteGuarded carries out a decision through its guard, shows the guard's state in the
// pipeline's status, and tidies the guards of past episodes.
func promoteGuarded(ctx context.Context, p *pass, d decision) (ctrl.Result, error) {
	var guard *v1alpha1.Promotion
	var wait time.Duration
	var err error
	if d.Env == nil {
		p.pend(v1alpha1.PromotionFailedReason, "")
	} else if guard, err = p.guard(ctx, d); err == nil {
		wait, err = p.drive(ctx, d, guard)
	}
	if errors.Is(err, errDue) {
		return ctrl.Result{}, err
	}
	// The state of the attempt is written, and outdated orders are withdrawn, even if the attempt
	// itself failed. They may go to different forges.
	err = errors.Join(err, p.write(ctx))
	if errors.Is(err, errDue) {
		return ctrl.Result{}, err
	}
	late, untidy := p.tidyGuards(ctx, p.turns(d, guard))
	return ctrl.Result{RequeueAfter: sooner(wait, late)}, errors.Join(err, untidy)
}

// sooner is the shorter of two waits; zero is none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return a + b
	}
	return min(a, b)
}

// drive brings a promotion as far as it can go now, and says how long to wait before the next
// attempt is allowed.
func (p *pass) drive(ctx context.Context, d decision, guard *v1alpha1.Promotion) (time.Duration, error) {
	defer p.project(guard)
	if final(guard) {
		return 0, nil
	}
	if p.dry {
		return 0, errDue
	}

	wanted := &p.pipeline.Spec.PolicyFor(d.Env).Strategy
	o := p.keyed(d, guard, cmp.Or(guard.Status.Strategy, wanted))
	if guard.Status.Attempts > 0 {
		// An attempt was claimed before. Only the forge knows its outcome.
		found, pr, err := p.r.find(ctx, p.reader, o)
		if err != nil {
			return 0, p.cannotAsk(ctx, guard, err)
		}
		if found {
			return 0, p.confirm(ctx, guard, p.r.policy.found(pr))
		}
		if wait := untilNextAttempt(guard); wait > 0 {
			return wait, nil
		}
		if !equality.Semantic.DeepEqual(&o.Strategy, wanted) {
			if wait := untilLost(guard); wait > 0 {
				return wait, p.lingers(ctx, guard)
			}
			o = p.keyed(d, guard, wanted)
		}
	}
	return p.attempt(ctx, guard, o)
}

// keyed is the order that a guard stands for.
func (p *pass) keyed(d decision, guard *v1alpha1.Promotion, strategy *v1alpha1.Strategy) order {
	o := newOrder(p.pipeline, d.Env.Name, d.Revision, *strategy)
	o.Branch = guard.Name // a branch of its own: a late order must not take over a newer revision's pull request
	o.IdempotencyKey = guard.Name
	o.Episode = guard.Spec.Episode
	return o
}

// lingers records in a guard that the pipeline names another receiver, which gets no order while an
// earlier one may still arrive at the first: both would carry it out.
func (p *pass) lingers(ctx context.Context, guard *v1alpha1.Promotion) error {
	const why = "an earlier attempt went elsewhere, and may still arrive there: waiting until it is found or cannot " +
		"any more"
	if guard.Status.Message == why {
		return nil
	}
	return p.writeGuard(ctx, guard, func(s *v1alpha1.PromotionStatus) { s.Message = why })
}

// cannotAsk records in a guard that the outcome of its attempts is unknown, and why. It does so
// once, because each write would wake this controller again.
func (p *pass) cannotAsk(ctx context.Context, guard *v1alpha1.Promotion, why error) error {
	why = fmt.Errorf(asking+"%w", why)
	if strings.HasPrefix(guard.Status.Message, asking) {
		return why
	}
	return errors.Join(why, p.writeGuard(ctx, guard, func(s *v1alpha1.PromotionStatus) { s.Message = why.Error() }))
}

// attempt claims the next attempt and makes it. Of several passes, in whatever process, only the
// one whose claim is written continues: the claim is bound to the guard's resourceVersion.
func (p *pass) attempt(ctx context.Context, guard *v1alpha1.Promotion, o order) (time.Duration, error) {
	before := guard.Status.Strategy
	first := before == nil || !equality.Semantic.DeepEqual(before, &o.Strategy) // no other is under way
	err := p.writeGuard(ctx, guard, func(s *v1alpha1.PromotionStatus) {
		now := time.Now()
		s.Strategy, s.Phase = o.Strategy.DeepCopy(), v1alpha1.PhaseAttempting
		s.Attempts++
		s.LastAttemptedTime = ptr.To(metav1.NewTime(now))
		s.NotBefore = ptr.To(metav1.NewMicroTime(now.Add(backoff(s.Attempts))))
	})
	if err != nil {
		return 0, fmt.Errorf("claiming an attempt: %w", err)
	}
	pr, failure := p.r.give(ctx, o)
	if failure == nil {
		return 0, p.confirm(ctx, guard, pr)
	}
	err = p.writeGuard(ctx, guard, func(s *v1alpha1.PromotionStatus) {
		s.Message = failure.Error()
		if first && refused(failure) {
			s.Strategy = nil // so the next one may go elsewhere
		}
	})
	return untilNextAttempt(guard), err
}

// confirm records that the outside world has carried out the promotion.
func (p *pass) confirm(ctx context.Context, guard *v1alpha1.Promotion, pr *v1alpha1.PullRequest) error {
	err := p.writeGuard(ctx, guard, func(s *v1alpha1.PromotionStatus) {
		s.Phase, s.PullRequest, s.Message, s.NotBefore = v1alpha1.PhasePromoted, pr, "", nil
	})
	if err != nil {
		return fmt.Errorf("recording a promotion: %w", err)
	}
	return nil
}

// writeGuard changes a guard's status at the resourceVersion it was read at. If that fails the
// guard in memory stays as it was, so that nothing is said of it that the server does not hold.
func (p *pass) writeGuard(ctx context.Context, guard *v1alpha1.Promotion,
	change func(*v1alpha1.PromotionStatus)) error {
	next := guard.DeepCopy()
	change(&next.Status)
	if err := p.r.Client.Status().Update(ctx, next); err != nil {
		return err
	}
	*guard = *next
	return nil
}

// untilNextAttempt is how long an attempt that was claimed keeps others back.
func untilNextAttempt(guard *v1alpha1.Promotion) time.Duration {
	if guard.Status.NotBefore == nil {
		return 0
	}
	return max(0, time.Until(guard.Status.NotBefore.Time))
}

// backoff is the time from one attempt to the next. It is kept in the guard and not in the work
// queue, so that no other reason to run, and no restart, cuts it short.
func backoff(attempts int64) time.Duration {
	wait := firstRetry
	for i := int64(1); i < attempts && wait < lastRetry; i++ {
		wait *= 2
	}
	return min(wait, lastRetry)
}

// guard returns the guard of a decision, creating it if need be.
func (p *pass) guard(ctx context.Context, d decision) (*v1alpha1.Promotion, error) {
	want := newGuard(p.pipeline, d.Env.Name, d.Revision, p.pipeline.Status.Episode.Number)
	guard := &v1alpha1.Promotion{}
	err := p.reader.Get(ctx, client.ObjectKeyFromObject(want), guard)
	switch {
	case apierrors.IsNotFound(err) && p.dry:
		return nil, errDue
	case apierrors.IsNotFound(err):
		return want, p.r.Client.Create(ctx, want)
	case err != nil:
		return nil, err
	case guard.Spec != want.Spec:
		return nil, fmt.Errorf("promotion %s/%s guards something else: %+v", guard.Namespace, guard.Name, guard.Spec)
	}
	return guard, nil
}

// newGuard describes the guard of one promotion. It goes when its pipeline goes.
func newGuard(pipeline *v1alpha1.Pipeline, env, revision string, episode int64) *v1alpha1.Promotion {
	uid, owner := string(pipeline.UID), metav1.NewControllerRef(pipeline, v1alpha1.GroupVersion.WithKind("Pipeline"))
	spec := v1alpha1.PromotionSpec{PipelineUID: uid, Environment: env, Revision: revision, Episode: episode}
	return &v1alpha1.Promotion{Spec: spec, ObjectMeta: metav1.ObjectMeta{
		Namespace: pipeline.Namespace, Name: guardName(pipeline.Name, spec),
		Labels:          map[string]string{v1alpha1.PipelineUIDLabel: uid},
		OwnerReferences: []metav1.OwnerReference{*owner},
	}}
}

// guardName computes a name from everything that identifies a promotion. Revisions and environments
// may hold characters that names may not, so they are in a digest.
func guardName(pipeline string, spec v1alpha1.PromotionSpec) string {
	digest := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d", spec.PipelineUID, spec.Environment, spec.Revision,
		spec.Episode))
	return fmt.Sprintf("%.200s-%x", pipeline, digest[:10])
}

// project shows a guard's state in the pipeline's status. It is a view: nothing is decided by it.
func (p *pass) project(guard *v1alpha1.Promotion) {
	if guard.Status.Attempts > 0 {
		p.pipeline.Status.Environments[guard.Spec.Environment].Promotion = &v1alpha1.PromotionRecord{
			Revision: guard.Spec.Revision, LastAttemptedTime: guard.Status.LastAttemptedTime,
			Succeeded: p.r.policy.succeeded(guard.Status.Phase), PullRequest: guard.Status.PullRequest,
		}
	}
	p.pend(v1alpha1.PromotionFailedReason, guard.Status.Message)
}

// final reports whether nothing is left to do for a guard but to clear up behind it.
func final(guard *v1alpha1.Promotion) bool {
	return guard.Status.Phase == v1alpha1.PhasePromoted || guard.Status.Phase == v1alpha1.PhaseSuperseded
}
