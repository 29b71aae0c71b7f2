package workload

import (
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor"
)

// syncClaim gives a claim a volume of its own, as a provisioner and
// pkg/controller/volume/persistentvolume do together: the volume first, then the claim's
// spec.volumeName, then its status.
func syncClaim(c *controller, namespace, name string) (time.Duration, error) {
	path := actor.Path("", "v1", namespace, "persistentvolumeclaims", name)
	claim := read[corev1.PersistentVolumeClaim](c, path)
	if claim == nil {
		return 0, reclaim(c, namespace, name)
	}
	if claim.DeletionTimestamp != nil || claim.Status.Phase == corev1.ClaimBound {
		return 0, nil
	}
	if claim.Spec.VolumeName == "" {
		volume := "pvc-" + string(claim.UID)
		err := actor.Do(c, http.MethodPost, actor.Path("", "v1", "", "persistentvolumes", ""), &corev1.PersistentVolume{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"},
			ObjectMeta: metav1.ObjectMeta{Name: volume},
			Spec: corev1.PersistentVolumeSpec{
				Capacity: claim.Spec.Resources.Requests, AccessModes: claim.Spec.AccessModes,
				PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
				PersistentVolumeSource: corev1.PersistentVolumeSource{
					HostPath: &corev1.HostPathVolumeSource{Path: "/volumes/" + volume},
				},
				ClaimRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim",
					Namespace: namespace, Name: name, UID: claim.UID},
			},
		}, nil)
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return 0, err
		}
		return 0, actor.Do(c, http.MethodPatch, path, map[string]any{"spec": map[string]any{"volumeName": volume}}, nil)
	}
	if claim.Status.Phase != corev1.ClaimBound {
		claim.Status.Phase, claim.Status.AccessModes, claim.Status.Capacity = corev1.ClaimBound, claim.Spec.AccessModes,
			claim.Spec.Resources.Requests
		return 0, actor.Do(c, http.MethodPut, path+"/status", claim, nil)
	}
	return 0, nil
}

// reclaim deletes the volumes of a claim that has gone, where they are to go with it.
func reclaim(c *controller, namespace, name string) error {
	all, err := actor.List[corev1.PersistentVolume](c, actor.Path("", "v1", "", "persistentvolumes", ""))
	if err != nil {
		return err
	}
	for i := range all {
		v := &all[i]
		if of := v.Spec.ClaimRef; of == nil || of.Namespace != namespace || of.Name != name ||
			v.DeletionTimestamp != nil ||
			v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
			continue
		}
		err := actor.Do(c, http.MethodDelete, actor.Path("", "v1", "", "persistentvolumes", v.Name),
			metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &v.UID}}, nil)
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}
