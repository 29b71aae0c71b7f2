package registry

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var persistentVolumeKind = builtin{
	group: "", version: "v1", kind: "PersistentVolume", plural: "persistentvolumes",
	short: []string{"pv"}, cluster: true,
	object: func() runtime.Object { return &corev1.PersistentVolume{} },
	strategy: strategy{
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
	},
}

// protect adds the finalizer of the StorageObjectInUseProtection admission plugin; its controllers
// take it off when nothing uses the object.
func protect(meta *metav1.ObjectMeta, finalizer string) {
	if !slices.Contains(meta.Finalizers, finalizer) {
		meta.Finalizers = append(meta.Finalizers, finalizer)
	}
}

var claimKind = builtin{
	group: "", version: "v1", kind: "PersistentVolumeClaim", plural: "persistentvolumeclaims",
	short:  []string{"pvc"},
	object: func() runtime.Object { return &corev1.PersistentVolumeClaim{} },
	strategy: strategy{
		Unconditional: true, status: true, ReturnsDeleted: true,
		defaults: on(defaultClaim),
		prepareCreate: func(_ Write, o runtime.Object) {
			claim := o.(*corev1.PersistentVolumeClaim)
			claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
			protect(&claim.ObjectMeta, "kubernetes.io/pvc-protection")
		},
		validateUpdate: compares(claimChanges),
		Validate: checks(func(claim *corev1.PersistentVolumeClaim) field.ErrorList {
			spec := field.NewPath("spec")
			var errs field.ErrorList
			if len(claim.Spec.AccessModes) == 0 {
				errs = append(errs, field.Required(spec.Child("accessModes"), "at least 1 access mode is required"))
			}
			if _, ok := claim.Spec.Resources.Requests[corev1.ResourceStorage]; !ok {
				errs = append(errs, field.Required(spec.Child("resources").Key(string(corev1.ResourceStorage)), ""))
			}
			return errs
		}),
	},
}

// claimChanges says what may not change in a claim (pkg/apis/core/validation,
// ValidatePersistentVolumeClaimUpdate).
func claimChanges(claim, old *corev1.PersistentVolumeClaim) (errs field.ErrorList) {
	const size = corev1.ResourceStorage
	frozen, fresh := old.Spec.DeepCopy(), claim.Spec.DeepCopy()
	if old.Status.Phase == corev1.ClaimBound {
		if fresh.Resources.Requests != nil {
			fresh.Resources.Requests[size] = old.Spec.Resources.Requests[size]
		}
		frozen.VolumeAttributesClassName = claim.Spec.VolumeAttributesClassName
	}
	if old.Spec.VolumeName == "" {
		frozen.VolumeName = claim.Spec.VolumeName
	}
	if old.Spec.StorageClassName == nil {
		frozen.StorageClassName = claim.Spec.StorageClassName
	}
	if !equalObjects(frozen, fresh) {
		errs = append(errs, field.Forbidden(field.NewPath("spec"),
			"spec is immutable after creation except resources.requests and volumeAttributesClassName for bound "+
				"claims"))
	}
	wanted, before, have := claim.Spec.Resources.Requests[size], old.Spec.Resources.Requests[size],
		old.Status.Capacity[size]
	if wanted.Cmp(before) < 0 && wanted.Cmp(have) <= 0 { // what could not be had may be taken back
		errs = append(errs, field.Forbidden(field.NewPath("spec", "resources", "requests", string(size)),
			"field can not be less than status.capacity"))
	}
	return errs
}

func defaultClaim(claim *corev1.PersistentVolumeClaim) {
	defaultTo(&claim.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	defaultString(&claim.Status.Phase, corev1.ClaimPending)
}
