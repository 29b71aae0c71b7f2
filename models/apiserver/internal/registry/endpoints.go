package registry

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var endpointsKind = builtin{
	group: "", version: "v1", kind: "Endpoints", plural: "endpoints",
	short:    []string{"ep"},
	object:   func() runtime.Object { return &corev1.Endpoints{} }, //nolint:staticcheck // still served
	strategy: endpointsStrategy,
}

var endpointsStrategy = strategy{
	Unconditional: true, CreateOnUpdate: true,
	deprecation: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
	defaults: on(func(e *corev1.Endpoints) { //nolint:staticcheck // still served
		for i := range e.Subsets {
			for j := range e.Subsets[i].Ports {
				defaultString(&e.Subsets[i].Ports[j].Protocol, corev1.ProtocolTCP)
			}
		}
	}),
}
