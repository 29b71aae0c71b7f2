package registry

import (
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var csiNodeKind = builtin{
	group: "storage.k8s.io", version: "v1", kind: "CSINode", plural: "csinodes",
	cluster:  true,
	object:   func() runtime.Object { return &storagev1.CSINode{} },
	strategy: csiStrategy,
}

var csiStrategy = strategy{ReturnsDeleted: true}
