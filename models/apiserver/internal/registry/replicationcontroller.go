package registry

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

var replicationControllerKind = builtin{
	group: "", version: "v1", kind: "ReplicationController", plural: "replicationcontrollers",
	short: []string{"rc"}, categories: []string{"all"}, scale: true,
	object:   func() runtime.Object { return &corev1.ReplicationController{} },
	strategy: replicationControllerStrategy,
	fields:   replicationControllerFields,
}

var replicationControllerStrategy = strategy{
	Unconditional: true, status: true, generation: true, orphans: true,
	defaults: on(func(r *corev1.ReplicationController) {
		defaultTo(&r.Spec.Replicas, 1)
		if r.Spec.Template == nil {
			return
		}
		if len(r.Spec.Selector) == 0 {
			r.Spec.Selector = r.Spec.Template.Labels
		}
		if len(r.Labels) == 0 {
			r.Labels = r.Spec.Template.Labels
		}
		defaultPodSpec(&r.Spec.Template.Spec)
	}),
	Validate: checks(func(r *corev1.ReplicationController) field.ErrorList {
		spec := field.NewPath("spec")
		var errs field.ErrorList
		if len(r.Spec.Selector) == 0 {
			errs = append(errs, field.Required(spec.Child("selector"), ""))
		}
		if r.Spec.Template == nil {
			return append(errs, field.Required(spec.Child("template"), ""))
		}
		return append(errs, templateErrors(r.Spec.Template, spec.Child("template"))...)
	}),
}

var replicationControllerFields = map[string]func(*object.Object) string{
	"status.replicas": selects(func(r *corev1.ReplicationController) string {
		return strconv.Itoa(int(r.Status.Replicas))
	}),
}
