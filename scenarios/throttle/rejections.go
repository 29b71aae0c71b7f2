// This file holds the other ways in which an API server refuses what the operator writes: a webhook
// of the cluster's owner, a schema that has grown.

package throttle

import (
	"context"
	"net/http"
	"strings"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/wavetank/wavetank/controllers/throttle"
)

// policy is a validating webhook that has not heard of the operator.
type policy struct {
	rule   rule
	away   bool // nobody answers
	lifted bool // everything may pass
}

// rule judges a change of an object, or of a subresource of it, by the annotations that it leaves.
type rule func(sub string, annotations map[string]string) admission.Response

// foreign is a rule: objects are not to get annotations of other domains, and their status is not
// to be written at all.
func foreign(sub string, annotations map[string]string) admission.Response {
	if sub != "" {
		return admission.Denied("the status belongs to somebody else")
	}
	for key := range annotations {
		if strings.HasPrefix(key, throttle.Domain+"/") {
			return admission.Denied("metadata.annotations: " + throttle.Domain + " is not a domain of ours")
		}
	}
	return admission.Allowed("")
}

// lengthy is a rule: only long annotations may not pass. It is what the 256 KiB of Kubernetes do,
// only sooner.
func lengthy(_ string, annotations map[string]string) admission.Response {
	for _, value := range annotations {
		if len(value) > wordy/2 {
			return admission.Denied("metadata.annotations: keep it short")
		}
	}
	return admission.Allowed("")
}

// police puts a policy in force for changes of the objects, or of subresources too.
func police(rule rule, resources ...string) step {
	const host = "policy.example"
	return func(s *World) {
		s.policy = &policy{rule: rule}
		s.External(host, s.policy)
		s.Apply(&admissionregv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "policy"},
			Webhooks: []admissionregv1.ValidatingWebhook{{
				Name:         "annotations.policy.example",
				ClientConfig: admissionregv1.WebhookClientConfig{URL: ptr.To("https://" + host)},
				Rules: []admissionregv1.RuleWithOperations{{
					Operations: []admissionregv1.OperationType{admissionregv1.Update},
					Rule: admissionregv1.Rule{
						APIGroups: []string{throttle.Examples.Group}, APIVersions: []string{throttle.Examples.Version},
						Resources: resources,
					},
				}},
				FailurePolicy: ptr.To(admissionregv1.Fail), SideEffects: ptr.To(admissionregv1.SideEffectClassNone),
				AdmissionReviewVersions: []string{"v1"},
			}},
		})
	}
}

// ServeHTTP implements http.Handler.
func (p *policy) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if p.away {
		http.Error(rw, "no endpoints", http.StatusServiceUnavailable)
		return
	}
	(&webhook.Admission{Handler: admission.HandlerFunc(p.judge)}).ServeHTTP(rw, r)
}

func (p *policy) judge(_ context.Context, req admission.Request) admission.Response {
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(req.Object.Raw); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if p.lifted {
		return admission.Allowed("")
	}
	return p.rule(req.SubResource, o.GetAnnotations())
}

// away and back have nobody answer, and somebody who lets everything pass.
func away(s *World) { s.policy.away = true }
func back(s *World) { s.policy.away, s.policy.lifted = false, true }

// lift lets everything pass or not.
func lift(lifted bool) step { return func(s *World) { s.policy.lifted = lifted } }

// Settings in which something is refused from the start: by a webhook, by one that closes the
// status too, by one at which nobody answers, and by a schema that has grown since the object was
// made.
var (
	denyForeign  = police(foreign, "kopfexamples")
	denyLengthy  = police(lengthy, "kopfexamples")
	unanswered   = does(apply(finalized("unanswered", throttle.Finalizer)), denyForeign, away)
	grown        = does(apply(finalized("outgrown", throttle.Finalizer)), apply(demanding))
	terse        = Setting{Handlers: []string{short}, Echo: true, Before: denyLengthy}
	terseQuiet   = Setting{Handlers: []string{short}, Before: denyLengthy}
	denying      = Setting{Handlers: []string{short}, Echo: true, Before: denyForeign}
	denyingQuiet = Setting{Handlers: []string{short}, Before: denyForeign}
	denyingAll   = Setting{Handlers: []string{short}, Before: police(foreign, "kopfexamples", "kopfexamples/status")}
	silentHook   = Setting{Handlers: []string{short}, Echo: true, Before: unanswered, Early: true}
	silentQuiet  = Setting{Handlers: []string{short}, Before: unanswered}
	outgrown     = Setting{Handlers: []string{short}, Echo: true, Before: grown, Early: true}
)

// schema is what the schema of the kind says of some fields.
type schema = map[string]apiextensionsv1.JSONSchemaProps

// demanding is the kind that has come to require an owner. A rule at the top is about the whole
// object, so that no change passes, not even one of the status. terseStatus is the kind with a
// schema that the status does not keep to.
var (
	demanding = kindWith("spec", schema{"owner": {Type: "string"}},
		apiextensionsv1.ValidationRule{Rule: "has(self.spec.owner)", Message: "spec.owner must be given"})
	terseStatus = kindWith("status", schema{"handlers": {
		Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{
			Schema: &apiextensionsv1.JSONSchemaProps{Type: "string", MaxLength: ptr.To[int64](5)},
		},
	}})
)

// kindWith is the kind with a schema for fields of a part of it, and rules about the whole.
func kindWith(part string, fields schema, rules ...apiextensionsv1.ValidationRule) *apiextensionsv1.CustomResourceDefinition {
	crd := throttle.CRD()
	whole := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	of := whole.Properties[part]
	of.Properties = fields
	whole.Properties[part], whole.XValidations = of, rules
	return crd
}

// recovers notes that from now on nothing is refused, and lets more time pass than the longest
// delay before it allows, which is the kubelet's. Nobody touches the object.
func recovers(s *World) {
	note("nothing-is-refused")(s)
	s.allowed = s.History().Now()
	s.Sleep(max(delay(reached(10*time.Minute)), longestKubeletDelay) + time.Minute)
}

var (
	relaxed  = does(sleep(2*time.Minute), apply(crd), recovers)
	answered = does(sleep(10*time.Minute), back, recovers)
)
