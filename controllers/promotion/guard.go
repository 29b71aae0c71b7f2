// This file exists for the fixed variant (V8): a promotion that takes effect once, whatever is
// stale, lost, repeated or killed. It is meant to be copied.
//
// At most once and at least once cannot both be had across a crash if the effect itself can be
// repeated, so the fix makes the effect safe to repeat and then insists:
//
//   - Which promotion? {pipeline uid, environment, revision, episode}. Nothing else identifies it,
//     and everything below is keyed by it. The episode tells a return to a revision from a
//     repetition; see countEpisode.
//   - At most one effect: the forge carries out one order for each idempotency key, and the key is
//     the guard's name, which is computed from those four. Neither a second guard nor a lost one
//     can lead to another key. (The guard's own uid would be the obvious key. But a guard that is
//     deleted by hand, pruned, or restored from a backup comes back with another uid, and the forge
//     would take it for another promotion.)
//   - At least one effect: the guard records what was confirmed, not what was intended. Until it
//     says Promoted, every pass asks the forge and tries again, with back-off. Asked is where the
//     attempts went before, even if the pipeline has another repository by now: another forge, or
//     another repository, knows nothing of the key. The next attempt goes where the pipeline says
//     if the earlier ones were plainly refused, or if none of them is found where it went and none
//     can be on its way any more. (To give up on a forge that cannot be asked any more, delete the
//     Promotion.)
//   - Decisions rest on the server, not on the cache. A dry pass over the cache only says whether
//     there may be something to do; the pass that does it has read the pipeline, every target and
//     the guard live, and binds its writes to the versions it read.
//   - Nothing outdated is left for people to merge: see withdraw.go.
//
// When may a promotion be attempted a second time? Only if an earlier attempt was claimed, the
// claim's notBefore has passed, and the forge, asked in the same pass, knew nothing of the key.
// That is: the process died or was cut off between its claim and the arrival of its order; the
// order, or the reply to the claim, was lost on the way; the forge refused the order; or the order
// is still under way, longer than the timeout if the same process asks, longer than the back-off if
// another one does. In each case the second order carries the first one's key.

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
	apimeta "k8s.io/apimachinery/pkg/api/meta"
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

// countEpisode begins a new episode if the first environment runs another revision than the current
// one's.
//
// The number is only ever written together with the resourceVersion that it was read at, and the
// targets were read live after the pipeline was. So each episode in the chain was true at some
// moment after its predecessor had been written, and differs from it: for every recorded stay at a
// revision there was a real one, and no two share a number. A stay too short to be seen gets no
// episode, which is right, for nothing was promoted in it.
func (p *pass) countEpisode() {
	status, spec := &p.pipeline.Status, &p.pipeline.Spec
	if len(spec.Environments) == 0 {
		return
	}
	revision := commonRevision(status.Environments[spec.Environments[0].Name])
	if revision == "" || status.Episode != nil && status.Episode.Revision == revision {
		return
	}
	next := v1alpha1.Episode{Number: 1, Revision: revision}
	if status.Episode != nil {
		next.Number += status.Episode.Number
	}
	status.Episode = &next
}

// promoteGuarded carries out a decision through its guard, shows the guard's state in the
// pipeline's status, and tidies the guards of past episodes.
func (p *pass) promoteGuarded(ctx context.Context, d decision) (ctrl.Result, error) {
	var guard *v1alpha1.Promotion
	var wait time.Duration
	var err error
	if d.env == nil {
		p.clearPending(v1alpha1.PromotionFailedReason)
	} else if guard, err = p.guard(ctx, d); err == nil {
		wait, err = p.drive(ctx, d, guard)
	}
	if errors.Is(err, errDue) {
		return ctrl.Result{}, err
	}
	// What is known of the attempt is written down even if the attempt itself failed, and what has
	// been outdone is outdone even then: the two have nothing to do with each other, nor need they
	// go to the same forge.
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

	wanted := &p.pipeline.Spec.PolicyFor(d.env).Strategy
	o := p.keyed(d, guard, cmp.Or(guard.Status.Strategy, wanted))
	if guard.Status.Attempts > 0 {
		// An attempt was claimed before. Nobody but the forge knows what became of it.
		found, pr, err := p.find(ctx, o)
		if err != nil {
			return 0, p.cannotAsk(ctx, guard, err)
		}
		if found {
			return 0, p.confirm(ctx, guard, pr)
		}
		if wait := untilNextAttempt(guard); wait > 0 {
			return wait, nil
		}
		if !equality.Semantic.DeepEqual(&o.strategy, wanted) {
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
	o := p.order(d, *strategy)
	o.Branch = guard.Name // a branch of its own: a late order must not take over a newer revision's pull request
	o.IdempotencyKey = guard.Name
	o.Episode = guard.Spec.Episode
	return o
}

// lingers puts into a guard that the pipeline names another receiver by now, which is not given the
// order as long as an earlier one may still arrive where it went: two receivers would carry out
// both.
func (p *pass) lingers(ctx context.Context, guard *v1alpha1.Promotion) error {
	const why = "an earlier attempt went elsewhere, and may still arrive there: waiting until it is found or cannot " +
		"any more"
	if guard.Status.Message == why {
		return nil
	}
	return p.writeGuard(ctx, guard, func(s *v1alpha1.PromotionStatus) { s.Message = why })
}

// cannotAsk puts into a guard that nobody knows the outcome of its attempts, and why. It does so
// once: errors may differ in what does not matter, and a write each time would wake this controller
// each time.
func (p *pass) cannotAsk(ctx context.Context, guard *v1alpha1.Promotion, why error) error {
	why = fmt.Errorf(asking+"%w", why)
	if strings.HasPrefix(guard.Status.Message, asking) {
		return why
	}
	return errors.Join(why, p.writeGuard(ctx, guard, func(s *v1alpha1.PromotionStatus) { s.Message = why.Error() }))
}

// attempt claims the next attempt and makes it. Of several passes that would, in whatever process,
// only the one whose claim is written goes on: the claim is bound to the guard's resourceVersion.
func (p *pass) attempt(ctx context.Context, guard *v1alpha1.Promotion, o order) (time.Duration, error) {
	before := guard.Status.Strategy
	first := before == nil || !equality.Semantic.DeepEqual(before, &o.strategy) // no other is under way
	err := p.writeGuard(ctx, guard, func(s *v1alpha1.PromotionStatus) {
		now := time.Now()
		s.Strategy = o.strategy.DeepCopy()
		s.Phase = v1alpha1.PhaseAttempting
		s.Attempts++
		s.LastAttemptedTime = ptr.To(metav1.NewTime(now))
		s.NotBefore = ptr.To(metav1.NewMicroTime(now.Add(backoff(s.Attempts))))
	})
	if err != nil {
		return 0, fmt.Errorf("claiming an attempt: %w", err)
	}
	pr, failure := p.carryOut(ctx, o)
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
		s.Phase = v1alpha1.PhasePromoted
		s.PullRequest = pr
		s.Message = ""
		s.NotBefore = nil
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
	want := newGuard(p.pipeline, d.env.Name, d.revision, p.pipeline.Status.Episode.Number)
	guard := &v1alpha1.Promotion{}
	missing, err := notFound(p.reader.Get(ctx, client.ObjectKeyFromObject(want), guard))
	switch {
	case err != nil:
		return nil, err
	case missing && p.dry:
		return nil, errDue
	case missing:
		return want, p.r.Client.Create(ctx, want)
	case guard.Spec != want.Spec:
		return nil, fmt.Errorf("promotion %s/%s guards something else: %+v", guard.Namespace, guard.Name, guard.Spec)
	}
	return guard, nil
}

// newGuard describes the guard of one promotion. It goes when its pipeline goes.
func newGuard(pipeline *v1alpha1.Pipeline, env, revision string, episode int64) *v1alpha1.Promotion {
	spec := v1alpha1.PromotionSpec{
		PipelineUID: string(pipeline.UID), Environment: env, Revision: revision, Episode: episode,
	}
	return &v1alpha1.Promotion{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pipeline.Namespace,
			Name:      guardName(pipeline.Name, spec),
			Labels:    map[string]string{v1alpha1.PipelineUIDLabel: string(pipeline.UID)},
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(pipeline, v1alpha1.GroupVersion.WithKind("Pipeline")),
			},
		},
		Spec: spec,
	}
}

// guardName computes a name from everything that identifies a promotion. The pipeline's name is
// there for people; the rest is a digest, because revisions and environments may hold characters
// that names may not.
func guardName(pipeline string, spec v1alpha1.PromotionSpec) string {
	digest := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d", spec.PipelineUID, spec.Environment, spec.Revision,
		spec.Episode))
	return fmt.Sprintf("%.200s-%x", pipeline, digest[:10])
}

// project shows a guard's state in the pipeline's status. It is a view: nothing is decided by it.
func (p *pass) project(guard *v1alpha1.Promotion) {
	status := &p.pipeline.Status
	record := &v1alpha1.PromotionRecord{
		Revision:          guard.Spec.Revision,
		LastAttemptedTime: guard.Status.LastAttemptedTime,
		Succeeded:         guard.Status.Phase == v1alpha1.PhasePromoted,
		PullRequest:       guard.Status.PullRequest,
	}
	if guard.Status.Attempts > 0 {
		status.Environments[guard.Spec.Environment].Promotion = record
	}
	if guard.Status.Message == "" {
		p.clearPending(v1alpha1.PromotionFailedReason)
		return
	}
	apimeta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type:    v1alpha1.PromotionPendingCondition,
		Status:  metav1.ConditionTrue,
		Reason:  v1alpha1.PromotionFailedReason,
		Message: guard.Status.Message,
	})
}

// final says whether nothing is left to do for a guard but to clear up behind it.
func final(guard *v1alpha1.Promotion) bool {
	return guard.Status.Phase == v1alpha1.PhasePromoted || guard.Status.Phase == v1alpha1.PhaseSuperseded
}
