package rbac

import (
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wavetank/wavetank/models/apiserver"
)

// Review implements [apiserver.Authorizer] (pkg/registry/authorization in the Kubernetes tree).
func (a *Authorizer) Review(req *apiserver.Request, review runtime.Object) error {
	switch r := review.(type) {
	case *authorizationv1.SelfSubjectAccessReview:
		r.Status = a.review(subject{req.User, req.Groups}, r.Spec.ResourceAttributes, r.Spec.NonResourceAttributes)
	case *authorizationv1.SubjectAccessReview:
		r.Status = a.review(subject{r.Spec.User, r.Spec.Groups}, r.Spec.ResourceAttributes,
			r.Spec.NonResourceAttributes)
	case *authorizationv1.LocalSubjectAccessReview:
		r.Status = a.review(subject{r.Spec.User, r.Spec.Groups}, r.Spec.ResourceAttributes,
			r.Spec.NonResourceAttributes)
	default:
		return fmt.Errorf("rbac: no review: %T", review)
	}
	return nil
}

func (a *Authorizer) review(
	who subject, r *authorizationv1.ResourceAttributes, n *authorizationv1.NonResourceAttributes,
) authorizationv1.SubjectAccessReviewStatus {
	var act action
	if r != nil {
		act = action{verb: r.Verb, group: r.Group, resource: r.Resource, subresource: r.Subresource,
			namespace: r.Namespace, name: r.Name}
	} else if n != nil {
		act = action{verb: n.Verb, path: n.Path, onPath: true}
	}
	by, err := a.allows(who, act)
	if by == nil {
		return authorizationv1.SubjectAccessReviewStatus{Reason: reason(err)}
	}
	return authorizationv1.SubjectAccessReviewStatus{Allowed: true, Reason: by.reason()}
}
