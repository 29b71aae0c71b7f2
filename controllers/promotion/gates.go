// This file exists for the partial fixes: what they put between deciding to promote and promoting,
// each a function.

package promotion

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

// gate says whether a decision may be carried out.
type gate func(ctx context.Context, p *pass, d decision) (bool, error)

// readRecordLive (V4) asks the server instead of the cache whether the promotion is recorded.
func readRecordLive(ctx context.Context, p *pass, d decision) (bool, error) {
	live := &v1alpha1.Pipeline{}
	if err := p.r.live.Get(ctx, client.ObjectKeyFromObject(p.pipeline), live); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	env := live.Status.Environments[d.env.Name]
	return live.UID == p.pipeline.UID && (env == nil || !recorded(env, d.revision)), nil
}

// recordIntent (V6) writes the record first, bound to the resourceVersion that this pass read. If
// anyone has written since, the pass ends with a conflict and promotes nothing.
func recordIntent(ctx context.Context, p *pass, d decision) (bool, error) {
	now := metav1.NewTime(time.Now())
	p.pipeline.Status.Environments[d.env.Name].Promotion = &v1alpha1.PromotionRecord{
		Revision: d.revision, LastAttemptedTime: &now,
	}
	_, err := p.patch(ctx, client.MergeFromWithOptions(p.written, client.MergeFromWithOptimisticLock{}))
	return err == nil, err
}

// createGuardOnce (V7) creates a guard object that only one pass can create. Nobody looks at it
// again.
func createGuardOnce(ctx context.Context, p *pass, d decision) (bool, error) {
	err := p.r.Client.Create(ctx, newGuard(p.pipeline, d.env.Name, d.revision, 0))
	if apierrors.IsAlreadyExists(err) {
		return false, nil
	}
	return err == nil, err
}
