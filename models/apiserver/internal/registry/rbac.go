package registry

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
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

var roleKind = builtin{
	group: "rbac.authorization.k8s.io", version: "v1", kind: "Role", plural: "roles",
	object: func() runtime.Object { return &rbacv1.Role{} },
	strategy: strategy{
		Unconditional: true, CreateOnUpdate: true, validName: segmentName,
		defaults: on(func(r *rbacv1.Role) { r.Rules = orNil(r.Rules) }),
		Validate: checks(func(r *rbacv1.Role) field.ErrorList { return ruleErrors(r.Rules, true) }),
	},
}

var roleBindingKind = builtin{
	group: "rbac.authorization.k8s.io", version: "v1", kind: "RoleBinding", plural: "rolebindings",
	object: func() runtime.Object { return &rbacv1.RoleBinding{} },
	strategy: strategy{
		Unconditional: true, CreateOnUpdate: true, validName: segmentName,
		defaults: on(func(b *rbacv1.RoleBinding) { defaultBinding(&b.RoleRef, b.Subjects) }),
		Validate: checks(func(b *rbacv1.RoleBinding) field.ErrorList {
			return bindingErrors(&b.RoleRef, b.Subjects, true)
		}),
		validateUpdate: compares(func(b, old *rbacv1.RoleBinding) field.ErrorList {
			return roleRefErrors(b.RoleRef, old.RoleRef)
		}),
	},
}

var clusterRoleKind = builtin{
	group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRole", plural: "clusterroles",
	cluster: true,
	object:  func() runtime.Object { return &rbacv1.ClusterRole{} },
	strategy: strategy{
		Unconditional: true, CreateOnUpdate: true, validName: segmentName,
		defaults: on(func(r *rbacv1.ClusterRole) { r.Rules = orNil(r.Rules) }),
		Validate: checks(func(r *rbacv1.ClusterRole) field.ErrorList {
			return append(ruleErrors(r.Rules, false), aggregationErrors(r.AggregationRule)...)
		}),
	},
}

// aggregationErrors follows ValidateClusterRole in the same place.
func aggregationErrors(rule *rbacv1.AggregationRule) field.ErrorList {
	if rule == nil {
		return nil
	}
	path := field.NewPath("aggregationRule", "clusterRoleSelectors")
	if len(rule.ClusterRoleSelectors) == 0 {
		return field.ErrorList{field.Required(path,
			"at least one clusterRoleSelector required if aggregationRule is non-nil")}
	}
	var errs field.ErrorList
	for i := range rule.ClusterRoleSelectors {
		s := &rule.ClusterRoleSelectors[i]
		errs = append(errs, metavalidation.ValidateLabelSelector(s, metavalidation.LabelSelectorValidationOptions{},
			path.Index(i))...)
		if _, err := metav1.LabelSelectorAsSelector(s); err != nil {
			errs = append(errs, field.Invalid(path.Index(i), nil, "invalid label selector."))
		}
	}
	return errs
}

var clusterRoleBindingKind = builtin{
	group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRoleBinding", plural: "clusterrolebindings",
	cluster: true,
	object:  func() runtime.Object { return &rbacv1.ClusterRoleBinding{} },
	strategy: strategy{
		Unconditional: true, CreateOnUpdate: true, validName: segmentName,
		defaults: on(func(b *rbacv1.ClusterRoleBinding) { defaultBinding(&b.RoleRef, b.Subjects) }),
		Validate: checks(func(b *rbacv1.ClusterRoleBinding) field.ErrorList {
			return bindingErrors(&b.RoleRef, b.Subjects, false)
		}),
		validateUpdate: compares(func(b, old *rbacv1.ClusterRoleBinding) field.ErrorList {
			return roleRefErrors(b.RoleRef, old.RoleRef)
		}),
	},
}
