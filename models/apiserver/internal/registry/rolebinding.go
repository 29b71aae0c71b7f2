package registry

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var roleBindingKind = builtin{
	group: "rbac.authorization.k8s.io", version: "v1", kind: "RoleBinding", plural: "rolebindings",
	object:   func() runtime.Object { return &rbacv1.RoleBinding{} },
	strategy: roleBindingStrategy,
}

var roleBindingStrategy = strategy{
	Unconditional: true, CreateOnUpdate: true, validName: segmentName,
	defaults: on(func(b *rbacv1.RoleBinding) { defaultBinding(&b.RoleRef, b.Subjects) }),
	Validate: checks(func(b *rbacv1.RoleBinding) field.ErrorList {
		return bindingErrors(&b.RoleRef, b.Subjects, true)
	}),
	validateUpdate: compares(func(b, old *rbacv1.RoleBinding) field.ErrorList {
		return roleRefErrors(b.RoleRef, old.RoleRef)
	}),
}
