package registry

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// This is the part of pkg/apis/core/validation that operators run into: names, images, ports, and
// volumes that mounts refer to. The rules for resources, probes, security contexts and affinity are
// not modelled.

func templateErrors(t *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	errs := metavalidation.ValidateLabels(t.Labels, path.Child("labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(t.Annotations, path.Child("annotations"))...)
	return append(errs, podSpecErrors(&t.Spec, path.Child("spec"))...)
}

func podSpecErrors(s *corev1.PodSpec, path *field.Path) field.ErrorList {
	volumes, errs := volumeErrors(s.Volumes, path.Child("volumes"))
	containers := path.Child("containers")
	if len(s.Containers) == 0 {
		errs = append(errs, field.Required(containers, ""))
	}
	seen := map[string]bool{}
	for i := range s.Containers {
		errs = append(errs, containerErrors(&s.Containers[i], seen, volumes, containers.Index(i))...)
	}
	for i := range s.InitContainers {
		errs = append(errs, containerErrors(&s.InitContainers[i], seen, volumes,
			path.Child("initContainers").Index(i))...)
	}
	switch s.RestartPolicy {
	case corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever:
	default:
		errs = append(errs, field.NotSupported(path.Child("restartPolicy"), s.RestartPolicy,
			[]corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure,
				corev1.RestartPolicyNever}))
	}
	if s.ServiceAccountName != "" {
		errs = append(errs, invalid(path.Child("serviceAccountName"), s.ServiceAccountName,
			apivalidation.ValidateServiceAccountName(s.ServiceAccountName, false))...)
	}
	return errs
}

func volumeErrors(volumes []corev1.Volume, path *field.Path) (map[string]bool, field.ErrorList) {
	seen := map[string]bool{}
	var errs field.ErrorList
	for i := range volumes {
		name := path.Index(i).Child("name")
		switch {
		case volumes[i].Name == "":
			errs = append(errs, field.Required(name, ""))
		case seen[volumes[i].Name]:
			errs = append(errs, field.Duplicate(name, volumes[i].Name))
		default:
			errs = append(errs, invalid(name, volumes[i].Name, validation.IsDNS1123Label(volumes[i].Name))...)
		}
		seen[volumes[i].Name] = true
	}
	return seen, errs
}

func containerErrors(c *corev1.Container, seen, volumes map[string]bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case c.Name == "":
		errs = append(errs, field.Required(path.Child("name"), ""))
	case seen[c.Name]:
		errs = append(errs, field.Duplicate(path.Child("name"), c.Name))
	default:
		errs = append(errs, invalid(path.Child("name"), c.Name, validation.IsDNS1123Label(c.Name))...)
	}
	seen[c.Name] = true
	if c.Image == "" {
		errs = append(errs, field.Required(path.Child("image"), ""))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Resources.Limits)) {
		request, asked := c.Resources.Requests[name]
		if limit := c.Resources.Limits[name]; asked && request.Cmp(limit) > 0 {
			errs = append(errs, field.Invalid(path.Child("resources", "requests"), request.String(),
				fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
		}
	}
	for i := range c.Ports {
		at := path.Child("ports").Index(i).Child("containerPort")
		if c.Ports[i].ContainerPort == 0 {
			errs = append(errs, field.Required(at, ""))
			continue
		}
		errs = append(errs, invalid(at, c.Ports[i].ContainerPort,
			validation.IsValidPortNum(int(c.Ports[i].ContainerPort)))...)
	}
	for i := range c.Env {
		at := path.Child("env").Index(i).Child("name")
		if c.Env[i].Name == "" {
			errs = append(errs, field.Required(at, ""))
		}
	}
	for i := range c.VolumeMounts {
		mount := &c.VolumeMounts[i]
		at := path.Child("volumeMounts").Index(i)
		if mount.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else if !volumes[mount.Name] {
			errs = append(errs, field.NotFound(at.Child("name"), mount.Name))
		}
		if mount.MountPath == "" {
			errs = append(errs, field.Required(at.Child("mountPath"), ""))
		}
	}
	return errs
}
