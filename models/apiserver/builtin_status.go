package apiserver

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// count is a number of replicas that a status reports.
type count struct {
	name  string
	value int32
}

// countErrors are the rules for the numbers in a workload's status: none is negative, none is greater than the number of
// replicas, and none is available that is not ready (pkg/apis/apps/validation/validation.go).
func countErrors(observed int64, replicas int32, ready, available int32, readyName string, rest ...count) field.ErrorList {
	status := field.NewPath("status")
	all := append(rest, count{"readyReplicas", ready}, count{"availableReplicas", available})
	errs := apivalidation.ValidateNonnegativeField(observed, status.Child("observedGeneration"))
	errs = append(errs, apivalidation.ValidateNonnegativeField(int64(replicas), status.Child("replicas"))...)
	for _, c := range all {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(c.value), status.Child(c.name))...)
	}
	for _, c := range all {
		if c.value > replicas {
			errs = append(errs, field.Invalid(status.Child(c.name), c.value, "cannot be greater than status.replicas"))
		}
	}
	if available > ready {
		errs = append(errs, field.Invalid(status.Child("availableReplicas"), available, "cannot be greater than "+readyName))
	}
	return errs
}

func deploymentStatusErrors(o, _ runtime.Object) field.ErrorList {
	s := o.(*appsv1.Deployment).Status
	return countErrors(s.ObservedGeneration, s.Replicas, s.ReadyReplicas, s.AvailableReplicas, "readyReplicas",
		count{"updatedReplicas", s.UpdatedReplicas})
}

func replicaSetStatusErrors(o, _ runtime.Object) field.ErrorList {
	s := o.(*appsv1.ReplicaSet).Status
	return countErrors(s.ObservedGeneration, s.Replicas, s.ReadyReplicas, s.AvailableReplicas, "readyReplicas",
		count{"fullyLabeledReplicas", s.FullyLabeledReplicas})
}

func statefulSetStatusErrors(o, _ runtime.Object) field.ErrorList {
	s := o.(*appsv1.StatefulSet).Status
	return countErrors(s.ObservedGeneration, s.Replicas, s.ReadyReplicas, s.AvailableReplicas, "status.readyReplicas",
		count{"currentReplicas", s.CurrentReplicas}, count{"updatedReplicas", s.UpdatedReplicas})
}

func serviceStatusErrors(o, _ runtime.Object) field.ErrorList {
	s := o.(*corev1.Service)
	if s.Spec.Type == corev1.ServiceTypeLoadBalancer || len(s.Status.LoadBalancer.Ingress) == 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("status", "loadBalancer", "ingress"),
		"may only be used when `spec.type` is 'LoadBalancer'")}
}

// dropForType clears what the old type of a service needed and the new one does not, where the request has left it
// unchanged (pkg/registry/core/service/strategy.go, dropTypeDependentFields).
func dropForType(s, old *corev1.Service) {
	spec, before := &s.Spec, &old.Spec
	if spec.Type == corev1.ServiceTypeExternalName && before.Type != corev1.ServiceTypeExternalName {
		if spec.ClusterIP == before.ClusterIP {
			spec.ClusterIP, spec.ClusterIPs = "", nil
			spec.IPFamilies, spec.IPFamilyPolicy = nil, nil
		}
		spec.InternalTrafficPolicy = nil
	}
	exposed := func(t corev1.ServiceType) bool {
		return t == corev1.ServiceTypeNodePort || t == corev1.ServiceTypeLoadBalancer
	}
	if exposed(before.Type) && !exposed(spec.Type) {
		for i := range spec.Ports {
			for _, port := range before.Ports {
				if spec.Ports[i].NodePort == port.NodePort {
					spec.Ports[i].NodePort = 0
				}
			}
		}
		spec.ExternalTrafficPolicy = ""
	}
	if before.Type == corev1.ServiceTypeLoadBalancer && spec.Type != corev1.ServiceTypeLoadBalancer {
		spec.AllocateLoadBalancerNodePorts, spec.LoadBalancerClass, spec.HealthCheckNodePort = nil, nil, 0
		s.Status.LoadBalancer = corev1.LoadBalancerStatus{}
	}
	if needsHealthCheckPort(old) && !needsHealthCheckPort(s) && spec.HealthCheckNodePort == before.HealthCheckNodePort {
		spec.HealthCheckNodePort = 0
	}
}
