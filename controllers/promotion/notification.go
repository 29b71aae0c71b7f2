// This file exists for the second means of promotion: an Event, on which a CI outside acts, once
// for each Event.

package promotion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

// Of an Event that asks for a promotion.
const (
	// PromoteReason is its reason.
	PromoteReason = "Promote"
	// EnvironmentAnnotation and RevisionAnnotation say what is to be promoted, for the CI.
	EnvironmentAnnotation = "pipelines.weave.works/environment"
	RevisionAnnotation    = "pipelines.weave.works/revision"
)

// carryOut orders a promotion by the means that its policy names. An error says that no answer
// confirmed it, not that nothing happened. In the original, no means at all is a success.
func (p *pass) carryOut(ctx context.Context, o order) (*v1alpha1.PullRequest, error) {
	switch s := o.strategy; {
	case s.PullRequest != nil:
		return p.openPullRequest(ctx, o)
	case s.Notification != nil:
		return nil, p.notify(ctx, o)
	case p.r.policy.guarded:
		return nil, errors.New("the policy names no strategy")
	}
	return nil, nil
}

// find looks for what became of an order that may have been given before.
func (p *pass) find(ctx context.Context, o order) (found bool, pr *v1alpha1.PullRequest, err error) {
	switch s := o.strategy; {
	case s.PullRequest != nil:
		reply, err := p.findPullRequest(ctx, s.PullRequest, o.IdempotencyKey)
		if reply == nil || err != nil {
			return false, nil, err
		}
		return true, reply.pullRequest(), nil
	case s.Notification != nil:
		missing, err := notFound(p.reader.Get(ctx,
			types.NamespacedName{Namespace: p.pipeline.Namespace, Name: o.IdempotencyKey}, &corev1.Event{}))
		return !missing && err == nil, nil, err
	}
	return false, nil, nil
}

// notify creates the Event. Its name is the order's key, so that the API server itself makes it
// safe to repeat; without a key it has a name of its own each time, as the Events of any recorder
// have.
func (p *pass) notify(ctx context.Context, o order) error {
	pl, now := p.pipeline, metav1.NewTime(time.Now())
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   pl.Namespace,
			Name:        cmp.Or(o.IdempotencyKey, fmt.Sprintf("%s.%x", pl.Name, now.UnixNano())),
			Annotations: map[string]string{EnvironmentAnnotation: o.Environment, RevisionAnnotation: o.Revision},
		},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: "Pipeline", Namespace: pl.Namespace, Name: pl.Name,
			UID: pl.UID,
		},
		Type: corev1.EventTypeNormal, Reason: PromoteReason, Message: o.Title,
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}
	err := p.r.Client.Create(ctx, event)
	if o.IdempotencyKey != "" && apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
