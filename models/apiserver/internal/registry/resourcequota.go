package registry

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var quotaKind = builtin{
	group: "", version: "v1", kind: "ResourceQuota", plural: "resourcequotas",
	short:    []string{"quota"},
	object:   func() runtime.Object { return &corev1.ResourceQuota{} },
	strategy: quotaStrategy,
}

var quotaStrategy = strategy{Unconditional: true, status: true, ReturnsDeleted: true}
