package registry

import (
	"slices"

	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var deploymentKind = builtin{
	group: "apps", version: "v1", kind: "Deployment", plural: "deployments",
	short: []string{"deploy"}, categories: []string{"all"}, scale: true,
	object: func() runtime.Object { return &appsv1.Deployment{} },
	strategy: strategy{
		// Annotations are handed down to replica sets.
		Unconditional: true, status: true, generation: true, annotationsCount: true,
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
				defaultTo(&strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
				defaultTo(&strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
			}
			defaultPodSpec(&d.Spec.Template.Spec)
		}),
		Validate: checks(func(d *appsv1.Deployment) field.ErrorList {
			errs := workloadErrors("deployment", d.Spec.Replicas, d.Spec.Selector, &d.Spec.Template)
			if s := d.Spec.Strategy; s.Type == appsv1.RecreateDeploymentStrategyType && s.RollingUpdate != nil {
				errs = append(errs, field.Forbidden(field.NewPath("spec", "strategy", "rollingUpdate"),
					"may not be specified when strategy `type` is 'Recreate'"))
			}
			return errs
		}),
		validateUpdate: compares(func(d, old *appsv1.Deployment) field.ErrorList {
			return frozen(field.NewPath("spec"), change{"selector", d.Spec.Selector, old.Spec.Selector})
		}),
		validateStatus: deploymentStatusErrors,
		keepOnStatus: func(o, old runtime.Object) {
			o.(*appsv1.Deployment).Labels = old.(*appsv1.Deployment).Labels
		},
	},
	statusResets: []string{"metadata.labels"},
	columns: &columns{
		shown: []metav1.TableColumnDefinition{
			textColumn("Ready", "Number of the pod with ready state"),
			textColumn("Up-to-date", about(appsv1.DeploymentStatus{}, "updatedReplicas")),
			textColumn("Available", about(appsv1.DeploymentStatus{}, "availableReplicas")),
		},
		wide: []metav1.TableColumnDefinition{
			wideColumn("Containers", "Names of each container in the template."),
			wideColumn("Images", "Images referenced by each container in the template."),
			wideColumn("Selector", about(appsv1.DeploymentSpec{}, "selector")),
		},
		cells: func(o runtime.Object) ([]any, []any) {
			d := o.(*appsv1.Deployment)
			return []any{fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, *d.Spec.Replicas), d.Status.UpdatedReplicas,
				d.Status.AvailableReplicas}, templateCells(d)
		},
	},
}

func deploymentStatusErrors(o, _ runtime.Object) field.ErrorList {
	s := o.(*appsv1.Deployment).Status
	return countErrors(s.ObservedGeneration, s.Replicas, s.ReadyReplicas, s.AvailableReplicas, "readyReplicas",
		count{"updatedReplicas", s.UpdatedReplicas})
}

// templateCells are the containers of a deployment, their images and its selector.
func templateCells(d *appsv1.Deployment) []any {
	var names, images []string
	for _, c := range d.Spec.Template.Spec.Containers {
		names, images = append(names, c.Name), append(images, c.Image)
	}
	selector := "<invalid>"
	if s, err := metav1.LabelSelectorAsSelector(d.Spec.Selector); err == nil {
		selector = s.String()
	}
	return []any{strings.Join(names, ","), strings.Join(images, ","), selector}
}

var replicaSetKind = builtin{
	group: "apps", version: "v1", kind: "ReplicaSet", plural: "replicasets",
	short: []string{"rs"}, categories: []string{"all"}, scale: true,
	object: func() runtime.Object { return &appsv1.ReplicaSet{} },
	strategy: strategy{
		Unconditional: true, status: true, generation: true,
		defaults: on(func(r *appsv1.ReplicaSet) {
			defaultTo(&r.Spec.Replicas, 1)
			defaultPodSpec(&r.Spec.Template.Spec)
		}),
		Validate: checks(func(r *appsv1.ReplicaSet) field.ErrorList {
			return workloadErrors("deployment", r.Spec.Replicas, r.Spec.Selector, &r.Spec.Template)
		}),
		validateUpdate: compares(func(r, old *appsv1.ReplicaSet) field.ErrorList {
			return frozen(field.NewPath("spec"), change{"selector", r.Spec.Selector, old.Spec.Selector})
		}),
		validateStatus: replicaSetStatusErrors,
	},
}

func replicaSetStatusErrors(o, _ runtime.Object) field.ErrorList {
	s := o.(*appsv1.ReplicaSet).Status
	return countErrors(s.ObservedGeneration, s.Replicas, s.ReadyReplicas, s.AvailableReplicas, "readyReplicas",
		count{"fullyLabeledReplicas", s.FullyLabeledReplicas})
}

var statefulSetKind = builtin{
	group: "apps", version: "v1", kind: "StatefulSet", plural: "statefulsets",
	short: []string{"sts"}, categories: []string{"all"}, scale: true,
	object: func() runtime.Object { return &appsv1.StatefulSet{} },
	strategy: strategy{
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
	},
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

var daemonSetKind = builtin{
	group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets",
	short: []string{"ds"}, categories: []string{"all"},
	object: func() runtime.Object { return &appsv1.DaemonSet{} },
	strategy: strategy{
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
	},
}

var controllerRevisionKind = builtin{
	group: "apps", version: "v1", kind: "ControllerRevision", plural: "controllerrevisions",
	object: func() runtime.Object { return &appsv1.ControllerRevision{} },
	strategy: strategy{
		Unconditional: true,
		Validate: checks(func(r *appsv1.ControllerRevision) field.ErrorList {
			if r.Data.Raw == nil && r.Data.Object == nil {
				return field.ErrorList{field.Required(field.NewPath("data"), "data is mandatory")}
			}
			return nil
		}),
		validateUpdate: compares(func(r, old *appsv1.ControllerRevision) field.ErrorList {
			return frozen(nil, change{"data", r.Data, old.Data})
		}),
	},
}
