package registry

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wavetank/wavetank/internal/versions"
)

var storageClassKind = builtin{
	group: "storage.k8s.io", version: "v1", kind: "StorageClass", plural: "storageclasses",
	short: []string{"sc"}, cluster: true,
	object: func() runtime.Object { return &storagev1.StorageClass{} },
	strategy: strategy{
		Unconditional: true, ReturnsDeleted: true,
		defaults: on(func(s *storagev1.StorageClass) {
			defaultTo(&s.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
			defaultTo(&s.VolumeBindingMode, storagev1.VolumeBindingImmediate)
		}),
		Validate: checks(func(s *storagev1.StorageClass) field.ErrorList {
			if s.Provisioner == "" {
				return field.ErrorList{field.Required(field.NewPath("provisioner"), "")}
			}
			return nil
		}),
		validateUpdate: compares(func(s, old *storagev1.StorageClass) field.ErrorList {
			var errs field.ErrorList
			frozen := func(same bool, name string) {
				if !same {
					errs = append(errs, field.Invalid(field.NewPath(name), nil, "field is immutable"))
				}
			}
			frozen(s.Provisioner == old.Provisioner, "provisioner")
			frozen(maps.Equal(s.Parameters, old.Parameters), "parameters")
			frozen(*s.ReclaimPolicy == *old.ReclaimPolicy, "reclaimPolicy")
			frozen(*s.VolumeBindingMode == *old.VolumeBindingMode, "volumeBindingMode")
			return errs
		}),
	},
}

var csiDriverKind = builtin{
	group: "storage.k8s.io", version: "v1", kind: "CSIDriver", plural: "csidrivers",
	cluster: true,
	object:  func() runtime.Object { return &storagev1.CSIDriver{} },
	strategy: strategy{
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
	},
}

var csiNodeKind = builtin{
	group: "storage.k8s.io", version: "v1", kind: "CSINode", plural: "csinodes",
	cluster:  true,
	object:   func() runtime.Object { return &storagev1.CSINode{} },
	strategy: strategy{ReturnsDeleted: true},
}

var volumeAttachmentKind = builtin{
	group: "storage.k8s.io", version: "v1", kind: "VolumeAttachment", plural: "volumeattachments",
	cluster:      true,
	object:       func() runtime.Object { return &storagev1.VolumeAttachment{} },
	strategy:     strategy{status: true, ReturnsDeleted: true},
	statusResets: []string{"metadata"},
}
