package registry

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var daemonSetKind = builtin{
	group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets",
	short: []string{"ds"}, categories: []string{"all"},
	object:   func() runtime.Object { return &appsv1.DaemonSet{} },
	strategy: daemonSetStrategy,
}

var daemonSetStrategy = strategy{
	Unconditional: true, status: true, generation: true,
	defaults: on(func(d *appsv1.DaemonSet) {
		defaultTo(&d.Spec.RevisionHistoryLimit, 10)
		strategy := &d.Spec.UpdateStrategy
		defaultString(&strategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
		if strategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
			if strategy.RollingUpdate == nil {
				strategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{}
			}
			defaultTo(&strategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
			defaultTo(&strategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
		}
		defaultPodSpec(&d.Spec.Template.Spec)
	}),
	Validate: checks(func(d *appsv1.DaemonSet) field.ErrorList {
		errs := workloadErrors("daemonset", nil, d.Spec.Selector, &d.Spec.Template)
		if d.Spec.Selector == nil {
			// Daemon sets alone do not report the selector itself as missing.
			errs = errs[1:]
		}
		return errs
	}),
	// The template's generation is a field of the internal type that v1 keeps in an annotation.
	prepareCreate: func(_ Write, o runtime.Object) {
		setLabel(&o.(*appsv1.DaemonSet).Annotations, appsv1.DeprecatedTemplateGeneration, "1")
	},
	prepareUpdate: func(_ Write, o, old runtime.Object) {
		d, before := o.(*appsv1.DaemonSet), old.(*appsv1.DaemonSet)
		generation, _ := strconv.Atoi(before.Annotations[appsv1.DeprecatedTemplateGeneration])
		if !equalObjects(d.Spec.Template, before.Spec.Template) {
			generation++
		}
		setLabel(&d.Annotations, appsv1.DeprecatedTemplateGeneration, strconv.Itoa(generation))
	},
	validateUpdate: compares(func(d, old *appsv1.DaemonSet) field.ErrorList {
		return frozen(field.NewPath("spec"), change{"selector", d.Spec.Selector, old.Spec.Selector})
	}),
}
