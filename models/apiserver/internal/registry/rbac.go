package registry

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Roles and bindings follow pkg/apis/rbac. They are stored; another model enforces them.

// ruleErrors follows pkg/apis/rbac/validation (ValidatePolicyRule).
func ruleErrors(rules []rbacv1.PolicyRule, namespaced bool) field.ErrorList {
	var errs field.ErrorList
	for i, r := range rules {
		at := field.NewPath("rules").Index(i)
		if len(r.Verbs) == 0 {
			errs = append(errs, field.Required(at.Child("verbs"), ""))
		}
		if len(r.NonResourceURLs) > 0 {
			if namespaced {
				errs = append(errs, field.Invalid(at.Child("nonResourceURLs"), r.NonResourceURLs,
					"namespaced rules cannot apply to non-resource URLs"))
			}
			if len(r.APIGroups)+len(r.Resources)+len(r.ResourceNames) > 0 {
				errs = append(errs, field.Invalid(at.Child("nonResourceURLs"), r.NonResourceURLs,
					"rules cannot apply to both regular resources and non-resource URLs"))
			}
			continue
		}
		if len(r.APIGroups) == 0 {
			errs = append(errs, field.Required(at.Child("apiGroups"),
				"resource rules must supply at least one api group"))
		}
		if len(r.Resources) == 0 {
			errs = append(errs, field.Required(at.Child("resources"),
				"resource rules must supply at least one resource"))
		}
	}
	return errs
}

func defaultBinding(ref *rbacv1.RoleRef, subjects []rbacv1.Subject) {
	defaultString(&ref.APIGroup, rbacv1.GroupName)
	for i := range subjects {
		if subjects[i].Kind != rbacv1.ServiceAccountKind {
			defaultString(&subjects[i].APIGroup, rbacv1.GroupName)
		}
	}
}

func bindingErrors(ref *rbacv1.RoleRef, subjects []rbacv1.Subject, namespaced bool) field.ErrorList {
	var errs field.ErrorList
	path := field.NewPath("roleRef")
	if ref.APIGroup != rbacv1.GroupName {
		errs = append(errs, field.NotSupported(path.Child("apiGroup"), ref.APIGroup, []string{rbacv1.GroupName}))
	}
	kinds := []string{"ClusterRole"}
	if namespaced {
		kinds = []string{"Role", "ClusterRole"}
	}
	if !slices.Contains(kinds, ref.Kind) {
		errs = append(errs, field.NotSupported(path.Child("kind"), ref.Kind, kinds))
	}
	if ref.Name != "" {
		errs = append(errs, invalid(path.Child("name"), ref.Name, segmentName(ref.Name, false))...)
	}
	for i, s := range subjects {
		at := field.NewPath("subjects").Index(i)
		switch s.Kind {
		case rbacv1.ServiceAccountKind:
			if s.Name != "" {
				errs = append(errs, invalid(at.Child("name"), s.Name,
					apivalidation.ValidateServiceAccountName(s.Name, false))...)
			}
			errs = append(errs, subjectGroupErrors(s, "", at)...)
			if s.Namespace == "" && !namespaced {
				errs = append(errs, field.Required(at.Child("namespace"), ""))
			}
		case rbacv1.UserKind, rbacv1.GroupKind:
			errs = append(errs, subjectGroupErrors(s, rbacv1.GroupName, at)...)
		default:
			errs = append(errs, field.NotSupported(at.Child("kind"), s.Kind,
				[]string{rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind}))
		}
		if s.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		}
	}
	if ref.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	}
	return errs
}

// subjectGroupErrors refuses a subject of another API group than its kind is in; accounts are in
// the one without a name.
func subjectGroupErrors(s rbacv1.Subject, group string, at *field.Path) field.ErrorList {
	if s.APIGroup == group {
		return nil
	}
	return field.ErrorList{field.NotSupported(at.Child("apiGroup"), s.APIGroup, []string{group})}
}

func roleRefErrors(ref, old rbacv1.RoleRef) field.ErrorList {
	if ref == old {
		return nil
	}
	// The message shows the internal type, which has no JSON names.
	shown := struct{ APIGroup, Kind, Name string }{ref.APIGroup, ref.Kind, ref.Name}
	return field.ErrorList{field.Invalid(field.NewPath("roleRef"), shown, "field is immutable")}
}
