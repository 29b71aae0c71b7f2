package apiserver

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// serviceStrategy follows pkg/apis/core/v1/defaults.go, pkg/registry/core/service and pkg/apis/core/validation, for
// clusters with one address family. Addresses and node ports are handed out in order and not reused.
var serviceStrategy = builtin{
	unconditional: true, createOnUpdate: true, status: true, returnsDeleted: true, unmodelled: []string{"proxy"},
	validName: apivalidation.NameIsDNSLabel,
	defaults:  on(defaultService),
	prepareCreate: func(c *call, o runtime.Object) {
		s := o.(*corev1.Service)
		s.Status = corev1.ServiceStatus{}
		allocate(c, s)
	},
	prepareUpdate: func(c *call, o, old runtime.Object) {
		s, before := o.(*corev1.Service), old.(*corev1.Service)
		dropForType(s, before)
		keepAllocated(s, before)
		allocate(c, s)
	},
	validate:       checks(validateService),
	validateStatus: serviceStatusErrors,
	validateUpdate: compares(func(s, old *corev1.Service) field.ErrorList {
		if old.Spec.Type == corev1.ServiceTypeExternalName || s.Spec.Type == corev1.ServiceTypeExternalName || old.Spec.ClusterIP == s.Spec.ClusterIP {
			return nil
		}
		return field.ErrorList{field.Invalid(field.NewPath("spec", "clusterIPs").Index(0), s.Spec.ClusterIPs, "may not change once set")}
	}),
}

func defaultService(s *corev1.Service) {
	spec := &s.Spec
	defaultString(&spec.SessionAffinity, corev1.ServiceAffinityNone)
	if spec.SessionAffinity == corev1.ServiceAffinityNone {
		spec.SessionAffinityConfig = nil
	} else if c := spec.SessionAffinityConfig; c == nil || c.ClientIP == nil || c.ClientIP.TimeoutSeconds == nil {
		seconds := corev1.DefaultClientIPServiceAffinitySeconds
		spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: &seconds}}
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
	if external || spec.Type == corev1.ServiceTypeClusterIP && len(spec.ExternalIPs) > 0 { //nolint:staticcheck // as upstream
		defaultString(&spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
	if spec.Type != corev1.ServiceTypeExternalName {
		defaultTo(&spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	}
	if spec.Type == corev1.ServiceTypeLoadBalancer {
		defaultTo(&spec.AllocateLoadBalancerNodePorts, true)
	}
}

// allocate fills what a real server's allocators fill.
func allocate(c *call, s *corev1.Service) {
	spec := &s.Spec
	if spec.Type == corev1.ServiceTypeExternalName {
		return
	}
	if spec.ClusterIP == "" && len(spec.ClusterIPs) > 0 {
		spec.ClusterIP = spec.ClusterIPs[0]
	}
	if spec.ClusterIP == "" {
		n := c.s.addresses + 2
		if !c.dryRun {
			c.s.addresses++
		}
		spec.ClusterIP = fmt.Sprintf("10.%d.%d.%d", 96+n>>16&15, n>>8&255, n&255)
	}
	if len(spec.ClusterIPs) == 0 {
		spec.ClusterIPs = []string{spec.ClusterIP}
	}
	if spec.ClusterIP == corev1.ClusterIPNone && len(spec.Selector) == 0 && len(spec.IPFamilies) == 0 && spec.IPFamilyPolicy == nil {
		// Without a selector the endpoints are anybody's, in either family.
		spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
		defaultTo(&spec.IPFamilyPolicy, corev1.IPFamilyPolicyRequireDualStack)
	}
	if len(spec.IPFamilies) == 0 {
		spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	}
	defaultTo(&spec.IPFamilyPolicy, corev1.IPFamilyPolicySingleStack)
	allot := func(port *int32) {
		if *port == 0 {
			*port = int32(30000 + c.s.nodePorts%2768)
			if !c.dryRun {
				c.s.nodePorts++
			}
		}
	}
	if needsNodePorts(s) {
		for i := range spec.Ports {
			allot(&spec.Ports[i].NodePort)
		}
	}
	if needsHealthCheckPort(s) {
		allot(&spec.HealthCheckNodePort)
	}
}

func needsNodePorts(s *corev1.Service) bool {
	allocates := s.Spec.AllocateLoadBalancerNodePorts
	return s.Spec.Type == corev1.ServiceTypeNodePort || s.Spec.Type == corev1.ServiceTypeLoadBalancer && (allocates == nil || *allocates)
}

func needsHealthCheckPort(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeLoadBalancer && s.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

// keepAllocated carries allocated values over to an update that leaves them out
// (pkg/registry/core/service/storage/storage.go, patchAllocatedValues).
func keepAllocated(s, old *corev1.Service) {
	needsIP := func(s *corev1.Service) bool { return s.Spec.Type != corev1.ServiceTypeExternalName }
	if needsIP(s) && needsIP(old) {
		if s.Spec.ClusterIP == "" {
			s.Spec.ClusterIP = old.Spec.ClusterIP
		}
		if len(s.Spec.ClusterIPs) == 0 && s.Spec.ClusterIP == old.Spec.ClusterIP {
			s.Spec.ClusterIPs = append([]string(nil), old.Spec.ClusterIPs...)
		}
	}
	if needsNodePorts(s) && needsNodePorts(old) {
		keepNodePorts(s.Spec.Ports, old.Spec.Ports)
	}
	if needsHealthCheckPort(s) && needsHealthCheckPort(old) && s.Spec.HealthCheckNodePort == 0 {
		s.Spec.HealthCheckNodePort = old.Spec.HealthCheckNodePort
	}
}

// keepNodePorts gives ports that say nothing the node ports of those that had their names, where they are not said elsewhere.
func keepNodePorts(ports, old []corev1.ServicePort) {
	said, byName := map[int32]bool{}, map[string]int32{}
	for _, p := range ports {
		said[p.NodePort] = p.NodePort != 0
	}
	for _, p := range old {
		byName[p.Name] = p.NodePort
	}
	for i := range ports {
		if port := byName[ports[i].Name]; ports[i].NodePort == 0 && !said[port] {
			ports[i].NodePort = port
		}
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
			errs = append(errs, invalid(at.Child("targetPort"), port.TargetPort, validation.IsValidPortNum(port.TargetPort.IntValue()))...)
		} else {
			errs = append(errs, invalid(at.Child("targetPort"), port.TargetPort, validation.IsValidPortName(port.TargetPort.StrVal))...)
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
