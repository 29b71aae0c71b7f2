package registry

import (
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var volumeAttachmentKind = builtin{
	group: "storage.k8s.io", version: "v1", kind: "VolumeAttachment", plural: "volumeattachments",
	cluster:      true,
	object:       func() runtime.Object { return &storagev1.VolumeAttachment{} },
	strategy:     volumeAttachmentStrategy,
	statusResets: []string{"metadata"},
}

var volumeAttachmentStrategy = strategy{status: true, ReturnsDeleted: true}
