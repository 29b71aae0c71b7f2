// Package admission asks the webhooks that the cluster's MutatingWebhookConfigurations and
// ValidatingWebhookConfigurations name, before a write is stored.
//
// Everything that these objects can say is obeyed: rules, scope, matchPolicy between the versions
// of custom types, namespaceSelector, objectSelector, matchConditions, failurePolicy,
// timeoutSeconds, sideEffects with dry runs, reinvocationPolicy, and both versions of
// AdmissionReview. Mutating webhooks are asked one after the other, configurations by name;
// validating ones all at once, and of several refusals the first to arrive is the answer. The rules
// are those of staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook.
//
// A configuration counts from the moment when it is stored; a real server learns of it a little
// later. Refused as not modelled are webhooks for scale subresources and matchConditions that ask
// the authorizer. Admission policies are not served at all.
package admission

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionregv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	webhookerrors "k8s.io/apiserver/pkg/admission/plugin/webhook/errors"

	"github.com/wavetank/wavetank/models/apiserver"
)

// Webhooks obeys the webhook configurations that one server has stored. It implements
// [apiserver.Admission].
type Webhooks struct{ server *apiserver.Server }

// New returns admission for a server.
func New(s *apiserver.Server) *Webhooks { return &Webhooks{s} }

const group = admissionregv1.GroupName

// Active implements [apiserver.Admission].
func (w *Webhooks) Active() bool {
	for _, resource := range []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"} {
		for range w.server.EachTyped(group, resource, "") {
			return true
		}
	}
	return false
}

// hook is one webhook of either kind.
type hook struct {
	configuration string
	index         int
	mutating      bool
	admissionregv1.ValidatingWebhook
	reinvoked bool // may be asked again when a later one has changed the object
}

// hooks are the webhooks of one kind in the order in which they are asked.
func (w *Webhooks) hooks(mutating bool) []*hook {
	var out []*hook
	if !mutating {
		for o := range w.server.EachTyped(group, "validatingwebhookconfigurations", "") {
			c := o.(*admissionregv1.ValidatingWebhookConfiguration)
			for i := range c.Webhooks {
				out = append(out, &hook{configuration: c.Name, index: i, ValidatingWebhook: c.Webhooks[i]})
			}
		}
		return out
	}
	for o := range w.server.EachTyped(group, "mutatingwebhookconfigurations", "") {
		c := o.(*admissionregv1.MutatingWebhookConfiguration)
		for i := range c.Webhooks {
			m := &c.Webhooks[i]
			out = append(out, &hook{
				configuration: c.Name, index: i, mutating: true,
				ValidatingWebhook: admissionregv1.ValidatingWebhook{
					Name: m.Name, ClientConfig: m.ClientConfig, Rules: m.Rules, FailurePolicy: m.FailurePolicy,
					MatchPolicy:       m.MatchPolicy,
					NamespaceSelector: m.NamespaceSelector, ObjectSelector: m.ObjectSelector,
					SideEffects:    m.SideEffects,
					TimeoutSeconds: m.TimeoutSeconds, AdmissionReviewVersions: m.AdmissionReviewVersions,
					MatchConditions: m.MatchConditions,
				},
				reinvoked: m.ReinvocationPolicy != nil &&
					*m.ReinvocationPolicy == admissionregv1.IfNeededReinvocationPolicy,
			})
		}
	}
	return out
}

// ignores says that the webhook's own failures are to be overlooked.
func (h *hook) ignores() bool {
	return h.FailurePolicy != nil && *h.FailurePolicy == admissionregv1.Ignore
}

// Mutate implements [apiserver.Admission] (mutating/dispatcher.go). When a webhook has changed the
// object, those before it that want to be are asked once more.
func (w *Webhooks) Mutate(a *apiserver.Attempt) error {
	if exempt(a) {
		return nil
	}
	hooks := w.hooks(true)
	asked := map[*hook]bool{}
	again, err := w.round(a, hooks, asked, nil)
	if err != nil || again == nil {
		return err
	}
	_, err = w.round(a, hooks, asked, again)
	return err
}

// round asks the webhooks one after the other; in the second round only those in the set. It
// returns the set of those that a second round would have to ask; nil when nothing has been
// changed.
func (w *Webhooks) round(
	a *apiserver.Attempt, hooks []*hook, asked, only map[*hook]bool,
) (again map[*hook]bool, err error) {
	for _, h := range hooks {
		to, err := w.concerned(h, a)
		if err != nil {
			return nil, err
		}
		if to == nil || only != nil && !only[h] {
			continue
		}
		changed, err := h.mutate(a, to)
		if changed {
			// Webhooks called before this one have not seen the change.
			if again == nil {
				again = map[*hook]bool{}
			}
			for before := range asked {
				again[before] = true
			}
			clear(asked)
		}
		if h.reinvoked {
			asked[h] = true
		}
		if err != nil {
			return nil, err
		}
	}
	return again, nil
}

// mutate asks one webhook and applies its patch.
func (h *hook) mutate(a, to *apiserver.Attempt) (bool, error) {
	call, uid, err := h.prepare(to)
	if err == nil {
		a.Ask(call)
	}
	r, err := h.outcome(a, call, uid, err)
	if err != nil || r == nil || len(r.Patch) == 0 {
		return false, err
	}
	patch, err := jsonpatch.DecodePatch(r.Patch)
	if err != nil {
		return false, h.failed(fmt.Errorf("received undecodable patch in webhook response: %w", err))
	}
	switch {
	case len(patch) == 0:
		return false, nil
	case a.Object == nil:
		return false, apierrors.NewInternalError(fmt.Errorf(
			"admission webhook %q attempted to modify the object, which is not supported for this operation", h.Name))
	case *r.PatchType != "JSONPatch":
		return false, h.failed(fmt.Errorf("unsupported patch type %q", *r.PatchType))
	}
	if to.Kind != a.Kind {
		return false, apiserver.NotModelled(
			"a mutating webhook that is asked about another version of the object and changes it")
	}
	raw, err := patch.Apply(a.Object)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	changed, err := a.SetObject(raw)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	return changed, nil
}

// Validate implements [apiserver.Admission] (validating/dispatcher.go).
func (w *Webhooks) Validate(a *apiserver.Attempt) error {
	if exempt(a) {
		return nil
	}
	type asked struct {
		hook *hook
		call *apiserver.WebhookCall
		uid  string
		err  error
	}
	var all []asked
	var calls []*apiserver.WebhookCall
	for _, h := range w.hooks(false) {
		to, err := w.concerned(h, a)
		if err != nil {
			return err
		}
		if to == nil {
			continue
		}
		call, uid, err := h.prepare(to)
		if err == nil {
			calls = append(calls, call)
		}
		all = append(all, asked{h, call, uid, err})
	}
	if len(calls) > 0 {
		a.Ask(calls...)
	}
	var first error
	var turn int
	for _, q := range all {
		_, err := q.hook.outcome(a, q.call, q.uid, q.err)
		at := 0
		if q.err == nil {
			_, at = q.call.Answer()
		}
		if err != nil && (first == nil || at < turn) {
			first, turn = err, at
		}
	}
	return first
}

// prepare makes the call, or says why it cannot be made.
func (h *hook) prepare(a *apiserver.Attempt) (*apiserver.WebhookCall, string, error) {
	if a.DryRun {
		if h.SideEffects == nil {
			return nil, "", h.failed(
				errors.New("Webhook SideEffects is nil")) //nolint:staticcheck // as upstream words it
		}
		if s := *h.SideEffects; s != admissionregv1.SideEffectClassNone &&
			s != admissionregv1.SideEffectClassNoneOnDryRun {
			return nil, "", webhookerrors.NewDryRunUnsupportedErr(h.Name)
		}
	}
	uid := a.UID()
	body, err := h.review(a, uid)
	if err != nil {
		return nil, "", h.failed(fmt.Errorf("could not create admission objects: %w", err))
	}
	call := &apiserver.WebhookCall{
		Configuration: h.configuration, Name: h.Name, Mutating: h.mutating, Body: body, Timeout: 10 * time.Second,
	}
	if h.TimeoutSeconds != nil {
		call.Timeout = time.Duration(*h.TimeoutSeconds) * time.Second
	}
	call.At(h.ClientConfig)
	return call, uid, nil
}

// callError is a failure to get a webhook's word, which its failurePolicy judges.
type callError struct{ error }

// Unanswered is in the message of an answer 500 to a request of which a webhook had to be asked
// that did not answer, or not sensibly.
const Unanswered = "failed calling webhook"

func (h *hook) failed(why error) error {
	return callError{fmt.Errorf(Unanswered+" %q: %w", h.Name, why)}
}

// outcome is what a call came to: the webhook's word, nothing when its failure is overlooked, or
// the answer to the request.
func (h *hook) outcome(a *apiserver.Attempt, call *apiserver.WebhookCall, uid string, err error) (*response, error) {
	var r *response
	if err == nil {
		r, err = h.read(call, uid)
	}
	if failure := (callError{}); errors.As(err, &failure) {
		if h.ignores() {
			return nil, nil
		}
		return nil, apierrors.NewInternalError(failure.error)
	}
	if err != nil {
		return nil, err
	}
	for _, text := range r.Warnings {
		a.Warn(text)
	}
	if !r.Allowed {
		return nil, webhookerrors.ToStatusErr(h.Name, r.Result)
	}
	return r, nil
}

// read reads the answer to a call, wording failures as client-go does.
func (h *hook) read(call *apiserver.WebhookCall, uid string) (*response, error) {
	answer, _ := call.Answer()
	switch {
	case answer.Err != nil:
		return nil, h.failed(fmt.Errorf("failed to call webhook: Post %q: %w", call.Address(), answer.Err))
	case answer.Code < http.StatusOK || answer.Code > http.StatusPartialContent:
		return nil, h.failed(fmt.Errorf("failed to call webhook: %w", apierrors.NewGenericServerResponse(
			answer.Code, "post", schema.GroupResource{}, "", bodyText(answer.Body), 0, true)))
	}
	var review struct {
		metav1.TypeMeta
		Response *response `json:"response"`
	}
	if err := json.Unmarshal(answer.Body, &review); err != nil {
		return nil, h.failed(fmt.Errorf("failed to call webhook: couldn't get version/kind; json parse error: %w", err))
	}
	if err := h.verify(review.TypeMeta, review.Response, uid); err != nil {
		return nil, h.failed(fmt.Errorf("received invalid webhook response: %w", err))
	}
	return review.Response, nil
}
