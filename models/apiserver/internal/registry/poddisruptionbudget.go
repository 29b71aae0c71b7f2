package registry

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var disruptionBudgetKind = builtin{
	group: "policy", version: "v1", kind: "PodDisruptionBudget", plural: "poddisruptionbudgets",
	short:    []string{"pdb"},
	object:   func() runtime.Object { return &policyv1.PodDisruptionBudget{} },
	strategy: disruptionBudgetStrategy,
}

var disruptionBudgetStrategy = strategy{
	status: true, generation: true, validName: segmentName,
	Validate: checks(func(b *policyv1.PodDisruptionBudget) field.ErrorList {
		if b.Spec.MinAvailable != nil && b.Spec.MaxUnavailable != nil {
			return field.ErrorList{field.Invalid(field.NewPath("spec"), internalBudget(b.Spec),
				"minAvailable and maxUnavailable cannot be both set")}
		}
		return nil
	}),
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
