package registry

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var deploymentKind = builtin{
	group: "apps", version: "v1", kind: "Deployment", plural: "deployments",
	short: []string{"deploy"}, categories: []string{"all"}, scale: true,
	object:       func() runtime.Object { return &appsv1.Deployment{} },
	strategy:     deploymentStrategy,
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

var deploymentStrategy = strategy{
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
