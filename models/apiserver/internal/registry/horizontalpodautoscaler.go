package registry

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var autoscalerKind = builtin{
	group: "autoscaling", version: "v2", kind: "HorizontalPodAutoscaler", plural: "horizontalpodautoscalers",
	short: []string{"hpa"}, categories: []string{"all"},
	object:   func() runtime.Object { return &autoscalingv2.HorizontalPodAutoscaler{} },
	strategy: autoscalerStrategy,
}

var autoscalerStrategy = strategy{
	Unconditional: true, status: true, generation: true,
	defaults: on(defaultAutoscaler),
	Validate: checks(func(a *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
		spec := field.NewPath("spec")
		var errs field.ErrorList
		target := spec.Child("scaleTargetRef")
		if a.Spec.MinReplicas != nil && a.Spec.MaxReplicas < *a.Spec.MinReplicas {
			errs = append(errs, field.Invalid(spec.Child("maxReplicas"), a.Spec.MaxReplicas,
				"must be greater than or equal to `minReplicas`"))
		}
		if a.Spec.ScaleTargetRef.Kind == "" {
			errs = append(errs, field.Required(target.Child("kind"), ""))
		}
		if a.Spec.ScaleTargetRef.Name == "" {
			errs = append(errs, field.Required(target.Child("name"), ""))
		}
		if a.Spec.ScaleTargetRef.APIVersion == "" {
			errs = append(errs, field.Invalid(target.Child("apiVersion"), "", "apiVersion must specify API group"))
		}
		switch n := a.Spec.MaxReplicas; {
		case n == 0:
			errs = append(errs, field.Required(spec.Child("maxReplicas"), ""))
		case n < 0:
			errs = append(errs, field.Invalid(spec.Child("maxReplicas"), n, "must be greater than 0"))
		}
		return errs
	}),
}

func defaultAutoscaler(a *autoscalingv2.HorizontalPodAutoscaler) {
	defaultTo(&a.Spec.MinReplicas, 1)
	if len(a.Spec.Metrics) == 0 {
		utilization := int32(80)
		a.Spec.Metrics = []autoscalingv2.MetricSpec{{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{
				Name: corev1.ResourceCPU,
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType,
					AverageUtilization: &utilization},
			},
		}}
	}
	if b := a.Spec.Behavior; b != nil {
		percent := autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PercentScalingPolicy, Value: 100,
			PeriodSeconds: 15}
		pods := autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 15}
		zero := int32(0)
		b.ScaleUp = scalingRules(b.ScaleUp, &zero, pods, percent)
		b.ScaleDown = scalingRules(b.ScaleDown, nil, percent)
	}
}

func scalingRules(
	rules *autoscalingv2.HPAScalingRules, window *int32, policies ...autoscalingv2.HPAScalingPolicy,
) *autoscalingv2.HPAScalingRules {
	if rules == nil {
		rules = &autoscalingv2.HPAScalingRules{}
	}
	defaultTo(&rules.SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	if rules.StabilizationWindowSeconds == nil {
		rules.StabilizationWindowSeconds = window
	}
	if rules.Policies == nil {
		rules.Policies = policies
	}
	return rules
}
