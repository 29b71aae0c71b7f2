package registry

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
)

// Webhook configurations follow pkg/apis/admissionregistration. They are stored; another model
// enforces them.

func defaultHook(client *admissionv1.WebhookClientConfig, rules []admissionv1.RuleWithOperations) {
	if client.Service != nil {
		defaultTo(&client.Service.Port, 443)
	}
	for i := range rules {
		defaultTo(&rules[i].Scope, admissionv1.AllScopes)
	}
}
