package registry

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var priorityClassKind = builtin{
	group: "scheduling.k8s.io", version: "v1", kind: "PriorityClass", plural: "priorityclasses",
	short: []string{"pc"}, cluster: true,
	object:   func() runtime.Object { return &schedulingv1.PriorityClass{} },
	strategy: priorityClassStrategy,
}

var priorityClassStrategy = strategy{
	Unconditional: true, generation: true,
	defaults: on(func(p *schedulingv1.PriorityClass) { defaultTo(&p.PreemptionPolicy, corev1.PreemptLowerPriority) }),
	validateUpdate: compares(func(p, old *schedulingv1.PriorityClass) field.ErrorList {
		if p.Value != old.Value {
			return field.ErrorList{field.Forbidden(field.NewPath("value"), "may not be changed in an update.")}
		}
		return nil
	}),
}
