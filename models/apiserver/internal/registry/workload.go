package registry

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The workloads of the apps group have their defaults from pkg/apis/apps/v1/defaults.go, their
// validation from pkg/apis/apps/validation, and their hooks from pkg/registry/apps.

// workloadErrors are the rules that all workloads share: a selector that is not empty, a template
// that it selects, and containers that can be run.
func workloadErrors(
	name string, replicas *int32, selector *metav1.LabelSelector, template *corev1.PodTemplateSpec,
) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if replicas != nil {
		errs = apivalidation.ValidateNonnegativeField(int64(*replicas), spec.Child("replicas"))
	}
	at := spec.Child("selector")
	if selector == nil {
		errs = append(errs, field.Required(at, ""))
	} else {
		errs = append(errs, metavalidation.ValidateLabelSelector(selector,
			metavalidation.LabelSelectorValidationOptions{}, at)...)
		if len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
			errs = append(errs, field.Invalid(at, selector, "empty selector is invalid for "+name))
		}
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return append(errs, field.Invalid(at, selector, "invalid label selector"))
	}
	path := spec.Child("template")
	if !parsed.Empty() && !parsed.Matches(labels.Set(template.Labels)) {
		errs = append(errs, field.Invalid(path.Child("metadata", "labels"), template.Labels,
			"`selector` does not match template `labels`"))
	}
	errs = append(errs, templateErrors(template, path)...)
	if template.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(path.Child("spec", "restartPolicy"), template.Spec.RestartPolicy,
			[]corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	return errs
}

// count is a number of replicas that a status reports.
type count struct {
	name  string
	value int32
}

// countErrors are the rules for the numbers in a workload's status: none is negative, none is
// greater than the number of replicas, and none is available that is not ready
// (pkg/apis/apps/validation/validation.go).
func countErrors(
	observed int64, replicas, ready, available int32, readyName string, rest ...count,
) field.ErrorList {
	status := field.NewPath("status")
	all := append(rest, count{"readyReplicas", ready}, count{"availableReplicas", available})
	errs := apivalidation.ValidateNonnegativeField(observed, status.Child("observedGeneration"))
	errs = append(errs, apivalidation.ValidateNonnegativeField(int64(replicas), status.Child("replicas"))...)
	for _, c := range all {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(c.value), status.Child(c.name))...)
	}
	for _, c := range all {
		if c.value > replicas {
			errs = append(errs, field.Invalid(status.Child(c.name), c.value, "cannot be greater than status.replicas"))
		}
	}
	if available > ready {
		errs = append(errs, field.Invalid(status.Child("availableReplicas"), available,
			"cannot be greater than "+readyName))
	}
	return errs
}
