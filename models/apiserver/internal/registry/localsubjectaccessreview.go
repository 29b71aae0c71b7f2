package registry

import (
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var localReviewKind = builtin{
	group: ReviewGroup, version: "v1", kind: "LocalSubjectAccessReview", plural: "localsubjectaccessreviews",
	object: func() runtime.Object { return &authorizationv1.LocalSubjectAccessReview{} },
	verbs:  []string{"create"},
	strategy: strategy{Validate: checks(func(r *authorizationv1.LocalSubjectAccessReview) field.ErrorList {
		return append(subjectErrors(r.Spec), localErrors(r)...)
	})},
}

func localErrors(r *authorizationv1.LocalSubjectAccessReview) field.ErrorList {
	meta := r.ObjectMeta
	meta.Namespace = ""
	var errs field.ErrorList
	if len(reviewMetaErrors(meta)) > 0 {
		errs = append(errs, field.Invalid(field.NewPath("metadata"), r.ObjectMeta,
			"must be empty except for namespace"))
	}
	if a := r.Spec.ResourceAttributes; a != nil && a.Namespace != r.Namespace {
		errs = append(errs, field.Invalid(field.NewPath("spec.resourceAttributes.namespace"), a.Namespace,
			"must match metadata.namespace"))
	}
	if r.Spec.NonResourceAttributes != nil {
		errs = append(errs, field.Invalid(field.NewPath("spec.nonResourceAttributes"), r.Spec.NonResourceAttributes,
			"disallowed on this kind of request"))
	}
	return errs
}
