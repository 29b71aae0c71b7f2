package registry

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var statefulSetKind = builtin{
	group: "apps", version: "v1", kind: "StatefulSet", plural: "statefulsets",
	short: []string{"sts"}, categories: []string{"all"}, scale: true,
	object:   func() runtime.Object { return &appsv1.StatefulSet{} },
	strategy: statefulSetStrategy,
}

var statefulSetStrategy = strategy{
	Unconditional: true, status: true, generation: true, validName: apivalidation.NameIsDNSLabel,
	defaults: on(defaultStatefulSet),
	Validate: checks(func(s *appsv1.StatefulSet) field.ErrorList {
		template := s.Spec.Template.DeepCopy()
		for _, claim := range s.Spec.VolumeClaimTemplates {
			// The controller has a volume for each claim, in place of one with its name.
			template.Spec.Volumes = append(slices.DeleteFunc(template.Spec.Volumes, func(v corev1.Volume) bool {
				return v.Name == claim.Name
			}), corev1.Volume{Name: claim.Name})
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
		return field.ErrorList{field.Invalid(field.NewPath("spec", "serviceName"), s.Spec.ServiceName,
			"field is immutable")}
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
		"'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "+
		"'persistentVolumeClaimRetentionPolicy' "+
		"and 'minReadySeconds' are forbidden")}
}

func statefulSetStatusErrors(o, _ runtime.Object) field.ErrorList {
	s := o.(*appsv1.StatefulSet).Status
	return countErrors(s.ObservedGeneration, s.Replicas, s.ReadyReplicas, s.AvailableReplicas, "status.readyReplicas",
		count{"currentReplicas", s.CurrentReplicas}, count{"updatedReplicas", s.UpdatedReplicas})
}
