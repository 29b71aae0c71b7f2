package registry

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var clusterRoleBindingKind = builtin{
	group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRoleBinding", plural: "clusterrolebindings",
	cluster:  true,
	object:   func() runtime.Object { return &rbacv1.ClusterRoleBinding{} },
	strategy: clusterRoleBindingStrategy,
}

var clusterRoleBindingStrategy = strategy{
	Unconditional: true, CreateOnUpdate: true, validName: segmentName,
	defaults: on(func(b *rbacv1.ClusterRoleBinding) { defaultBinding(&b.RoleRef, b.Subjects) }),
	Validate: checks(func(b *rbacv1.ClusterRoleBinding) field.ErrorList {
		return bindingErrors(&b.RoleRef, b.Subjects, false)
	}),
	validateUpdate: compares(func(b, old *rbacv1.ClusterRoleBinding) field.ErrorList {
		return roleRefErrors(b.RoleRef, old.RoleRef)
	}),
}
