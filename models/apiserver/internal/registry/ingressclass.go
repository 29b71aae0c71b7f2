package registry

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var ingressClassKind = builtin{
	group: "networking.k8s.io", version: "v1", kind: "IngressClass", plural: "ingressclasses",
	cluster:  true,
	object:   func() runtime.Object { return &networkingv1.IngressClass{} },
	strategy: ingressClassStrategy,
}

var ingressClassStrategy = strategy{
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
}
