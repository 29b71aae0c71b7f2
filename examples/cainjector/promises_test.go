package cainjector

import (
	"fmt"
	"slices"
	"testing"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

// The promises are sentences of https://cert-manager.io/docs/concepts/ca-injector/.
const (
	// "cainjector copies CA data from one of three sources: a Kubernetes Secret, …".
	injected = "a configuration has the newest certificate of its Secret"
	// "If the source is a Kubernetes Secret, that resource MUST also have an
	// cert-manager.io/allow-direct-injection: "true" annotation".
	onlyAllowed = "a Secret that does not allow it is not copied"
	// "cainjector helps to configure the CA certificates": it configures nothing else.
	othersStay = "cainjector overwrites nothing else"
	goneStays  = "a deleted configuration stays away"
)

type check = func(*history.History) error

// scenario declares the promises that are asked for.
func scenario(start func(*sim.World), asked ...string) func(*sim.World) {
	return func(w *sim.World) {
		want, deleted := "first", false
		ask := func(declare func(string, check), sentence string, holds check) {
			if slices.Contains(asked, sentence) {
				declare(sentence, holds)
			}
		}
		ask(w.Eventually, injected, func(h *history.History) error {
			c, there := history.Get[admissionregv1.ValidatingWebhookConfiguration](h, "", "own")
			if !there && !deleted {
				return fmt.Errorf("it is gone")
			}
			for _, webhook := range c.Webhooks {
				if string(webhook.ClientConfig.CABundle) != want {
					return fmt.Errorf("%s has %q, and should have %q", webhook.Name, webhook.ClientConfig.CABundle,
						want)
				}
			}
			return nil
		})
		ask(w.Always, onlyAllowed, func(h *history.History) error {
			c, _ := history.Get[admissionregv1.ValidatingWebhookConfiguration](h, "", "other")
			for _, webhook := range c.Webhooks {
				if len(webhook.ClientConfig.CABundle) > 0 {
					return fmt.Errorf("%s has %q", webhook.Name, webhook.ClientConfig.CABundle)
				}
			}
			return nil
		})
		ask(w.Always, othersStay, property.NoLostUpdate())
		ask(w.Eventually, goneStays, func(h *history.History) error {
			if _, there := history.Get[admissionregv1.ValidatingWebhookConfiguration](h, "", "own"); there && deleted {
				return fmt.Errorf("it is there")
			}
			return nil
		})

		start(w)
		w.Inject(fault.StaleCache(time.Minute), fault.MissedStates(time.Minute), fault.DroppedWatch(), fault.Relist(),
			fault.Crash("cainjector"), fault.LostReply(), fault.Conflict(), fault.ServerError())
		w.Apply(secret("allowed", "first", "true"), secret("kept", "private", "false"),
			configuration("own", "allowed", 1),
			configuration("other", "kept", 1))
		w.Settle()
		// The certificate is replaced while a user adds a webhook.
		want = "second"
		w.Apply(secret("allowed", "second", "true"), configuration("own", "allowed", 2))
		w.Settle()
		// The Secret is made again, as issuers do that cannot change it.
		want = "third"
		w.Remove(secret("allowed", "second", "true"))
		w.Apply(secret("allowed", "third", "true"))
		w.Settle()
		want, deleted = "fourth", true
		w.Apply(secret("allowed", "fourth", "true"))
		w.Remove(configuration("own", "allowed", 2))
		w.Settle()
	}
}

func secret(name, certificate, allowed string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
			Annotations: map[string]string{"cert-manager.io/allow-direct-injection": allowed}},
		Data: map[string][]byte{"ca.crt": []byte(certificate)},
	}
}

// configuration has so many webhooks, and takes its certificate from a Secret.
func configuration(name, secret string, webhooks int) *admissionregv1.ValidatingWebhookConfiguration {
	none, ignore := admissionregv1.SideEffectClassNone, admissionregv1.Ignore
	c := &admissionregv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name,
		Annotations: map[string]string{"cert-manager.io/inject-ca-from-secret": "default/" + secret}}}
	for i := range webhooks {
		c.Webhooks = append(c.Webhooks, admissionregv1.ValidatingWebhook{
			Name: fmt.Sprintf("w%d.%s.example.com", i, name), SideEffects: &none, FailurePolicy: &ignore,
			AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionregv1.WebhookClientConfig{
				Service: &admissionregv1.ServiceReference{Namespace: "default", Name: "webhook"}},
			Rules: []admissionregv1.RuleWithOperations{{
				Operations: []admissionregv1.OperationType{admissionregv1.Create},
				Rule: admissionregv1.Rule{APIGroups: []string{"example.com"}, APIVersions: []string{"*"},
					Resources: []string{"widgets"}},
			}},
		})
	}
	return c
}

func TestPromises(t *testing.T) {
	sim.Check(t, scenario(operator(t), injected, onlyAllowed, othersStay, goneStays))
}
