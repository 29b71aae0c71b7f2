package registry

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var podTemplateKind = builtin{
	group: "", version: "v1", kind: "PodTemplate", plural: "podtemplates",
	object:   func() runtime.Object { return &corev1.PodTemplate{} },
	strategy: podTemplateStrategy,
}

var podTemplateStrategy = strategy{
	Unconditional: true, generation: true, ReturnsDeleted: true,
	defaults: on(func(t *corev1.PodTemplate) { defaultPodSpec(&t.Template.Spec) }),
	Validate: checks(func(t *corev1.PodTemplate) field.ErrorList {
		return templateErrors(&t.Template, field.NewPath("template"))
	}),
}
