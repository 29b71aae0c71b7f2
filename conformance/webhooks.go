package conformance

// A webhook that both arms reach on the loopback: the real server over TLS as it would any other,
// the model by the same POST from here.

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver"
)

// hooksAt is where the webhooks of a row are served. The port is fixed because messages show it. On
// the next one no server listens.
const hooksAt = "127.0.0.1:38443"

// reach makes the model's calls.
func reach(w *apiserver.WebhookCall) apiserver.WebhookAnswer {
	ctx, cancel := context.WithTimeout(context.Background(), w.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.Address(), bytes.NewReader(w.Body))
	if err != nil {
		return apiserver.WebhookAnswer{Err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	trusting := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // on the loopback
	client := http.Client{Transport: &http.Transport{TLSClientConfig: trusting, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return apiserver.WebhookAnswer{Err: err}
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return apiserver.WebhookAnswer{Code: resp.StatusCode, Body: body, Err: err}
}

// serveHooks serves the row's webhooks. After the row, their configurations go.
func (t *T) serveHooks() {
	listener, err := net.Listen("tcp", hooksAt)
	if err != nil {
		panic(abort(err.Error()))
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(hooks))
	_ = s.Listener.Close()
	s.Listener = listener
	s.Config.ErrorLog = nil
	s.StartTLS()
	t.hooksCA = base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
		Bytes: s.Certificate().Raw}))
	t.finally(func() {
		defer s.Close()
		for _, resource := range []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"} {
			_, _, _, _ = t.roundTrip(http.MethodDelete,
				"/apis/admissionregistration.k8s.io/v1/"+resource+"/"+t.Namespace, nil, nil)
		}
		t.learn()
	})
}

// configure stores a configuration of webhooks for the row's namespace and waits until it is known.
// Each hook is a path and more fields, written as YAML: "/deny {failurePolicy: Ignore}".
func (t *T) configure(mutating bool, hooks ...string) {
	if t.hooksCA == "" {
		t.serveHooks()
	}
	kind, resource := "ValidatingWebhookConfiguration", "validatingwebhookconfigurations"
	if mutating {
		kind, resource = "MutatingWebhookConfiguration", "mutatingwebhookconfigurations"
	}
	own := map[string]any{"kubernetes.io/metadata.name": t.Namespace}
	var all []map[string]any
	for i, h := range hooks {
		path, more, _ := strings.Cut(h, " ")
		hook := map[string]any{
			"name": fmt.Sprintf("h%d.example.org", i+1), "sideEffects": "None",
			"admissionReviewVersions": []string{"v1"},
			"clientConfig":            map[string]any{"url": "https://" + hooksAt + path, "caBundle": t.hooksCA},
			"namespaceSelector":       map[string]any{"matchLabels": own},
			"rules": []any{map[string]any{
				"operations": []string{"*"}, "apiGroups": []string{"*"}, "apiVersions": []string{"*"},
				"resources": []string{"*/*"},
			}},
		}
		if more != "" {
			fields := map[string]any{}
			if err := json.Unmarshal(t.yaml(more), &fields); err != nil {
				panic(abort(err.Error()))
			}
			for name, value := range fields {
				hook[name] = value
			}
		}
		all = append(all, hook)
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": map[string]any{"name": t.Namespace},
		"webhooks": all,
	})
	if err != nil {
		panic(abort(err.Error()))
	}
	code, _, data, err := t.roundTrip(http.MethodPost, "/apis/admissionregistration.k8s.io/v1/"+resource, nil, body)
	if err != nil || code != http.StatusCreated {
		panic(abort(fmt.Sprintf("%d %s %v", code, data, err)))
	}
	t.learn()
}

// hooks are the webhooks: what each does is in its path.
func hooks(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "no review", http.StatusBadRequest)
		return
	}
	answer := &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	status := func(code int32, reason metav1.StatusReason, text string) {
		answer.Allowed, answer.Result = false, &metav1.Status{Code: code, Reason: reason, Message: text}
	}
	path, more, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch path {
	case "allow":
	case "deny":
		status(http.StatusForbidden, metav1.StatusReasonForbidden, "not today")
	case "plain":
		answer.Allowed = false
	case "reason":
		status(0, metav1.StatusReasonGone, "")
	case "conflict":
		status(http.StatusConflict, metav1.StatusReasonConflict, "taken")
	case "warn":
		answer.Warnings = []string{"mind the gap"}
	case "label", "annotate", "replace", "broken", "spoil", "patch":
		patched(answer, path, more)
	case "uid":
		answer.UID = "other"
	case "absent":
		answer = nil
	case "half":
		answer.Patch = []byte("[]")
	case "error":
		http.Error(w, "out of order", http.StatusInternalServerError)
		return
	case "gone":
		http.NotFound(w, r)
		return
	case "slow":
		time.Sleep(2 * time.Second)
	case "tell":
		status(http.StatusForbidden, metav1.StatusReasonForbidden, requestInWords(review.Request))
	}
	review.Request, review.Response = nil, answer
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(&review)
}

func patched(answer *admissionv1.AdmissionResponse, path, more string) {
	kind := admissionv1.PatchTypeJSONPatch
	answer.PatchType = &kind
	switch path {
	case "label":
		answer.Patch = fmt.Appendf(nil, `[{"op":"add","path":"/metadata/labels","value":{"l":%q}}]`, more)
	case "annotate": // as many letters as there have been calls
		answer.Patch = fmt.Appendf(nil, `[{"op":"add","path":"/metadata/annotations","value":{"a":%q}}]`, more)
	case "replace":
		answer.Patch = []byte(`[{"op":"replace","path":"/data","value":{"k":"hooked"}}]`)
	case "spoil":
		answer.Patch = []byte(`[{"op":"add","path":"/metadata/managedFields","value":[{"manager":"hook",` +
			`"operation":"Update","apiVersion":"v1"}]}]`)
	case "patch":
		answer.Patch = []byte(hookPatches[more])
	case "broken":
		answer.Patch = []byte(`[{"op":"remove","path":"/nowhere"}]`)
	}
}

// hookPatches are JSON patches that the webhook at /patch/<name> makes.
var hookPatches = map[string]string{
	"empty":             `[]`,
	"test":              `[{"op":"test","path":"/metadata/name","value":"a"}]`,
	"same":              `[{"op":"replace","path":"/metadata/name","value":"a"}]`,
	"template":          `[{"op":"add","path":"/spec/template/metadata/creationTimestamp","value":null}]`,
	"named":             `[{"op":"add","path":"/spec/named/metadata/creationTimestamp","value":null}]`,
	"embedded":          `[{"op":"add","path":"/spec/embedded/metadata/creationTimestamp","value":null}]`,
	"embedded-nonsense": `[{"op":"add","path":"/spec/embedded/metadata/nonsense","value":1}]`,
	"kept":              `[{"op":"add","path":"/spec/kept/creationTimestamp","value":null}]`,
	"nonsense":          `[{"op":"add","path":"/spec/nonsense","value":{"a":[1,null]}}]`,
	"top":               `[{"op":"add","path":"/nonsense","value":1}]`,
	"metadata":          `[{"op":"add","path":"/metadata/nonsense","value":1}]`,
	"stamp":             `[{"op":"add","path":"/metadata/creationTimestamp","value":null}]`,
	"undefault":         `[{"op":"remove","path":"/spec/count"}]`,
	"null-default":      `[{"op":"add","path":"/spec/count","value":null}]`,
	"null":              `[{"op":"add","path":"/spec/title","value":null}]`,
	"nullable":          `[{"op":"add","path":"/spec/note","value":null}]`,
	"add-template": `[{"op":"add","path":"/spec/template","value":{"metadata":{"creationTimestamp":null},` +
		`"spec":{}}}]`,
	"status": `[{"op":"add","path":"/status","value":{"phase":"x","nonsense":1}}]`,
	"invalid": `[{"op":"add","path":"/spec/title","value":"much too long"},{"op":"add",` +
		`"path":"/spec/nonsense","value":1}]`,
	"labels": `[{"op":"add","path":"/metadata/labels","value":{}}]`,
}

// requestInWords is the request that a webhook gets, without objects and times.
func requestInWords(r *admissionv1.AdmissionRequest) string {
	size := func(raw []byte) string {
		var o struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Metadata   struct {
				Name              string            `json:"name"`
				UID               string            `json:"uid"`
				Generation        int64             `json:"generation"`
				CreationTimestamp string            `json:"creationTimestamp"`
				Labels            map[string]string `json:"labels"`
			} `json:"metadata"`
		}
		if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &o) != nil {
			return "none"
		}
		m := o.Metadata
		return fmt.Sprintf("%s %s %q generation %d uid %v created %v labels %v", o.APIVersion, o.Kind, m.Name,
			m.Generation,
			m.UID != "", m.CreationTimestamp != "", m.Labels)
	}
	return fmt.Sprintf("%s of %s (asked: %s) %s (asked: %s) sub %q (asked: %q) name %q namespace %q dry %v by %v; "+
		"object: %s; old: %s; options: %s",
		r.Operation, r.Kind, r.RequestKind, r.Resource, r.RequestResource, r.SubResource, r.RequestSubResource, r.Name,
		r.Namespace,
		*r.DryRun, strings.Contains(r.UserInfo.Username,
			"alice"), size(r.Object.Raw), size(r.OldObject.Raw), r.Options.Raw)
}
