package registry

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var validatingWebhookKind = builtin{
	group: "admissionregistration.k8s.io", version: "v1", kind: "ValidatingWebhookConfiguration",
	plural:     "validatingwebhookconfigurations",
	categories: []string{"api-extensions"}, cluster: true,
	object:   func() runtime.Object { return &admissionv1.ValidatingWebhookConfiguration{} },
	strategy: validatingWebhookStrategy,
}

var validatingWebhookStrategy = strategy{
	generation: true,
	Validate: checks(func(c *admissionv1.ValidatingWebhookConfiguration) field.ErrorList {
		hooks := make([]hook, len(c.Webhooks))
		for i, w := range c.Webhooks {
			hooks[i] = hook{w.Name, w.ClientConfig, w.Rules, w.SideEffects, w.TimeoutSeconds, w.AdmissionReviewVersions}
		}
		return hookErrors(hooks)
	}),
	defaults: on(func(c *admissionv1.ValidatingWebhookConfiguration) {
		for i := range c.Webhooks {
			w := &c.Webhooks[i]
			defaultTo(&w.FailurePolicy, admissionv1.Fail)
			defaultTo(&w.MatchPolicy, admissionv1.Equivalent)
			defaultTo(&w.NamespaceSelector, metav1.LabelSelector{})
			defaultTo(&w.ObjectSelector, metav1.LabelSelector{})
			defaultTo(&w.TimeoutSeconds, 10)
			defaultHook(&w.ClientConfig, w.Rules)
		}
	}),
}
