package workload

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor"
)

// make creates a pod, its claims first.
func (s *series) make(n int) (bool, error) {
	partition := 0
	if u := s.set.Spec.UpdateStrategy.RollingUpdate; u != nil && u.Partition != nil {
		partition = int(*u.Partition)
	}
	template, rev := &s.set.Spec.Template, s.update
	if n < partition {
		template, rev = s.old, s.current
	}
	p := podOf(s.set.Namespace, template, s.ref())
	p.Name = fmt.Sprintf("%s-%d", s.set.Name, n)
	p.Labels[appsv1.StatefulSetPodNameLabel], p.Labels[appsv1.StatefulSetRevisionLabel] = p.Name, rev
	p.Labels[appsv1.PodIndexLabel] = strconv.Itoa(n)
	p.Spec.Hostname, p.Spec.Subdomain = p.Name, s.set.Spec.ServiceName
	for _, t := range s.set.Spec.VolumeClaimTemplates {
		c := t.DeepCopy()
		c.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}
		c.Namespace, c.Name = s.set.Namespace, t.Name+"-"+p.Name
		c.Labels = s.set.Spec.Selector.MatchLabels
		c.Status = corev1.PersistentVolumeClaimStatus{}
		claims := actor.Path("", "v1", s.set.Namespace, "persistentvolumeclaims", "")
		if read[corev1.PersistentVolumeClaim](s.controller, claims+"/"+c.Name) == nil {
			err := actor.Do(s, http.MethodPost, claims, c, nil)
			if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
				err = nil
			}
			return true, err
		}
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: t.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.Name}}})
	}
	return true, create(s.controller, p)
}

// keep gives the claims of each pod the owner that spec.persistentVolumeClaimRetentionPolicy wants: with whenDeleted the
// set, with whenScaled the pod that is about to go (stateful_set_utils.go, updateClaimOwnerRefForSetAndPod).
func (s *series) keep() (bool, error) {
	for _, n := range slices.Sorted(maps.Keys(s.pods)) {
		p := s.pods[n]
		for _, t := range s.set.Spec.VolumeClaimTemplates {
			path := actor.Path("", "v1", s.set.Namespace, "persistentvolumeclaims", t.Name+"-"+p.Name)
			claim := read[corev1.PersistentVolumeClaim](s.controller, path)
			if claim == nil {
				continue
			}
			refs := s.owners(n, p, without(without(claim.OwnerReferences, s.set), p))
			if len(refs)+len(claim.OwnerReferences) > 0 && !reflect.DeepEqual(refs, claim.OwnerReferences) {
				return true, gone(actor.Do(s, http.MethodPatch, path, map[string]any{"metadata": map[string]any{"ownerReferences": refs}}, nil))
			}
		}
	}
	return false, nil
}

// owners adds who should own the claims of a pod to the others who do, unless one of those is their controller.
func (s *series) owners(n int, p *corev1.Pod, others []metav1.OwnerReference) []metav1.OwnerReference {
	policy, deleted := s.set.Spec.PersistentVolumeClaimRetentionPolicy, appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	if policy == nil || slices.ContainsFunc(others, func(r metav1.OwnerReference) bool { return r.Controller != nil && *r.Controller }) {
		return others
	}
	beyond := n < s.first() || n >= s.end()
	switch {
	case policy.WhenScaled == deleted && beyond:
		return append(others, *metav1.NewControllerRef(p, corev1.SchemeGroupVersion.WithKind("Pod")))
	case policy.WhenDeleted == deleted && !(beyond && policy.WhenScaled == deleted):
		return append(others, s.ref())
	}
	return others
}
