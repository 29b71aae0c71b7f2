package registry

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var networkPolicyKind = builtin{
	group: "networking.k8s.io", version: "v1", kind: "NetworkPolicy", plural: "networkpolicies",
	short:    []string{"netpol"},
	object:   func() runtime.Object { return &networkingv1.NetworkPolicy{} },
	strategy: networkPolicyStrategy,
}

var networkPolicyStrategy = strategy{
	Unconditional: true, generation: true,
	defaults: on(defaultNetworkPolicy),
}

func defaultNetworkPolicy(p *networkingv1.NetworkPolicy) {
	if len(p.Spec.PolicyTypes) == 0 {
		p.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(p.Spec.Egress) > 0 {
			p.Spec.PolicyTypes = append(p.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	}
	ports := func(list []networkingv1.NetworkPolicyPort) {
		for i := range list {
			defaultTo(&list[i].Protocol, corev1.ProtocolTCP)
		}
	}
	for i := range p.Spec.Ingress {
		ports(p.Spec.Ingress[i].Ports)
	}
	for i := range p.Spec.Egress {
		ports(p.Spec.Egress[i].Ports)
	}
}
