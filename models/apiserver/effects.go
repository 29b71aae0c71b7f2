package apiserver

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// effects are what a request brings about besides its response.
type effects struct {
	warnings []string
	changes  []Change
	// ask calls webhooks and waits for them; nil for a request that calls none. waited
	// reports whether it has waited, and turns counts the answers.
	ask    func([]*WebhookCall)
	waited bool
	turns  int
}

// warn adds a warning to the response, once.
func (e *effects) warn(text string) {
	if !slices.Contains(e.warnings, text) {
		e.warnings = append(e.warnings, text)
	}
}

// change changes another object of a built-in type, as part of what the request brings about.
func (e *effects) change(s *Server, group, resource, namespace, name string, change func(runtime.Object)) error {
	w := s.internalWrite(s.registry.ByResource(group, resource), name, e)
	w.info.Namespace = namespace
	old, err := w.stored()
	if err != nil {
		return err
	}
	draft := old.Draft()
	change(draft.Typed)
	_, err = w.commit(draft, old)
	return err
}

// WebhookCall is a POST of an AdmissionReview that the server makes.
type WebhookCall struct {
	// Configuration and Name are the webhook's; Mutating says of which kind it is.
	Configuration, Name string
	Mutating            bool
	// Service is whom to call, or URL when there is no service.
	Service *WebhookService
	URL     string
	// Timeout is how long the server waits for an answer.
	Timeout time.Duration
	Body    []byte

	answer  *WebhookAnswer
	turn    int
	effects *effects
}

// WebhookService is a Service that serves a webhook.
type WebhookService struct {
	Namespace, Name, Path string
	Port                  int32
}

// WebhookAnswer is what came back. Err is set when nothing did, and worded as Go's HTTP client
// words it, without the method and the URL.
type WebhookAnswer struct {
	Code int
	Body []byte
	Err  error
}

// Answered gives a call its answer. The order in which the calls of one exchange are answered
// matters where several webhooks refuse.
func (w *WebhookCall) Answered(a WebhookAnswer) {
	w.effects.turns++
	w.answer, w.turn = &a, w.effects.turns
}

// Answer is what the call was answered with, and the place of the answer among those of its
// exchange.
func (w *WebhookCall) Answer() (a *WebhookAnswer, turn int) { return w.answer, w.turn }

// At sets whom to call.
func (w *WebhookCall) At(c admissionregv1.WebhookClientConfig) {
	if s := c.Service; s != nil {
		w.Service = &WebhookService{Namespace: s.Namespace, Name: s.Name, Path: ptr.Deref(s.Path, ""),
			Port: ptr.Deref(s.Port, 443)}
		return
	}
	w.URL = ptr.Deref(c.URL, "")
}

// Host is the name under which the webhook is reached, with its port if the call names one.
func (w *WebhookCall) Host() string {
	if s := w.Service; s != nil {
		return s.Name + "." + s.Namespace + ".svc"
	}
	if u, err := url.Parse(w.URL); err == nil {
		return u.Host
	}
	return w.URL
}

// Path is the path that is called.
func (w *WebhookCall) Path() string {
	if w.Service != nil {
		return cmp.Or(w.Service.Path, "/")
	}
	if u, err := url.Parse(w.URL); err == nil {
		return cmp.Or(u.Path, "/")
	}
	return "/"
}

// Address is the URL that is called, as messages show it.
func (w *WebhookCall) Address() string {
	host := w.Host()
	if s := w.Service; s != nil {
		host = fmt.Sprintf("%s:%d", host, s.Port)
	}
	return fmt.Sprintf("https://%s%s?timeout=%v", host, w.Path(), w.Timeout)
}
