package registry

import (
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var runtimeClassKind = builtin{
	group: "node.k8s.io", version: "v1", kind: "RuntimeClass", plural: "runtimeclasses",
	cluster:  true,
	object:   func() runtime.Object { return &nodev1.RuntimeClass{} },
	strategy: runtimeClassStrategy,
}

var runtimeClassStrategy = strategy{CreateOnUpdate: true}
