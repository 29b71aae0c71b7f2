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
	template, rev := &s.set.Spec.Template, s.update
	if n < s.first()+s.partition() {
		template, rev = s.old, s.current
	}
	p := podOf(s.set.Namespace, template, s.ref())
	p.Name = fmt.Sprintf("%s-%d", s.set.Name, n)
	p.Labels[appsv1.StatefulSetPodNameLabel], p.Labels[appsv1.StatefulSetRevisionLabel] = p.Name, rev
	p.Labels[appsv1.PodIndexLabel] = strconv.Itoa(n)
	p.Spec.Hostname, p.Spec.Subdomain = p.Name, s.set.Spec.ServiceName
	if wrote, err := s.claims(p.Name); wrote || err != nil {
		return true, err
	}
	for _, t := range s.set.Spec.VolumeClaimTemplates {
		// A claim takes the place of a volume with its name (stateful_set_utils.go, updateStorage).
		p.Spec.Volumes = slices.DeleteFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == t.Name })
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: t.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: t.Name + "-" + p.Name}}})
	}
	return true, create(s.controller, p)
}

// claims makes the first claim of a pod that is missing. One that is being deleted is not taken: it
// fails the attempt until it has gone (stateful_pod_control.go, createPersistentVolumeClaims).
func (s *series) claims(pod string) (bool, error) {
	for _, t := range s.set.Spec.VolumeClaimTemplates {
		c := t.DeepCopy()
		c.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}
		c.Namespace, c.Name = s.set.Namespace, t.Name+"-"+pod
		if c.Labels == nil {
			c.Labels = map[string]string{}
		}
		maps.Copy(c.Labels, s.set.Spec.Selector.MatchLabels)
		c.Status = corev1.PersistentVolumeClaimStatus{}
		collection := actor.Path("", "v1", s.set.Namespace, "persistentvolumeclaims", "")
		switch there := read[corev1.PersistentVolumeClaim](s.controller, collection+"/"+c.Name); {
		case there == nil:
			err := actor.Do(s, http.MethodPost, collection, c, nil)
			if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
				err = nil
			}
			return true, err
		case there.DeletionTimestamp != nil:
			return false, fmt.Errorf("pvc %s is being deleted", c.Name)
		}
	}
	return false, nil
}

// stale reports whether a claim for a pod that is to be made belongs to an earlier pod and is about
// to go with it. Only a change of the set or its pods brings the controller back then
// (stateful_pod_control.go, PodClaimIsStale).
func (s *series) stale(n int) bool {
	policy := s.set.Spec.PersistentVolumeClaimRetentionPolicy
	if policy == nil || policy.WhenScaled != appsv1.DeletePersistentVolumeClaimRetentionPolicyType {
		return false
	}
	pod := fmt.Sprintf("%s-%d", s.set.Name, n)
	return slices.ContainsFunc(s.set.Spec.VolumeClaimTemplates, func(t corev1.PersistentVolumeClaim) bool {
		claim := read[corev1.PersistentVolumeClaim](s.controller,
			actor.Path("", "v1", s.set.Namespace, "persistentvolumeclaims", t.Name+"-"+pod))
		return claim != nil && slices.ContainsFunc(claim.OwnerReferences,
			func(r metav1.OwnerReference) bool { return r.Kind == "Pod" && r.Name == pod })
	})
}

// keep gives the claims of each pod the owner that spec.persistentVolumeClaimRetentionPolicy wants:
// with whenDeleted the set, with whenScaled the pod that is about to go (stateful_set_utils.go,
// updateClaimOwnerRefForSetAndPod).
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
				return true, gone(actor.Do(s, http.MethodPatch, path,
					map[string]any{"metadata": map[string]any{"ownerReferences": refs}}, nil))
			}
		}
	}
	return false, nil
}

// owners adds who should own the claims of a pod to the others who do, unless one of those is their
// controller.
func (s *series) owners(n int, p *corev1.Pod, others []metav1.OwnerReference) []metav1.OwnerReference {
	policy, deleted := s.set.Spec.PersistentVolumeClaimRetentionPolicy,
		appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	if policy == nil || slices.ContainsFunc(others,
		func(r metav1.OwnerReference) bool { return r.Controller != nil && *r.Controller }) {
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
