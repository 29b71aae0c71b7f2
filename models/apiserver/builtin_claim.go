package apiserver

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// claimChanges says what may not change in a claim (pkg/apis/core/validation, ValidatePersistentVolumeClaimUpdate).
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
			"spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"))
	}
	wanted, before, have := claim.Spec.Resources.Requests[size], old.Spec.Resources.Requests[size], old.Status.Capacity[size]
	if wanted.Cmp(before) < 0 && wanted.Cmp(have) <= 0 { // what could not be had may be taken back
		errs = append(errs, field.Forbidden(field.NewPath("spec", "resources", "requests", string(size)), "field can not be less than status.capacity"))
	}
	return errs
}
