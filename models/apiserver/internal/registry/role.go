package registry

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var roleKind = builtin{
	group: "rbac.authorization.k8s.io", version: "v1", kind: "Role", plural: "roles",
	object:   func() runtime.Object { return &rbacv1.Role{} },
	strategy: roleStrategy,
}

var roleStrategy = strategy{
	Unconditional: true, CreateOnUpdate: true, validName: segmentName,
	defaults: on(func(r *rbacv1.Role) { r.Rules = orNil(r.Rules) }),
	Validate: checks(func(r *rbacv1.Role) field.ErrorList { return ruleErrors(r.Rules, true) }),
}
