package kubelet

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// lacks is why the containers of a pod cannot be made yet, as their state says; empty if they can.
// A volume whose ConfigMap or Secret is not there is not mounted (volumemanager), and a container
// whose environment comes from one is not made (kubelet_pods.go, makeEnvironmentVariables).
func (k *kubelet) lacks(p *corev1.Pod) string {
	there := func(resource, name string, optional *bool) bool {
		return name == "" || optional != nil && *optional ||
			actor.Get(k, actor.Path("", "v1", p.Namespace, resource, name), &metav1.PartialObjectMetadata{})
	}
	for _, v := range p.Spec.Volumes {
		mounted := true
		if s := v.ConfigMap; s != nil {
			mounted = there("configmaps", s.Name, s.Optional)
		}
		if s := v.Secret; s != nil {
			mounted = there("secrets", s.SecretName, s.Optional)
		}
		if v.Projected != nil {
			for _, from := range v.Projected.Sources {
				if s := from.ConfigMap; s != nil {
					mounted = mounted && there("configmaps", s.Name, s.Optional)
				}
				if s := from.Secret; s != nil {
					mounted = mounted && there("secrets", s.Name, s.Optional)
				}
			}
		}
		if !mounted {
			return "ContainerCreating"
		}
	}
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		known := true
		for _, from := range c.EnvFrom {
			if s := from.ConfigMapRef; s != nil {
				known = known && there("configmaps", s.Name, s.Optional)
			}
			if s := from.SecretRef; s != nil {
				known = known && there("secrets", s.Name, s.Optional)
			}
		}
		for _, e := range c.Env {
			if e.ValueFrom == nil {
				continue
			}
			if s := e.ValueFrom.ConfigMapKeyRef; s != nil {
				known = known && there("configmaps", s.Name, s.Optional)
			}
			if s := e.ValueFrom.SecretKeyRef; s != nil {
				known = known && there("secrets", s.Name, s.Optional)
			}
		}
		if !known {
			return "CreateContainerConfigError"
		}
	}
	return ""
}

// arrived tries pods again that lack something, when a ConfigMap or a Secret is made in their
// namespace.
func (k *kubelet) arrived(ch apiserver.Change) {
	if ch.Type != "ADDED" {
		return
	}
	for _, uid := range slices.Sorted(maps.Keys(k.pods)) {
		state := k.pods[uid]
		var p corev1.Pod
		if state.lacks == "" || state.stopping || !actor.Get(k, state.path, &p) || p.Namespace != ch.Namespace ||
			over(&p) || k.lacks(&p) != "" {
			continue
		}
		state.lacks = ""
		k.start(&p, state)
	}
}

// unclaimed is why a pod cannot be scheduled for want of a claim; empty if it can
// (plugins/volumebinding, podHasPVCs).
func (s *scheduler) unclaimed(p *corev1.Pod) string {
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		name := v.PersistentVolumeClaim.ClaimName
		var claim metav1.PartialObjectMetadata
		switch there := actor.Get(s, actor.Path("", "v1", p.Namespace, "persistentvolumeclaims", name), &claim); {
		case !there:
			return `persistentvolumeclaim "` + name + `" not found`
		case claim.DeletionTimestamp != nil:
			return `persistentvolumeclaim "` + name + `" is being deleted`
		}
	}
	return ""
}
