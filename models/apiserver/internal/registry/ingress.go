package registry

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var ingressKind = builtin{
	group: "networking.k8s.io", version: "v1", kind: "Ingress", plural: "ingresses",
	short:    []string{"ing"},
	object:   func() runtime.Object { return &networkingv1.Ingress{} },
	strategy: ingressStrategy,
}

var ingressStrategy = strategy{
	Unconditional: true, status: true, generation: true,
	Validate: checks(validateIngress),
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
