package registry

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Allocated counts what services have been given.
type Allocated struct{ addresses, nodePorts int }

// take is the next number of a counter. A dry run leaves the counter as it is.
func (w Write) take(counter *int) int {
	n := *counter
	if !w.DryRun {
		*counter++
	}
	return n
}

// allocate fills what a real server's allocators fill.
func allocate(w Write, s *corev1.Service) {
	spec := &s.Spec
	if spec.Type == corev1.ServiceTypeExternalName {
		return
	}
	if spec.ClusterIP == "" && len(spec.ClusterIPs) > 0 {
		spec.ClusterIP = spec.ClusterIPs[0]
	}
	if spec.ClusterIP == "" {
		n := w.take(&w.Allocated.addresses) + 2
		spec.ClusterIP = fmt.Sprintf("10.%d.%d.%d", 96+n>>16&15, n>>8&255, n&255)
	}
	if len(spec.ClusterIPs) == 0 {
		spec.ClusterIPs = []string{spec.ClusterIP}
	}
	if spec.ClusterIP == corev1.ClusterIPNone && len(spec.Selector) == 0 && len(spec.IPFamilies) == 0 &&
		spec.IPFamilyPolicy == nil {
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
			*port = int32(30000 + w.take(&w.Allocated.nodePorts)%2768)
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
	balanced := s.Spec.Type == corev1.ServiceTypeLoadBalancer && (allocates == nil || *allocates)
	return balanced || s.Spec.Type == corev1.ServiceTypeNodePort
}

func needsHealthCheckPort(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeLoadBalancer &&
		s.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
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

// keepNodePorts gives ports that say nothing the node ports of those that had their names, where
// they are not said elsewhere.
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

// dropForType clears what the old type of a service needed and the new one does not, where the
// request has left it unchanged (pkg/registry/core/service/strategy.go, dropTypeDependentFields).
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
