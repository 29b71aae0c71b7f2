package registry

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var mutatingWebhookKind = builtin{
	group: "admissionregistration.k8s.io", version: "v1", kind: "MutatingWebhookConfiguration",
	plural:     "mutatingwebhookconfigurations",
	categories: []string{"api-extensions"}, cluster: true,
	object:   func() runtime.Object { return &admissionv1.MutatingWebhookConfiguration{} },
	strategy: mutatingWebhookStrategy,
}

var mutatingWebhookStrategy = strategy{
	generation: true,
	Validate: checks(func(c *admissionv1.MutatingWebhookConfiguration) field.ErrorList {
		hooks := make([]hook, len(c.Webhooks))
		for i, w := range c.Webhooks {
			hooks[i] = hook{w.Name, w.ClientConfig, w.Rules, w.SideEffects, w.TimeoutSeconds, w.AdmissionReviewVersions}
		}
		return hookErrors(hooks)
	}),
	defaults: on(func(c *admissionv1.MutatingWebhookConfiguration) {
		for i := range c.Webhooks {
			w := &c.Webhooks[i]
			defaultTo(&w.FailurePolicy, admissionv1.Fail)
			defaultTo(&w.MatchPolicy, admissionv1.Equivalent)
			defaultTo(&w.NamespaceSelector, metav1.LabelSelector{})
			defaultTo(&w.ObjectSelector, metav1.LabelSelector{})
			defaultTo(&w.TimeoutSeconds, 10)
			defaultTo(&w.ReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
			defaultHook(&w.ClientConfig, w.Rules)
		}
	}),
}
