package admission_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/wavetank/wavetank/models/admission"
	"github.com/wavetank/wavetank/models/apiserver"
)

// cluster is a server whose webhooks answer at once: by their path.
type cluster struct {
	t *testing.T
	*apiserver.Server
	during func() // what happens while a webhook is asked
	asked  []string
}

func newCluster(t *testing.T) *cluster {
	s := apiserver.New(apiserver.Options{Now: func() time.Time { return time.Unix(1e9, 0) }, Seed: 1})
	s.SetAdmission(admission.New(s))
	return &cluster{t: t, Server: s}
}

// send performs a request, whose body is YAML, and makes the calls that it waits for.
func (c *cluster) send(method, path, body string) string {
	c.t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if body == "" {
		raw = nil
	}
	header := http.Header{}
	if method == "APPLY" {
		method = http.MethodPatch
		header.Set("Content-Type", "application/apply-patch+yaml")
	} else if method == http.MethodPatch {
		header.Set("Content-Type", "application/merge-patch+json")
	}
	u, err := url.Parse(path)
	if err != nil {
		c.t.Fatal(err)
	}
	e := c.Begin(&apiserver.Request{Method: method, URL: u, Header: header, Body: raw})
	for e.Response == nil {
		for _, w := range e.Calls {
			c.asked = append(c.asked, w.Path())
			w.Answered(c.answer(w))
		}
		if c.during != nil {
			during := c.during
			c.during = nil
			during()
		}
		e.Resume()
	}
	var s metav1.Status
	_ = json.Unmarshal(e.Response.Body, &s)
	return strings.TrimSpace(fmt.Sprintf("%d %s", e.Response.Code, s.Message))
}

func (c *cluster) answer(w *apiserver.WebhookCall) apiserver.WebhookAnswer {
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(w.Body, &review); err != nil {
		c.t.Fatal(err)
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID,
		Allowed: !strings.HasPrefix(w.Path(), "/deny")}
	if strings.HasPrefix(w.Path(), "/label") {
		kind := admissionv1.PatchTypeJSONPatch
		review.Response.PatchType = &kind
		review.Response.Patch = fmt.Appendf(nil, `[{"op":"add","path":"/metadata/labels","value":{"at":%q}}]`,
			w.Path()[1:])
	}
	review.Request = nil
	raw, err := json.Marshal(&review)
	if err != nil {
		c.t.Fatal(err)
	}
	return apiserver.WebhookAnswer{Code: http.StatusOK, Body: raw}
}

// hook stores a configuration with one webhook for ConfigMaps.
func (c *cluster) hook(kind, name, path, more string) {
	c.t.Helper()
	got := c.send("POST", "/apis/admissionregistration.k8s.io/v1/"+strings.ToLower(kind)+"webhookconfigurations",
		fmt.Sprintf(
			"{apiVersion: admissionregistration.k8s.io/v1, kind: %sWebhookConfiguration, metadata: {name: %s}, "+
				"webhooks: "+
				"[{name: %s.example.org, "+
				"sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: 'https://hooks.example%s'}, "+
				"rules: [{operations: [CREATE, UPDATE], "+
				"apiGroups: [''], apiVersions: [v1], resources: [configmaps]}]%s}]}", kind, name, name, path, more))
	if !strings.HasPrefix(got, "201") {
		c.t.Fatal(got)
	}
}

const maps = "/api/v1/namespaces/default/configmaps"

func theMap(data string) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: " + data + "}}"
}

// What a request has read may change while it waits. Then it starts again, as a conditional write
// does, or it fails.
func TestAnObjectThatChangesMeanwhile(t *testing.T) {
	c := newCluster(t)
	c.send("POST", maps, theMap("v"))
	c.hook("Validating", "a", "/allow", "")
	c.during = func() { c.send("PATCH", maps+"/a", "{data: {other: w}}") }
	if got := c.send("PATCH", maps+"/a", "{data: {k: x}}"); got != "200" {
		t.Errorf("a patch: %s", got)
	}
	if raw, _ := c.Lookup("", "ConfigMap", "default", "a"); !strings.Contains(string(raw),
		`"data":{"k":"x","other":"w"}`) {
		t.Errorf("one of two patches is lost: %s", raw)
	}
	if len(c.asked) != 3 {
		t.Errorf("the webhook was asked %d times; want once for the patch between, and twice for the one that "+
			"started again", len(c.asked))
	}

	raw, _ := c.Lookup("", "ConfigMap", "default", "a")
	c.during = func() { c.send("PATCH", maps+"/a", "{data: {other: later}}") }
	if got := c.send("PUT", maps+"/a", string(raw)); !strings.HasPrefix(got, "409") {
		t.Errorf("an update of a certain version: %s", got)
	}
	c.during = func() { c.send("DELETE", maps+"/a", "") }
	if got := c.send("PATCH", maps+"/a", "{data: {k: z}}"); !strings.HasPrefix(got, "404") {
		t.Errorf("a patch of what goes meanwhile: %s", got)
	}
	c.during = func() { c.send("POST", maps, theMap("first")) }
	if got := c.send("POST", maps, theMap("second")); !strings.HasPrefix(got, "409") {
		t.Errorf("a creation of what comes meanwhile: %s", got)
	}
}

// An apply that finds nothing, and then something, is an apply to that.
func TestAnApplyMeetsWhatComesMeanwhile(t *testing.T) {
	c := newCluster(t)
	c.hook("Validating", "a", "/allow", "")
	c.during = func() {
		c.send("POST", maps, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {other: w}}")
	}
	if got := c.send("APPLY", maps+"/a?fieldManager=m", theMap("v")); got != "200" {
		t.Errorf("an apply: %s", got)
	}
	if raw, _ := c.Lookup("", "ConfigMap", "default", "a"); !strings.Contains(string(raw),
		`"data":{"k":"v","other":"w"}`) {
		t.Errorf("what came is lost: %s", raw)
	}
}

// A field that a webhook sets during an update has no owner, so the next apply may set it.
func TestWhatAWebhookSetsIsNobodys(t *testing.T) {
	c := newCluster(t)
	if got := c.send("APPLY", maps+"/a?fieldManager=one", theMap("v")); got != "201" {
		t.Fatal(got)
	}
	c.hook("Mutating", "a", "/label", "")
	if got := c.send("PATCH", maps+"/a?fieldManager=two", "{data: {z: z}}"); got != "200" {
		t.Fatal(got)
	}
	if raw, _ := c.Lookup("", "ConfigMap", "default", "a"); !strings.Contains(string(raw), `"labels":{"at":"label"}`) {
		t.Fatalf("the webhook set nothing: %s", raw)
	}
	labeled := "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {at: here}}, data: {k: v}}"
	if got := c.send("APPLY", maps+"/a?fieldManager=one", labeled); got != "200" {
		t.Errorf("an apply of what the webhook had set: %s", got)
	}
}

func TestAnAbandonedRequestDoesNothing(t *testing.T) {
	c := newCluster(t)
	c.hook("Validating", "a", "/allow", "")
	u, _ := url.Parse(maps)
	raw, _ := yaml.YAMLToJSON([]byte(theMap("v")))
	e := c.Begin(&apiserver.Request{Method: "POST", URL: u, Header: http.Header{}, Body: raw})
	if e.Response != nil || len(e.Calls) != 1 {
		t.Fatalf("no call is waited for: %+v", e.Response)
	}
	e.Abandon()
	if _, there := c.Lookup("", "ConfigMap", "default", "a"); there {
		t.Error("the object was created")
	}
}

func TestReinvocation(t *testing.T) {
	c := newCluster(t)
	c.hook("Mutating", "a", "/label-1", ", reinvocationPolicy: IfNeeded")
	c.hook("Mutating", "b", "/label-2", "")
	c.hook("Validating", "c", "/deny", ", objectSelector: {matchLabels: {at: label-1}}")
	if got, want := c.send("POST", maps, theMap("v")),
		`400 admission webhook "c.example.org" denied the request without explanation`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got, want := strings.Join(c.asked, " "), "/label-1 /label-2 /label-1 /deny"; got != want {
		t.Errorf("asked were %s, want %s", got, want)
	}
}

func TestConditions(t *testing.T) {
	c := newCluster(t)
	c.hook("Validating", "a", "/deny", `, matchConditions: [{name: c, expression: "object.data.k == 'x'"}]`)
	if got := c.send("POST", maps, theMap("v")); got != "201" {
		t.Errorf("an object that does not meet the condition: %s", got)
	}
	if got := c.send("PATCH", maps+"/a", "{data: {k: x}}"); !strings.HasPrefix(got, "400") {
		t.Errorf("an object that meets it: %s", got)
	}
	c.hook("Validating", "b", "/deny",
		`, matchConditions: [{name: c, expression: "authorizer.group('').resource('pods').check('get').allowed()"}]`)
	if got := c.send("PATCH", maps+"/a", "{data: {k: w}}"); !strings.HasPrefix(got,
		"501 wavetank: models/apiserver does not model matchCondition") {
		t.Errorf("a condition that asks the authorizer: %s", got)
	}
}
