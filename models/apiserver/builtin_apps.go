package apiserver

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The workloads of the apps group: defaults from pkg/apis/apps/v1/defaults.go, validation from pkg/apis/apps/validation,
// hooks from pkg/registry/apps.

var deploymentStrategy = builtin{
	// Annotations are handed down to replica sets.
	unconditional: true, status: true, generation: true, annotationsCount: true,
	defaults: on(func(d *appsv1.Deployment) {
		defaultTo(&d.Spec.Replicas, 1)
		defaultTo(&d.Spec.RevisionHistoryLimit, 10)
		defaultTo(&d.Spec.ProgressDeadlineSeconds, 600)
		strategy := &d.Spec.Strategy
		defaultString(&strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
		if strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
			if strategy.RollingUpdate == nil {
				strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{}
			}
			defaultTo(&strategy.RollingUpdate.MaxUnavailable, percentage("25%"))
			defaultTo(&strategy.RollingUpdate.MaxSurge, percentage("25%"))
		}
		defaultPodSpec(&d.Spec.Template.Spec)
	}),
	validate: checks(func(d *appsv1.Deployment) field.ErrorList {
		errs := workloadErrors("deployment", d.Spec.Replicas, d.Spec.Selector, &d.Spec.Template)
		if s := d.Spec.Strategy; s.Type == appsv1.RecreateDeploymentStrategyType && s.RollingUpdate != nil {
			errs = append(errs, field.Forbidden(field.NewPath("spec", "strategy", "rollingUpdate"),
				"may not be specified when strategy `type` is 'Recreate'"))
		}
		return errs
	}),
	validateUpdate: compares(func(d, old *appsv1.Deployment) field.ErrorList {
		return apivalidation.ValidateImmutableField(d.Spec.Selector, old.Spec.Selector, field.NewPath("spec", "selector"))
	}),
	validateStatus: deploymentStatusErrors,
	keepOnStatus: func(o, old runtime.Object) {
		o.(*appsv1.Deployment).Labels = old.(*appsv1.Deployment).Labels
	},
}

var replicaSetStrategy = builtin{
	unconditional: true, status: true, generation: true,
	defaults: on(func(r *appsv1.ReplicaSet) {
		defaultTo(&r.Spec.Replicas, 1)
		defaultPodSpec(&r.Spec.Template.Spec)
	}),
	validate: checks(func(r *appsv1.ReplicaSet) field.ErrorList {
		return workloadErrors("deployment", r.Spec.Replicas, r.Spec.Selector, &r.Spec.Template)
	}),
	validateUpdate: compares(func(r, old *appsv1.ReplicaSet) field.ErrorList {
		return apivalidation.ValidateImmutableField(r.Spec.Selector, old.Spec.Selector, field.NewPath("spec", "selector"))
	}),
	validateStatus: replicaSetStatusErrors,
}

var daemonSetStrategy = builtin{
	unconditional: true, status: true, generation: true,
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
	validate: checks(func(d *appsv1.DaemonSet) field.ErrorList {
		errs := workloadErrors("daemonset", nil, d.Spec.Selector, &d.Spec.Template)
		if d.Spec.Selector == nil {
			// Daemon sets alone do not report the selector itself as missing.
			errs = errs[1:]
		}
		return errs
	}),
	// The template's generation is a field of the internal type that v1 keeps in an annotation.
	prepareCreate: func(_ *call, o runtime.Object) {
		setLabel(&o.(*appsv1.DaemonSet).Annotations, appsv1.DeprecatedTemplateGeneration, "1")
	},
	prepareUpdate: func(_ *call, o, old runtime.Object) {
		d, before := o.(*appsv1.DaemonSet), old.(*appsv1.DaemonSet)
		generation, _ := strconv.Atoi(before.Annotations[appsv1.DeprecatedTemplateGeneration])
		if !equalObjects(d.Spec.Template, before.Spec.Template) {
			generation++
		}
		setLabel(&d.Annotations, appsv1.DeprecatedTemplateGeneration, strconv.Itoa(generation))
	},
	validateUpdate: compares(func(d, old *appsv1.DaemonSet) field.ErrorList {
		return apivalidation.ValidateImmutableField(d.Spec.Selector, old.Spec.Selector, field.NewPath("spec", "selector"))
	}),
}

var statefulSetStrategy = builtin{
	unconditional: true, status: true, generation: true, validName: apivalidation.NameIsDNSLabel,
	defaults: on(defaultStatefulSet),
	validate: checks(func(s *appsv1.StatefulSet) field.ErrorList {
		template := s.Spec.Template.DeepCopy()
		for _, claim := range s.Spec.VolumeClaimTemplates {
			// The controller adds a volume for each claim.
			template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: claim.Name})
		}
		return workloadErrors("statefulset", s.Spec.Replicas, s.Spec.Selector, template)
	}),
	validateUpdate: compares(statefulSetUpdateErrors),
	validateStatus: statefulSetStatusErrors,
}

func defaultStatefulSet(s *appsv1.StatefulSet) {
	defaultTo(&s.Spec.Replicas, 1)
	defaultTo(&s.Spec.RevisionHistoryLimit, 10)
	defaultString(&s.Spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	strategy := &s.Spec.UpdateStrategy
	if strategy.Type == "" {
		strategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		if strategy.RollingUpdate == nil {
			strategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{}
		}
	}
	if strategy.Type == appsv1.RollingUpdateStatefulSetStrategyType && strategy.RollingUpdate != nil {
		defaultTo(&strategy.RollingUpdate.Partition, 0)
		defaultTo(&strategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
	}
	if s.Spec.PersistentVolumeClaimRetentionPolicy == nil {
		s.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{}
	}
	policy := s.Spec.PersistentVolumeClaimRetentionPolicy
	defaultString(&policy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	defaultString(&policy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	defaultPodSpec(&s.Spec.Template.Spec)
	for i := range s.Spec.VolumeClaimTemplates {
		claim := &s.Spec.VolumeClaimTemplates[i]
		defaultString(&claim.APIVersion, "v1")
		defaultString(&claim.Kind, "PersistentVolumeClaim")
		defaultClaim(claim)
	}
}

// statefulSetUpdateErrors allows changes to the few fields of a stateful set that may change.
func statefulSetUpdateErrors(s, old *appsv1.StatefulSet) field.ErrorList {
	if s.Spec.ServiceName != old.Spec.ServiceName {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "serviceName"), s.Spec.ServiceName, "field is immutable")}
	}
	frozen := old.Spec.DeepCopy()
	frozen.Replicas = s.Spec.Replicas
	frozen.Template = s.Spec.Template
	frozen.UpdateStrategy = s.Spec.UpdateStrategy
	frozen.MinReadySeconds = s.Spec.MinReadySeconds
	frozen.Ordinals = s.Spec.Ordinals
	frozen.RevisionHistoryLimit = s.Spec.RevisionHistoryLimit
	frozen.PersistentVolumeClaimRetentionPolicy = s.Spec.PersistentVolumeClaimRetentionPolicy
	if equalObjects(frozen, &s.Spec) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"), "updates to statefulset spec for fields other than "+
		"'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' "+
		"and 'minReadySeconds' are forbidden")}
}

// workloadErrors are the rules that all workloads share: a selector that is not empty, a template that it selects, and
// containers that can be run.
func workloadErrors(name string, replicas *int32, selector *metav1.LabelSelector, template *corev1.PodTemplateSpec) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if replicas != nil {
		errs = apivalidation.ValidateNonnegativeField(int64(*replicas), spec.Child("replicas"))
	}
	at := spec.Child("selector")
	if selector == nil {
		errs = append(errs, field.Required(at, ""))
	} else {
		errs = append(errs, metavalidation.ValidateLabelSelector(selector, metavalidation.LabelSelectorValidationOptions{}, at)...)
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
		errs = append(errs, field.Invalid(path.Child("metadata", "labels"), template.Labels, "`selector` does not match template `labels`"))
	}
	errs = append(errs, templateErrors(template, path)...)
	if template.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(path.Child("spec", "restartPolicy"), template.Spec.RestartPolicy,
			[]corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	return errs
}
