package registry

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var persistentVolumeKind = builtin{
	group: "", version: "v1", kind: "PersistentVolume", plural: "persistentvolumes",
	short: []string{"pv"}, cluster: true,
	object:   func() runtime.Object { return &corev1.PersistentVolume{} },
	strategy: persistentVolumeStrategy,
}

var persistentVolumeStrategy = strategy{
	Unconditional: true, status: true, ReturnsDeleted: true,
	defaults: on(func(v *corev1.PersistentVolume) {
		defaultString(&v.Spec.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
		defaultTo(&v.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
		if v.Spec.HostPath != nil {
			defaultTo(&v.Spec.HostPath.Type, corev1.HostPathUnset)
		}
		defaultString(&v.Status.Phase, corev1.VolumePending)
	}),
	prepareCreate: func(w Write, o runtime.Object) {
		v := o.(*corev1.PersistentVolume)
		now := w.Now
		v.Status = corev1.PersistentVolumeStatus{Phase: corev1.VolumePending, LastPhaseTransitionTime: &now}
		protect(&v.ObjectMeta, "kubernetes.io/pv-protection")
	},
}

// protect adds the finalizer of the StorageObjectInUseProtection admission plugin; its controllers
// take it off when nothing uses the object.
func protect(meta *metav1.ObjectMeta, finalizer string) {
	if !slices.Contains(meta.Finalizers, finalizer) {
		meta.Finalizers = append(meta.Finalizers, finalizer)
	}
}
