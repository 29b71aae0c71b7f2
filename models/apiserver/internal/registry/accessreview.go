package registry

import (
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
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
