package registry

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var serviceAccountKind = builtin{
	group: "", version: "v1", kind: "ServiceAccount", plural: "serviceaccounts",
	short:    []string{"sa"},
	object:   func() runtime.Object { return &corev1.ServiceAccount{} },
	strategy: serviceAccountStrategy,
	columns: &columns{
		cells: func(runtime.Object) ([]any, []any) { return nil, nil },
	},
}

var serviceAccountStrategy = strategy{Unconditional: true, ReturnsDeleted: true, Unmodelled: []string{"token"}}
