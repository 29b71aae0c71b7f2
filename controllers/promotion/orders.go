// This file gives orders for promotions: pull requests of a forge, or Events, on which a CI outside
// acts, once for each Event.

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
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// order is what is ordered, and the body of the request that opens a pull request.
type order struct {
	Branch string `json:"branch"`
	Base   string `json:"base,omitempty"`
	Title  string `json:"title"`
	Body   string `json:"body"`
	// IdempotencyKey makes the order safe to repeat: the forge carries out one order for each key.
	IdempotencyKey string `json:"idempotencyKey,omitempty"`

	// What is promoted, for the forge's record.
	Pipeline    string `json:"pipeline"`
	PipelineUID string `json:"pipelineUID"`
	Environment string `json:"environment"`
	Revision    string `json:"revision"`
	Episode     int64  `json:"episode,omitempty"`

	// Strategy is the means; its repository is the part of the URL that is not in the body.
	Strategy v1alpha1.Strategy `json:"-"`
	of       *v1alpha1.Pipeline
}

// newOrder describes the pull request for a promotion. The branch is the same for every revision,
// so a newer revision takes over the pull request of an older one.
func newOrder(of *v1alpha1.Pipeline, env, revision string, strategy v1alpha1.Strategy) order {
	o := order{
		Branch:      fmt.Sprintf("promote-%s-%s-%s", of.Namespace, of.Name, env),
		Title:       fmt.Sprintf("Promote %s/%s in %s to %s", of.Namespace, of.Name, env, revision),
		Body:        fmt.Sprintf("The environment before %s runs %s and is ready.", env, revision),
		Pipeline:    of.Namespace + "/" + of.Name,
		PipelineUID: string(of.UID),
		Environment: env,
		Revision:    revision,
		Strategy:    strategy,
		of:          of,
	}
	if repository := strategy.PullRequest; repository != nil {
		o.Base = repository.BaseBranch
	}
	return o
}

// give orders a promotion by the means that its policy names. An error says that no answer
// confirmed it, not that nothing happened.
func (r *Reconciler) give(ctx context.Context, o order) (*v1alpha1.PullRequest, error) {
	switch s := o.Strategy; {
	case s.PullRequest != nil:
		return r.openPullRequest(ctx, o)
	case s.Notification != nil:
		return nil, r.notify(ctx, o)
	case r.policy.guarded: // in the original it is a success
		return nil, errors.New("the policy names no strategy")
	}
	return nil, nil
}

// find looks for what became of an order that may have been given before.
func (r *Reconciler) find(ctx context.Context, reader client.Reader, o order) (found bool, pr *v1alpha1.PullRequest,
	err error) {
	switch s := o.Strategy; {
	case s.PullRequest != nil:
		reply, err := r.findPullRequest(ctx, s.PullRequest, o.IdempotencyKey)
		if reply == nil || err != nil {
			return false, nil, err
		}
		return true, reply.pullRequest(), nil
	case s.Notification != nil:
		err := reader.Get(ctx, types.NamespacedName{Namespace: o.of.Namespace, Name: o.IdempotencyKey}, &corev1.Event{})
		return err == nil, nil, client.IgnoreNotFound(err)
	}
	return false, nil, nil
}

// notify creates the Event. With a key, the key is its name, so that the API server makes it safe
// to repeat. Without a key its name differs each time, as with any recorder.
func (r *Reconciler) notify(ctx context.Context, o order) error {
	pl, now := o.of, metav1.NewTime(time.Now())
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
	err := r.Client.Create(ctx, event)
	if o.IdempotencyKey != "" && apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
