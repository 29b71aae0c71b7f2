package registry

import (
	"encoding/pem"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

var priorityClassKind = builtin{
	group: "scheduling.k8s.io", version: "v1", kind: "PriorityClass", plural: "priorityclasses",
	short: []string{"pc"}, cluster: true,
	object: func() runtime.Object { return &schedulingv1.PriorityClass{} },
	strategy: strategy{
		Unconditional: true, generation: true,
		defaults: on(
			func(p *schedulingv1.PriorityClass) { defaultTo(&p.PreemptionPolicy, corev1.PreemptLowerPriority) },
		),
		validateUpdate: compares(func(p, old *schedulingv1.PriorityClass) field.ErrorList {
			if p.Value != old.Value {
				return field.ErrorList{field.Forbidden(field.NewPath("value"), "may not be changed in an update.")}
			}
			return nil
		}),
	},
}

var runtimeClassKind = builtin{
	group: "node.k8s.io", version: "v1", kind: "RuntimeClass", plural: "runtimeclasses",
	cluster:  true,
	object:   func() runtime.Object { return &nodev1.RuntimeClass{} },
	strategy: strategy{CreateOnUpdate: true},
}

var leaseKind = builtin{
	group: "coordination.k8s.io", version: "v1", kind: "Lease", plural: "leases",
	object: func() runtime.Object { return &coordinationv1.Lease{} },
	strategy: strategy{
		CreateOnUpdate: true,
		Validate: checks(func(l *coordinationv1.Lease) field.ErrorList {
			spec := field.NewPath("spec")
			var errs field.ErrorList
			if n := l.Spec.LeaseDurationSeconds; n != nil && *n <= 0 {
				errs = append(errs, field.Invalid(spec.Child("leaseDurationSeconds"), *n, "must be greater than 0"))
			}
			if n := l.Spec.LeaseTransitions; n != nil && *n < 0 {
				errs = append(
					errs,
					field.Invalid(spec.Child("leaseTransitions"), *n, "must be greater than or equal to 0"),
				)
			}
			return errs
		}),
	},
}

var disruptionBudgetKind = builtin{
	group: "policy", version: "v1", kind: "PodDisruptionBudget", plural: "poddisruptionbudgets",
	short:  []string{"pdb"},
	object: func() runtime.Object { return &policyv1.PodDisruptionBudget{} },
	strategy: strategy{
		status: true, generation: true, validName: segmentName,
		Validate: checks(func(b *policyv1.PodDisruptionBudget) field.ErrorList {
			if b.Spec.MinAvailable != nil && b.Spec.MaxUnavailable != nil {
				return field.ErrorList{field.Invalid(field.NewPath("spec"), internalBudget(b.Spec),
					"minAvailable and maxUnavailable cannot be both set")}
			}
			return nil
		}),
	},
}

// internalBudget is a budget's spec as the internal type shows it in a message.
func internalBudget(s policyv1.PodDisruptionBudgetSpec) any {
	return struct {
		MinAvailable               *intstr.IntOrString
		Selector                   *metav1.LabelSelector
		MaxUnavailable             *intstr.IntOrString
		UnhealthyPodEvictionPolicy *policyv1.UnhealthyPodEvictionPolicyType
	}{s.MinAvailable, s.Selector, s.MaxUnavailable, s.UnhealthyPodEvictionPolicy}
}

// Its strategy follows pkg/registry/certificates.
var certificateKind = builtin{
	group: "certificates.k8s.io", version: "v1", kind: "CertificateSigningRequest",
	plural: "certificatesigningrequests",
	short:  []string{"csr"}, cluster: true,
	object: func() runtime.Object { return &certificatesv1.CertificateSigningRequest{} },
	strategy: strategy{
		Unconditional: true, status: true, Unmodelled: []string{"approval"},
		Validate: checks(func(r *certificatesv1.CertificateSigningRequest) field.ErrorList {
			block, _ := pem.Decode(r.Spec.Request)
			if block == nil || block.Type != "CERTIFICATE REQUEST" {
				return field.ErrorList{field.Invalid(field.NewPath("spec", "request"), r.Spec.Request,
					"PEM block type must be CERTIFICATE REQUEST")}
			}
			return nil
		}),
	},
	fields:       certificateFields,
	resets:       []string{"spec"},
	statusResets: []string{"status.conditions"},
}

var certificateFields = map[string]func(*object.Object) string{
	"spec.signerName": selects(func(r *certificatesv1.CertificateSigningRequest) string { return r.Spec.SignerName }),
}

var autoscalerKind = builtin{
	group: "autoscaling", version: "v2", kind: "HorizontalPodAutoscaler", plural: "horizontalpodautoscalers",
	short: []string{"hpa"}, categories: []string{"all"},
	object: func() runtime.Object { return &autoscalingv2.HorizontalPodAutoscaler{} },
	strategy: strategy{
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
	},
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
