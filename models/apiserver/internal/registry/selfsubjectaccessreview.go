package registry

import (
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var selfReviewKind = builtin{
	group: ReviewGroup, version: "v1", kind: "SelfSubjectAccessReview", plural: "selfsubjectaccessreviews",
	cluster: true,
	object:  func() runtime.Object { return &authorizationv1.SelfSubjectAccessReview{} },
	verbs:   []string{"create"},
	strategy: strategy{Validate: checks(func(r *authorizationv1.SelfSubjectAccessReview) field.ErrorList {
		resource := r.Spec.ResourceAttributes
		errs := append(reviewErrors(resource, r.Spec.NonResourceAttributes), selectorErrors(resource)...)
		return append(errs, reviewMetaErrors(r.ObjectMeta)...)
	})},
}

func reviewMetaErrors(meta metav1.ObjectMeta) field.ErrorList {
	meta.ManagedFields = nil
	if !equality.Semantic.DeepEqual(metav1.ObjectMeta{}, meta) {
		return field.ErrorList{field.Invalid(field.NewPath("metadata"), meta, "must be empty")}
	}
	return nil
}
