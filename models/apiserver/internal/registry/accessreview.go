package registry

import (
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Reviews of access are created, answered and forgotten. They are served and mapped, but discovery
// does not show them. The rules are those of pkg/apis/authorization/validation/validation.go. No
// role looks at selectors.

// ReviewGroup is the group of access reviews.
const ReviewGroup = "authorization.k8s.io"

func reviewErrors(
	resource *authorizationv1.ResourceAttributes, other *authorizationv1.NonResourceAttributes,
) field.ErrorList {
	if (resource == nil) == (other == nil) {
		return field.ErrorList{field.Invalid(field.NewPath("spec"), other,
			"exactly one of nonResourceAttributes or resourceAttributes must be specified")}
	}
	return nil
}

func selectorErrors(a *authorizationv1.ResourceAttributes) field.ErrorList {
	if a == nil {
		return nil
	}
	var errs field.ErrorList
	if s := a.FieldSelector; s != nil {
		at := field.NewPath("spec.resourceAttributes", "fieldSelector")
		errs = eitherErrors(s.RawSelector, len(s.Requirements), at)
		for i, r := range s.Requirements {
			errs = append(errs, metavalidation.ValidateFieldSelectorRequirement(r,
				metavalidation.FieldSelectorValidationOptions{AllowUnknownOperatorInRequirement: true},
				at.Child("requirements").Index(i))...)
		}
	}
	if s := a.LabelSelector; s != nil {
		at := field.NewPath("spec.resourceAttributes", "labelSelector")
		errs = append(errs, eitherErrors(s.RawSelector, len(s.Requirements), at)...)
		for i, r := range s.Requirements {
			errs = append(errs, metavalidation.ValidateLabelSelectorRequirement(r,
				metavalidation.LabelSelectorValidationOptions{AllowUnknownOperatorInRequirement: true},
				at.Child("requirements").Index(i))...)
		}
	}
	return errs
}

// eitherErrors says that a selector is given as text or as requirements, and not as both.
func eitherErrors(raw string, requirements int, at *field.Path) field.ErrorList {
	switch {
	case raw != "" && requirements > 0:
		return field.ErrorList{field.Invalid(at.Child("rawSelector"), raw,
			"may not specified at the same time as requirements")}
	case raw == "" && requirements == 0:
		return field.ErrorList{field.Required(at.Child("requirements"),
			fmt.Sprintf("when %s is specified, requirements or rawSelector is required", at))}
	}
	return nil
}

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
