package registry

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var clusterRoleKind = builtin{
	group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRole", plural: "clusterroles",
	cluster:  true,
	object:   func() runtime.Object { return &rbacv1.ClusterRole{} },
	strategy: clusterRoleStrategy,
}

var clusterRoleStrategy = strategy{
	Unconditional: true, CreateOnUpdate: true, validName: segmentName,
	defaults: on(func(r *rbacv1.ClusterRole) { r.Rules = orNil(r.Rules) }),
	Validate: checks(func(r *rbacv1.ClusterRole) field.ErrorList {
		return append(ruleErrors(r.Rules, false), aggregationErrors(r.AggregationRule)...)
	}),
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
