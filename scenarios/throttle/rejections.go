// This file holds the other ways in which an API server refuses what the operator writes: a webhook
// of the cluster's owner, a schema that has grown, a limit on the size of requests.

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

// policy is a validating webhook that has not heard of the operator: objects are not to get
// annotations of other domains, and their status is not to be written at all.
type policy struct {
	away   bool // nobody answers
	lifted bool // everything may pass
	terse  bool // only long annotations may not: what the 256 KiB of Kubernetes do, only sooner
	clash  bool // what may not pass is in conflict with something
}

// police puts a policy in force for changes of the objects, or of subresources too.
func police(resources ...string) step { return func(s *World) { putInForce(s, resources) } }

func putInForce(s *World, resources []string) {
	const host = "policy.example"
	p := &policy{}
	s.policy = p
	hook := &webhook.Admission{Handler: admission.HandlerFunc(p.judge)}
	s.External(host, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if p.away {
			http.Error(rw, "no endpoints", http.StatusServiceUnavailable)
			return
		}
		hook.ServeHTTP(rw, r)
	}))
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

func (p *policy) judge(_ context.Context, req admission.Request) admission.Response {
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(req.Object.Raw); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	switch {
	case p.lifted:
	case p.clash:
		answer := admission.Denied("somebody else is at work on it")
		answer.Result.Code, answer.Result.Reason = http.StatusConflict, metav1.StatusReasonConflict
		return answer
	case req.SubResource != "":
		return admission.Denied("the status belongs to somebody else")
	default:
		for key, value := range o.GetAnnotations() {
			switch {
			case p.terse && len(value) > wordy/2:
				return admission.Denied("metadata.annotations: keep it short")
			case !p.terse && strings.HasPrefix(key, throttle.Domain+"/"):
				return admission.Denied("metadata.annotations: " + throttle.Domain + " is not a domain of ours")
			}
		}
	}
	return admission.Allowed("")
}

// away and lift have the webhook answer or not, and let everything pass or not.
func away(s *World) { s.policy.away = true }

func back(s *World) { s.policy.away, s.policy.lifted = false, true }

func lift(lifted bool) step { return func(s *World) { s.policy.lifted = lifted } }

// guarded is a setting with the webhook.
func guarded(echo bool, before ...step) Setting {
	return Setting{Handlers: []string{short}, Echo: echo, Before: does(before...)}
}

// early has faults injected from the start.
func early(s Setting) Setting {
	s.Early = true
	return s
}

// Settings in which something is refused from the start: by a webhook, by one that closes the
// status too, by one at which nobody answers, and by a schema that has grown since the object was
// made.
var (
	policed       = police("kopfexamples")
	keepItShort   = func(s *World) { s.policy.terse = true }
	unanswered    = does(apply(restored("unanswered")), policed, away)
	grown         = does(apply(restored("outgrown")), apply(demanding()))
	terse         = guarded(true, policed, keepItShort)
	terseQuiet    = guarded(false, policed, keepItShort)
	clashing      = guarded(false, policed, func(s *World) { s.policy.clash = true })
	denying       = guarded(true, policed)
	denyingQuiet  = guarded(false, policed)
	denyingAll    = guarded(false, police("kopfexamples", "kopfexamples/status"))
	silentHook    = early(guarded(true, unanswered))
	silentHookToo = guarded(false, unanswered)
	outgrown      = early(guarded(true, grown))
	outgrownQuiet = guarded(false, grown)
)

// demanding is the kind that has come to require an owner. A rule at the top is about the whole
// object, so that no change passes, not even one of the status.
func demanding() *apiextensionsv1.CustomResourceDefinition {
	crd := throttle.CRD()
	schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	spec := schema.Properties["spec"]
	spec.Properties = map[string]apiextensionsv1.JSONSchemaProps{"owner": {Type: "string"}}
	schema.Properties["spec"] = spec
	schema.XValidations = apiextensionsv1.ValidationRules{{Rule: "has(self.spec.owner)",
		Message: "spec.owner must be given"}}
	return crd
}

// recovers notes that from now on nothing is refused, and lets more time pass than the longest
// delay before it allows, which is the kubelet's. Nobody touches the object.
func recovers(s *World) {
	s.note("nothing-is-refused")
	s.allowed = s.History().Now()
	s.Sleep(max(delay(reached(10*time.Minute)), longestKubeletDelay) + time.Minute)
}

var (
	relaxed  = does(sleep(2*time.Minute), apply(throttle.CRD()), recovers)
	answered = does(sleep(10*time.Minute), back, recovers)
)
