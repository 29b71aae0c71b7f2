// This file makes the world: the kind, the operator, its handlers, the log of their calls, and what
// has an API server refuse what the operator writes.

package throttle

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/stored"
	"github.com/wavetank/wavetank/sim"
)

// Operator is the name of the process that runs the operator.
const Operator = "operator"

// Names of handlers. The annotation of the long one is not legal as it is; it is called for objects
// with replicas.
const (
	short = "provision"
	long  = "provision_one_persistent_volume_claim_for_every_replica_of_the_database"
)

// World is a world with the operator in it.
type World struct {
	*sim.World
	*Record
	policy *policy // nil in a setting without one
}

// Setting is what differs between worlds before anything happens.
type Setting struct {
	Handlers []string     // by name, called in this order
	Echo     bool         // handlers write to the object that they are called for
	Workers  int          // the operator's cap; 0 for none
	Before   func(*World) // what happens before the operator starts; nil for nothing
	Early    bool         // faults are injected from the start, where nothing is written later
}

// Begin installs the kind and starts the operator; it applies nothing but what the setting says.
func Begin(w *sim.World, v throttle.Variant, setting Setting) *World {
	w.Install(crd)
	s := &World{World: w, Record: NewRecord(setting.Handlers...)}
	s.External(callLogHost, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		history.AddEffect(r.Context(), history.Effect{Kind: callEffect, Key: strings.TrimPrefix(r.URL.Path, "/")})
	}))
	if setting.Before != nil {
		setting.Before(s)
	}
	w.Run(Operator, func(ctx context.Context, config *rest.Config) error {
		o := &throttle.Operator{Variant: v, Workers: setting.Workers}
		for i, id := range setting.Handlers {
			h := throttle.Handler{ID: id, Do: provision(config, i, setting.Echo)}
			if id == long {
				h.When = replicated
			}
			o.Handlers = append(o.Handlers, h)
		}
		return o.Run(ctx, config)
	})
	return s
}

var crd = throttle.CRD()

func replicated(o *unstructured.Unstructured) bool {
	_, found, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "replicas")
	return found
}

// Every call of a handler is an effect in a log outside the cluster, which no name of a child can
// hide and no crash can undo.
const callLogHost, callEffect = "ledger.example", "call"

// provision is a handler that writes its call into the log, makes its child, and returns as much as
// the object's spec.output asks for.
func provision(config *rest.Config, serial int, echo bool) func(context.Context, throttle.Task) (any, error) {
	do, log := throttle.Provision(serial, echo), &http.Client{Transport: config.Transport}
	return func(ctx context.Context, t throttle.Task) (any, error) {
		url := fmt.Sprintf("http://%s/%s/%d/%d", callLogHost, t.Object.GetUID(), t.Object.GetGeneration(), serial)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
		if err != nil {
			return nil, err
		}
		res, err := log.Do(req)
		if err != nil {
			return nil, err
		}
		defer res.Body.Close()
		if res.StatusCode >= http.StatusBadRequest {
			return nil, fmt.Errorf("the call log says %s", res.Status)
		}
		result, err := do(ctx, t)
		if n, _, _ := unstructured.NestedInt64(t.Object.Object, "spec", "output"); n > 0 && err == nil {
			result = strings.Repeat("x", int(n))
		}
		return result, err
	}
}

// exampleOf is an object of the operator's kind.
func exampleOf(name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kopf.dev/v1", "kind": "KopfExample",
		"metadata": map[string]any{"namespace": metav1.NamespaceDefault, "name": name}, "spec": spec,
	}}
}

// Example is an object with which nothing is wrong.
func Example(name string) *unstructured.Unstructured {
	return exampleOf(name, map[string]any{"field": "value"})
}

// Poisoned is an object for which the handler with the long name is called.
func Poisoned(name string) *unstructured.Unstructured {
	return exampleOf(name, map[string]any{"replicas": int64(3)})
}

// Verbose is an object whose handler returns so much.
func Verbose(name string, output int64) *unstructured.Unstructured {
	return exampleOf(name, map[string]any{"output": output})
}

// Sizes of a handler's result: one that a webhook denies, and one that exceeds the limit for all
// annotations of an object.
const wordy, tooMuch = 2000, 263_000

// finalized is an object with a finalizer. With the operator's, the first thing to be written is
// progress.
func finalized(name, finalizer string) *unstructured.Unstructured {
	o := Example(name)
	o.SetFinalizers([]string{finalizer})
	return o
}

// policy is a validating webhook that has not heard of the operator.
type policy struct {
	rule   rule
	away   bool // it does not answer
	lifted bool // everything may pass
}

// rule judges a change of an object, or of a subresource of it, by the annotations that it leaves.
type rule func(sub string, annotations map[string]string) admission.Response

// foreign is a rule: objects are not to get annotations of other domains, and their status is not
// to be written at all.
func foreign(sub string, annotations map[string]string) admission.Response {
	if sub != "" {
		return admission.Denied("the status belongs to another controller")
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
	if p.lifted {
		return admission.Allowed("")
	}
	var o metav1.PartialObjectMetadata
	stored.Decode(req.Object.Raw, &o)
	return p.rule(req.SubResource, o.Annotations)
}

// away takes the webhook away, and back brings it back and has it allow everything. lift has it
// allow everything or not.
func away(s *World)         { s.policy.away = true }
func back(s *World)         { s.policy.away, s.policy.lifted = false, true }
func lift(lifted bool) step { return func(s *World) { s.policy.lifted = lifted } }

// schema is what the schema of the kind says of some fields.
type schema = map[string]apiextensionsv1.JSONSchemaProps

// demanding is the kind with a schema that now requires an owner. A rule at the top judges the
// whole object, so no change passes, not even one of the status. terseStatus has a schema that the
// status violates.
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
func kindWith(part string, fields schema, rules ...apiextensionsv1.ValidationRule) client.Object {
	crd := throttle.CRD()
	whole := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	of := whole.Properties[part]
	of.Properties = fields
	whole.Properties[part], whole.XValidations = of, rules
	return crd
}
