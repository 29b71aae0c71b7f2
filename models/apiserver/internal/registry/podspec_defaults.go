package registry

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The defaults of pods and of the pod templates in workloads are those of
// pkg/apis/core/v1/defaults.go. Volume sources of particular storage systems keep what they are
// given.

func defaultPodSpec(s *corev1.PodSpec) {
	defaultString(&s.DNSPolicy, corev1.DNSClusterFirst)
	defaultString(&s.RestartPolicy, corev1.RestartPolicyAlways)
	defaultTo(&s.TerminationGracePeriodSeconds, int64(corev1.DefaultTerminationGracePeriodSeconds))
	defaultString(&s.SchedulerName, corev1.DefaultSchedulerName)
	if s.SecurityContext == nil {
		s.SecurityContext = &corev1.PodSecurityContext{}
	}
	// The deprecated name and the present one mean the same and are kept equal.
	if s.ServiceAccountName == "" {
		s.ServiceAccountName = s.DeprecatedServiceAccount
	}
	s.DeprecatedServiceAccount = s.ServiceAccountName
	for i := range s.InitContainers {
		defaultContainer(&s.InitContainers[i], s.HostNetwork)
	}
	for i := range s.Containers {
		defaultContainer(&s.Containers[i], s.HostNetwork)
	}
	for i := range s.Volumes {
		defaultVolume(&s.Volumes[i].VolumeSource)
	}
}

func defaultContainer(c *corev1.Container, hostNetwork bool) {
	defaultString(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	defaultString(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	if c.ImagePullPolicy == "" {
		c.ImagePullPolicy = corev1.PullIfNotPresent
		if tag := imageTag(c.Image); tag == "latest" {
			c.ImagePullPolicy = corev1.PullAlways
		}
	}
	for i := range c.Ports {
		defaultString(&c.Ports[i].Protocol, corev1.ProtocolTCP)
		if hostNetwork && c.Ports[i].HostPort == 0 {
			c.Ports[i].HostPort = c.Ports[i].ContainerPort
		}
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil && from.FieldRef != nil {
			defaultString(&from.FieldRef.APIVersion, "v1")
		}
	}
	defaultProbe(c.LivenessProbe)
	defaultProbe(c.ReadinessProbe)
	defaultProbe(c.StartupProbe)
	if c.Lifecycle != nil {
		for _, hook := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if hook != nil {
				defaultGet(hook.HTTPGet)
			}
		}
	}
}

// imageTag is the tag of an image reference: latest when there is neither tag nor digest.
func imageTag(image string) string {
	name := image[strings.LastIndex(image, "/")+1:]
	if strings.Contains(name, "@") {
		return ""
	}
	if _, tag, found := strings.Cut(name, ":"); found {
		return tag
	}
	return "latest"
}

func defaultProbe(p *corev1.Probe) {
	if p == nil {
		return
	}
	defaultNumber(&p.TimeoutSeconds, 1)
	defaultNumber(&p.PeriodSeconds, 10)
	defaultNumber(&p.SuccessThreshold, 1)
	defaultNumber(&p.FailureThreshold, 3)
	defaultGet(p.HTTPGet)
	if p.GRPC != nil {
		defaultTo(&p.GRPC.Service, "")
	}
}

func defaultGet(get *corev1.HTTPGetAction) {
	if get == nil {
		return
	}
	defaultString(&get.Path, "/")
	defaultString(&get.Scheme, corev1.URISchemeHTTP)
}

const fileMode = int32(0o644)

func defaultVolume(v *corev1.VolumeSource) {
	if *v == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	switch {
	case v.Secret != nil:
		defaultTo(&v.Secret.DefaultMode, fileMode)
	case v.ConfigMap != nil:
		defaultTo(&v.ConfigMap.DefaultMode, fileMode)
	case v.DownwardAPI != nil:
		defaultTo(&v.DownwardAPI.DefaultMode, fileMode)
		defaultDownward(v.DownwardAPI.Items)
	case v.Projected != nil:
		defaultTo(&v.Projected.DefaultMode, fileMode)
		for i := range v.Projected.Sources {
			source := &v.Projected.Sources[i]
			if source.ServiceAccountToken != nil {
				defaultTo(&source.ServiceAccountToken.ExpirationSeconds, 3600)
			}
			if source.DownwardAPI != nil {
				defaultDownward(source.DownwardAPI.Items)
			}
		}
	case v.HostPath != nil:
		defaultTo(&v.HostPath.Type, corev1.HostPathUnset)
	case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
		defaultTo(&v.Ephemeral.VolumeClaimTemplate.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	}
}

func defaultDownward(items []corev1.DownwardAPIVolumeFile) {
	for i := range items {
		if items[i].FieldRef != nil {
			defaultString(&items[i].FieldRef.APIVersion, "v1")
		}
	}
}
