package registry

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var ingressKind = builtin{
	group: "networking.k8s.io", version: "v1", kind: "Ingress", plural: "ingresses",
	short:  []string{"ing"},
	object: func() runtime.Object { return &networkingv1.Ingress{} },
	strategy: strategy{
		Unconditional: true, status: true, generation: true,
		Validate: checks(validateIngress),
	},
}

func validateIngress(in *networkingv1.Ingress) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if len(in.Spec.Rules) == 0 && in.Spec.DefaultBackend == nil {
		return field.ErrorList{field.Invalid(spec, in.Spec.Rules,
			"either `defaultBackend` or `rules` must be specified")}
	}
	for i, rule := range in.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		paths := spec.Child("rules").Index(i).Child("http", "paths")
		if len(rule.HTTP.Paths) == 0 {
			errs = append(errs, field.Required(paths, ""))
		}
		for j, p := range rule.HTTP.Paths {
			if p.PathType == nil {
				errs = append(errs, field.Required(paths.Index(j).Child("pathType"), "pathType must be specified"))
			}
		}
	}
	return errs
}

var ingressClassKind = builtin{
	group: "networking.k8s.io", version: "v1", kind: "IngressClass", plural: "ingressclasses",
	cluster: true,
	object:  func() runtime.Object { return &networkingv1.IngressClass{} },
	strategy: strategy{
		Unconditional: true, generation: true,
		defaults: on(func(i *networkingv1.IngressClass) {
			if i.Spec.Parameters != nil {
				defaultTo(&i.Spec.Parameters.Scope, networkingv1.IngressClassParametersReferenceScopeCluster)
			}
		}),
		Validate: checks(func(i *networkingv1.IngressClass) field.ErrorList {
			if i.Spec.Controller == "" {
				return field.ErrorList{field.Required(field.NewPath("spec", "controller"), "")}
			}
			return nil
		}),
		validateUpdate: compares(func(i, old *networkingv1.IngressClass) field.ErrorList {
			return frozen(field.NewPath("spec"), change{"controller", i.Spec.Controller, old.Spec.Controller})
		}),
	},
}

var networkPolicyKind = builtin{
	group: "networking.k8s.io", version: "v1", kind: "NetworkPolicy", plural: "networkpolicies",
	short:  []string{"netpol"},
	object: func() runtime.Object { return &networkingv1.NetworkPolicy{} },
	strategy: strategy{
		Unconditional: true, generation: true,
		defaults: on(defaultNetworkPolicy),
	},
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

var endpointSliceKind = builtin{
	group: "discovery.k8s.io", version: "v1", kind: "EndpointSlice", plural: "endpointslices",
	object: func() runtime.Object { return &discoveryv1.EndpointSlice{} },
	strategy: strategy{
		Unconditional: true, generation: true, labelsCount: true,
		defaults: on(func(e *discoveryv1.EndpointSlice) {
			e.Endpoints, e.Ports = orNil(e.Endpoints), orNil(e.Ports)
			for i := range e.Ports {
				defaultTo(&e.Ports[i].Name, "")
				defaultTo(&e.Ports[i].Protocol, corev1.ProtocolTCP)
			}
		}),
		Validate: checks(func(e *discoveryv1.EndpointSlice) field.ErrorList {
			if e.AddressType == "" {
				return field.ErrorList{field.Required(field.NewPath("addressType"), "")}
			}
			return nil
		}),
		validateUpdate: compares(func(e, old *discoveryv1.EndpointSlice) field.ErrorList {
			if e.AddressType != old.AddressType {
				return field.ErrorList{field.Invalid(field.NewPath("addressType"), nil, "field is immutable")}
			}
			return nil
		}),
	},
}
