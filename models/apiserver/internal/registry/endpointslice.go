package registry

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var endpointSliceKind = builtin{
	group: "discovery.k8s.io", version: "v1", kind: "EndpointSlice", plural: "endpointslices",
	object:   func() runtime.Object { return &discoveryv1.EndpointSlice{} },
	strategy: endpointSliceStrategy,
}

var endpointSliceStrategy = strategy{
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
}
