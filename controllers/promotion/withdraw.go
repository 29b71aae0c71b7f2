// This file removes what the fixed variant leaves behind when the first environment moves on:
// guards that were not confirmed, and outdated pull requests. The original pushes every revision to
// one branch. Here each promotion has its own, so that a late order cannot take over a newer pull
// request.

package promotion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

const (
	// keepEpisodes is how many past episodes keep their guards, for people to look at. Nothing
	// depends on them, unless what they ordered is still open.
	keepEpisodes = 3
	// lateOrder is how long an order may be on its way.
	lateOrder = 15 * time.Minute
)

// turns are the environments that run this episode's revision or have been promoted to it. Orders
// of past episodes for them are outdated. Orders for later environments are still the best
// available.
func (p *pass) turns(d decision, guard *v1alpha1.Promotion) []string {
	if d.Revision == "" {
		return nil
	}
	var out []string
	for _, env := range p.pipeline.Spec.Environments[1:] {
		seen := p.pipeline.Status.Environments[env.Name]
		if !allRun(seen, d.Revision) || !allReady(seen) {
			break
		}
		out = append(out, env.Name)
	}
	if guard != nil && guard.Status.Phase == v1alpha1.PhasePromoted {
		out = append(out, d.Env.Name)
	}
	return out
}

// tidyGuards gives up the unconfirmed guards of past episodes, closes outdated pull requests, and
// deletes old guards. An error for one does not stop the others. It returns how long to wait until
// an order that may still be on its way has arrived or is lost.
//
// A pass that slept through an episode finds its guard given up, or its claim refused, and stops.
// If it slept between its claim and its order, the order is late: it goes under its own key to its
// own branch, and is closed when it has arrived.
func (p *pass) tidyGuards(ctx context.Context, turns []string) (time.Duration, error) {
	var guards v1alpha1.PromotionList
	err := p.r.Client.List(ctx, &guards, client.InNamespace(p.pipeline.Namespace),
		client.MatchingLabels{v1alpha1.PipelineUIDLabel: string(p.pipeline.UID)})
	if err != nil {
		return 0, err
	}
	slices.SortFunc(guards.Items, func(x, y v1alpha1.Promotion) int { return cmp.Compare(x.Name, y.Name) })
	var wait time.Duration
	for i := range guards.Items {
		late, failure := p.tidyGuard(ctx, &guards.Items[i], turns)
		if errors.Is(failure, errDue) {
			return 0, errDue
		}
		wait, err = sooner(wait, late), errors.Join(err, failure)
	}
	return wait, err
}

// tidying is what is due for the guard of a past episode.
type tidying int

const (
	leave tidying = iota
	giveUp
	withdraw
	remove
)

func (p *pass) tidying(guard *v1alpha1.Promotion, turns []string) tidying {
	now := p.pipeline.Status.Episode
	closed := guard.Status.Withdrawn || guard.Status.Attempts == 0
	switch {
	case now == nil || guard.Spec.Episode >= now.Number:
		return leave
	case !final(guard):
		return giveUp
	case !closed && (slices.Contains(turns, guard.Spec.Environment) || !p.leadsTo(guard.Spec.Environment)):
		return withdraw
	case closed && guard.Spec.Episode < now.Number-keepEpisodes:
		return remove
	}
	return leave
}

// leadsTo reports whether the pipeline promotes to an environment. If that was taken out of the
// spec, its orders of past episodes are withdrawn. The order of this episode is left: if the
// environment comes back, the forge accepts no second order with its key.
func (p *pass) leadsTo(env string) bool {
	i := slices.IndexFunc(p.pipeline.Spec.Environments, func(e v1alpha1.Environment) bool { return e.Name == env })
	return i > 0 // nothing is promoted to the first
}

// tidyGuard looks at a guard as the cache has it, and only if something seems due, at the guard
// itself.
func (p *pass) tidyGuard(ctx context.Context, cached *v1alpha1.Promotion, turns []string) (time.Duration, error) {
	if p.tidying(cached, turns) == leave {
		return 0, nil
	}
	if p.dry {
		return 0, errDue
	}
	guard := &v1alpha1.Promotion{}
	if err := p.reader.Get(ctx, client.ObjectKeyFromObject(cached), guard); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	switch p.tidying(guard, turns) {
	case giveUp:
		return 0, p.writeGuard(ctx, guard, func(s *v1alpha1.PromotionStatus) {
			s.Phase, s.NotBefore = v1alpha1.PhaseSuperseded, nil
		})
	case withdraw:
		return p.withdraw(ctx, guard)
	case remove:
		return 0, client.IgnoreNotFound(p.r.Client.Delete(ctx, guard, client.Preconditions{UID: &guard.UID}))
	}
	return 0, nil
}

// withdraw closes the pull request that a guard has led to. If there is none although one was
// ordered, it may still come.
func (p *pass) withdraw(ctx context.Context, guard *v1alpha1.Promotion) (time.Duration, error) {
	pr := guard.Status.PullRequest
	if at := guard.Status.Strategy; at != nil && at.PullRequest != nil {
		found, err := p.r.closePullRequest(ctx, at.PullRequest, guard.Name)
		if err != nil {
			return 0, fmt.Errorf("closing what promotion %s/%s has led to: %w", guard.Namespace, guard.Name, err)
		}
		if late := untilLost(guard); found == nil && late > 0 {
			return late, nil
		}
		if found != nil {
			pr = found
		}
	}
	return 0, p.writeGuard(ctx, guard, func(s *v1alpha1.PromotionStatus) { s.Withdrawn, s.PullRequest = true, pr })
}

// untilLost is how long the order of the last attempt, if it is not found, may still be on its way.
func untilLost(guard *v1alpha1.Promotion) time.Duration {
	return max(0, time.Until(guard.Status.LastAttemptedTime.Add(lateOrder)))
}
