package registry

import (
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wavetank/wavetank/internal/versions"
)

var csiDriverKind = builtin{
	group: "storage.k8s.io", version: "v1", kind: "CSIDriver", plural: "csidrivers",
	cluster:  true,
	object:   func() runtime.Object { return &storagev1.CSIDriver{} },
	strategy: csiDriverStrategy,
}

var csiDriverStrategy = strategy{
	ReturnsDeleted: true,
	defaults: on(func(d *storagev1.CSIDriver) {
		defaultTo(&d.Spec.AttachRequired, true)
		defaultTo(&d.Spec.PodInfoOnMount, false)
		defaultTo(&d.Spec.StorageCapacity, false)
		defaultTo(&d.Spec.FSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
		defaultTo(&d.Spec.RequiresRepublish, false)
		defaultTo(&d.Spec.SELinuxMount, false)
		versions.DefaultCSIDriver(&d.Spec)
		if len(d.Spec.VolumeLifecycleModes) == 0 {
			d.Spec.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
		}
	}),
}
