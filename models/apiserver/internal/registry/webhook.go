package registry

import (
	"net/url"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Webhook configurations follow pkg/apis/admissionregistration. They are stored; another model
// enforces them.

// hook is what both kinds of webhooks have. The fields with defaults are places in the webhook.
type hook struct {
	name                string
	client              *admissionv1.WebhookClientConfig
	rules               []admissionv1.RuleWithOperations
	failure             **admissionv1.FailurePolicyType
	match               **admissionv1.MatchPolicyType
	namespaces, objects **metav1.LabelSelector
	timeout             **int32
	effects             *admissionv1.SideEffectClass
	versions            []string
}

func validatingHooks(c *admissionv1.ValidatingWebhookConfiguration) []hook {
	hooks := make([]hook, len(c.Webhooks))
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		hooks[i] = hook{w.Name, &w.ClientConfig, w.Rules, &w.FailurePolicy, &w.MatchPolicy, &w.NamespaceSelector,
			&w.ObjectSelector, &w.TimeoutSeconds, w.SideEffects, w.AdmissionReviewVersions}
	}
	return hooks
}

func mutatingHooks(c *admissionv1.MutatingWebhookConfiguration) []hook {
	hooks := make([]hook, len(c.Webhooks))
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		hooks[i] = hook{w.Name, &w.ClientConfig, w.Rules, &w.FailurePolicy, &w.MatchPolicy, &w.NamespaceSelector,
			&w.ObjectSelector, &w.TimeoutSeconds, w.SideEffects, w.AdmissionReviewVersions}
	}
	return hooks
}

// hookErrors checks what a webhook must have. Wildcards among other entries, and the conditions of
// matchConditions, are not checked.
func hookErrors(hooks []hook) (errs field.ErrorList) {
	names := sets.New[string]()
	for i, h := range hooks {
		path := field.NewPath("webhooks").Index(i)
		errs = append(errs, validation.IsFullyQualifiedName(path.Child("name"), h.name)...)
		for j, rule := range h.rules {
			errs = append(errs, hookRuleErrors(rule, path.Child("rules").Index(j))...)
		}
		without := []admissionv1.SideEffectClass{
			admissionv1.SideEffectClassNone,
			admissionv1.SideEffectClassNoneOnDryRun,
		}
		if h.effects == nil {
			errs = append(errs, field.Required(path.Child("sideEffects"), "must specify one of None, NoneOnDryRun"))
		} else if !slices.Contains(without, *h.effects) {
			errs = append(errs, field.NotSupported(path.Child("sideEffects"), *h.effects, without))
		}
		if seconds := *h.timeout; seconds != nil && (*seconds > 30 || *seconds < 1) {
			errs = append(errs, field.Invalid(path.Child("timeoutSeconds"), *seconds,
				"the timeout value must be between 1 and 30 seconds"))
		}
		errs = append(errs, clientErrors(h.client, path.Child("clientConfig"))...)
		versions := path.Child("admissionReviewVersions")
		if len(h.versions) == 0 {
			errs = append(errs, field.Required(versions, "must specify one of v1, v1beta1"))
		} else if !slices.Contains(h.versions, "v1") && !slices.Contains(h.versions, "v1beta1") {
			errs = append(errs, field.Invalid(versions, h.versions, "must include at least one of v1, v1beta1"))
		}
		if names.Has(h.name) && h.name != "" {
			errs = append(errs, field.Duplicate(path.Child("name"), h.name))
		}
		names.Insert(h.name)
	}
	return errs
}

func hookRuleErrors(rule admissionv1.RuleWithOperations, path *field.Path) (errs field.ErrorList) {
	for _, list := range []struct {
		name    string
		entries int
	}{
		{"operations", len(rule.Operations)}, {"apiGroups", len(rule.APIGroups)},
		{"apiVersions", len(rule.APIVersions)}, {"resources", len(rule.Resources)},
	} {
		if list.entries == 0 {
			errs = append(errs, field.Required(path.Child(list.name), ""))
		}
	}
	return errs
}

func clientErrors(client *admissionv1.WebhookClientConfig, path *field.Path) field.ErrorList {
	const form = "; desired format: https://host[/path]"
	switch {
	case (client.URL == nil) == (client.Service == nil):
		return field.ErrorList{field.Required(path, "exactly one of url or service is required")}
	case client.URL == nil:
		return nil
	}
	u, err := url.Parse(*client.URL)
	switch {
	case err != nil:
		return field.ErrorList{field.Required(path.Child("url"), "url must be a valid URL: "+err.Error()+form)}
	case u.Scheme != "https":
		return field.ErrorList{
			field.Invalid(path.Child("url"), u.Scheme, "'https' is the only allowed URL scheme"+form),
		}
	case u.Host == "":
		return field.ErrorList{field.Invalid(path.Child("url"), u.Host, "host must be specified"+form)}
	}
	return nil
}

func defaultHooks(hooks []hook) {
	for _, h := range hooks {
		defaultTo(h.failure, admissionv1.Fail)
		defaultTo(h.match, admissionv1.Equivalent)
		defaultTo(h.namespaces, metav1.LabelSelector{})
		defaultTo(h.objects, metav1.LabelSelector{})
		defaultTo(h.timeout, 10)
		if h.client.Service != nil {
			defaultTo(&h.client.Service.Port, 443)
		}
		for i := range h.rules {
			defaultTo(&h.rules[i].Scope, admissionv1.AllScopes)
		}
	}
}

var validatingWebhookKind = builtin{
	group: "admissionregistration.k8s.io", version: "v1", kind: "ValidatingWebhookConfiguration",
	plural:     "validatingwebhookconfigurations",
	categories: []string{"api-extensions"}, cluster: true,
	object: func() runtime.Object { return &admissionv1.ValidatingWebhookConfiguration{} },
	strategy: strategy{
		generation: true,
		Validate: checks(func(c *admissionv1.ValidatingWebhookConfiguration) field.ErrorList {
			return hookErrors(validatingHooks(c))
		}),
		defaults: on(func(c *admissionv1.ValidatingWebhookConfiguration) {
			defaultHooks(validatingHooks(c))
		}),
	},
}

var mutatingWebhookKind = builtin{
	group: "admissionregistration.k8s.io", version: "v1", kind: "MutatingWebhookConfiguration",
	plural:     "mutatingwebhookconfigurations",
	categories: []string{"api-extensions"}, cluster: true,
	object: func() runtime.Object { return &admissionv1.MutatingWebhookConfiguration{} },
	strategy: strategy{
		generation: true,
		Validate: checks(func(c *admissionv1.MutatingWebhookConfiguration) field.ErrorList {
			return hookErrors(mutatingHooks(c))
		}),
		defaults: on(func(c *admissionv1.MutatingWebhookConfiguration) {
			defaultHooks(mutatingHooks(c))
			for i := range c.Webhooks {
				defaultTo(&c.Webhooks[i].ReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
			}
		}),
	},
}
