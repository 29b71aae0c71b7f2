package registry

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var limitRangeKind = builtin{
	group: "", version: "v1", kind: "LimitRange", plural: "limitranges",
	short:    []string{"limits"},
	object:   func() runtime.Object { return &corev1.LimitRange{} },
	strategy: limitRangeStrategy,
}

var limitRangeStrategy = strategy{
	Unconditional: true, CreateOnUpdate: true,
	defaults: on(func(l *corev1.LimitRange) {
		for i := range l.Spec.Limits {
			defaultLimits(&l.Spec.Limits[i])
		}
	}),
}

func defaultLimits(item *corev1.LimitRangeItem) {
	if item.Type != corev1.LimitTypeContainer {
		return
	}
	fill := func(to *corev1.ResourceList, from corev1.ResourceList) {
		if *to == nil {
			*to = corev1.ResourceList{}
		}
		for name, quantity := range from {
			if _, given := (*to)[name]; !given {
				(*to)[name] = quantity.DeepCopy()
			}
		}
	}
	fill(&item.Default, item.Max)
	fill(&item.DefaultRequest, item.Default)
	fill(&item.DefaultRequest, item.Min)
}
