package registry

import (
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var subjectReviewKind = builtin{
	group: ReviewGroup, version: "v1", kind: "SubjectAccessReview", plural: "subjectaccessreviews",
	cluster: true,
	object:  func() runtime.Object { return &authorizationv1.SubjectAccessReview{} },
	verbs:   []string{"create"},
	strategy: strategy{Validate: checks(func(r *authorizationv1.SubjectAccessReview) field.ErrorList {
		return append(subjectErrors(r.Spec), reviewMetaErrors(r.ObjectMeta)...)
	})},
}

func subjectErrors(spec authorizationv1.SubjectAccessReviewSpec) field.ErrorList {
	errs := reviewErrors(spec.ResourceAttributes, spec.NonResourceAttributes)
	if spec.User == "" && len(spec.Groups) == 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "user"), spec.User,
			"at least one of user or group must be specified"))
	}
	return append(errs, selectorErrors(spec.ResourceAttributes)...)
}
