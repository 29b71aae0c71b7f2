package registry

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// Its strategy follows pkg/apis/core/v1/defaults.go, pkg/registry/core/service and
// pkg/apis/core/validation, for clusters with one address family. Addresses and node ports are
// handed out in order and not reused.
var serviceKind = builtin{
	group: "", version: "v1", kind: "Service", plural: "services",
	short: []string{"svc"}, categories: []string{"all"},
	object: func() runtime.Object { return &corev1.Service{} },
	strategy: strategy{
		Unconditional: true, CreateOnUpdate: true, status: true, ReturnsDeleted: true, Unmodelled: []string{"proxy"},
		validName: apivalidation.NameIsDNSLabel,
		defaults:  on(defaultService),
		prepareCreate: func(w Write, o runtime.Object) {
			s := o.(*corev1.Service)
			s.Status = corev1.ServiceStatus{}
			allocate(w, s)
		},
		prepareUpdate: func(w Write, o, old runtime.Object) {
			s, before := o.(*corev1.Service), old.(*corev1.Service)
			dropForType(s, before)
			keepAllocated(s, before)
			allocate(w, s)
		},
		Validate:       checks(validateService),
		validateStatus: serviceStatusErrors,
		validateUpdate: compares(func(s, old *corev1.Service) field.ErrorList {
			if old.Spec.Type == corev1.ServiceTypeExternalName || s.Spec.Type == corev1.ServiceTypeExternalName ||
				old.Spec.ClusterIP == s.Spec.ClusterIP {
				return nil
			}
			return field.ErrorList{field.Invalid(field.NewPath("spec", "clusterIPs").Index(0), s.Spec.ClusterIPs,
				"may not change once set")}
		}),
	},
	fields: serviceFields,
}

var serviceFields = map[string]func(*object.Object) string{
	"spec.clusterIP": selects(func(s *corev1.Service) string { return s.Spec.ClusterIP }),
	"spec.type":      selects(func(s *corev1.Service) string { return string(s.Spec.Type) }),
}

func defaultService(s *corev1.Service) {
	spec := &s.Spec
	defaultString(&spec.SessionAffinity, corev1.ServiceAffinityNone)
	if spec.SessionAffinity == corev1.ServiceAffinityNone {
		spec.SessionAffinityConfig = nil
	} else if c := spec.SessionAffinityConfig; c == nil || c.ClientIP == nil || c.ClientIP.TimeoutSeconds == nil {
		seconds := corev1.DefaultClientIPServiceAffinitySeconds
		spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{
			ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: &seconds},
		}
	}
	defaultString(&spec.Type, corev1.ServiceTypeClusterIP)
	for i := range spec.Ports {
		port := &spec.Ports[i]
		defaultString(&port.Protocol, corev1.ProtocolTCP)
		if port.TargetPort == intstr.FromInt32(0) || port.TargetPort == intstr.FromString("") {
			port.TargetPort = intstr.FromInt32(port.Port)
		}
	}
	external := spec.Type == corev1.ServiceTypeNodePort || spec.Type == corev1.ServiceTypeLoadBalancer
	if external || spec.Type == corev1.ServiceTypeClusterIP &&
		len(spec.ExternalIPs) > 0 { //nolint:staticcheck // as upstream
		defaultString(&spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
	if spec.Type != corev1.ServiceTypeExternalName {
		defaultTo(&spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	}
	if spec.Type == corev1.ServiceTypeLoadBalancer {
		defaultTo(&spec.AllocateLoadBalancerNodePorts, true)
	}
}

func validateService(s *corev1.Service) field.ErrorList {
	var errs field.ErrorList
	spec, ports := &s.Spec, field.NewPath("spec", "ports")
	if len(spec.Ports) == 0 && spec.ClusterIP != corev1.ClusterIPNone && spec.Type != corev1.ServiceTypeExternalName {
		errs = append(errs, field.Required(ports, ""))
	}
	names := map[string]bool{}
	for i, port := range spec.Ports {
		at := ports.Index(i)
		switch {
		case port.Name == "" && len(spec.Ports) > 1:
			errs = append(errs, field.Required(at.Child("name"), ""))
		case port.Name != "" && names[port.Name]:
			errs = append(errs, field.Duplicate(at.Child("name"), port.Name))
		case port.Name != "":
			errs = append(errs, invalid(at.Child("name"), port.Name, validation.IsDNS1123Label(port.Name))...)
		}
		names[port.Name] = true
		errs = append(errs, invalid(at.Child("port"), port.Port, validation.IsValidPortNum(int(port.Port)))...)
		if port.TargetPort.Type == intstr.Int {
			errs = append(errs, invalid(at.Child("targetPort"), port.TargetPort,
				validation.IsValidPortNum(port.TargetPort.IntValue()))...)
		} else {
			errs = append(errs, invalid(at.Child("targetPort"), port.TargetPort,
				validation.IsValidPortName(port.TargetPort.StrVal))...)
		}
	}
	if spec.Type == corev1.ServiceTypeExternalName && spec.ExternalName == "" {
		errs = append(errs, field.Required(field.NewPath("spec", "externalName"), ""))
	}
	if types := serviceTypes(); !slices.Contains(types, string(spec.Type)) {
		errs = append(errs, field.NotSupported(field.NewPath("spec", "type"), spec.Type, types))
	}
	return append(errs, repeatedPorts(spec.Ports)...)
}

func serviceTypes() []string {
	return []string{"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"}
}

// repeatedPorts finds ports that are there twice; the message shows them as the internal type does.
func repeatedPorts(ports []corev1.ServicePort) field.ErrorList {
	type shown struct {
		Name        string
		Protocol    corev1.Protocol
		AppProtocol *string
		Port        int32
		TargetPort  int
		NodePort    int32
	}
	var errs field.ErrorList
	seen := map[shown]bool{}
	for i, p := range ports {
		key := shown{Protocol: p.Protocol, Port: p.Port}
		if seen[key] {
			errs = append(errs, field.Duplicate(field.NewPath("spec", "ports").Index(i), key))
		}
		seen[key] = true
	}
	return errs
}

func serviceStatusErrors(o, _ runtime.Object) field.ErrorList {
	s := o.(*corev1.Service)
	if s.Spec.Type == corev1.ServiceTypeLoadBalancer || len(s.Status.LoadBalancer.Ingress) == 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("status", "loadBalancer", "ingress"),
		"may only be used when `spec.type` is 'LoadBalancer'")}
}
