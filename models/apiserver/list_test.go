package apiserver_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// A list of one name is read by the object's key only where a name is a key
// (staging/src/k8s.io/apiserver/pkg/registry/generic/registry/store.go, ListPredicate).
func TestListsOfOneName(t *testing.T) {
	s := newServer(t)
	for _, namespace := range []string{"default", "kube-public"} {
		must(t, s, "POST", "/api/v1/namespaces/"+namespace+"/configmaps", jsonType, configBody("a", 1))
	}
	made := s.Revision()
	must(t, s, "PATCH", configDir+"/a", mergeType, `{"data":{"payload":"new"}}`)
	const all, one = "/api/v1/configmaps?limit=1&fieldSelector=metadata.name%3Da",
		configDir + "?limit=1&fieldSelector=metadata.name%3Da"
	for _, c := range []struct {
		path  string
		items int
		more  bool
		sees  string
	}{
		{all, 1, true, "new"},
		{all + ",metadata.namespace%3Ddefault", 1, false, "new"},
		{one, 1, false, "new"},
		// Limit makes a version an exact one where there are pages
		// (staging/src/k8s.io/apiserver/pkg/storage/interfaces.go, ValidateListOptions).
		{fmt.Sprintf("%s&resourceVersion=%d", one, made), 1, false, "new"},
		{fmt.Sprintf("%s&resourceVersion=%d&resourceVersionMatch=Exact", one, made), 1, false, `"x"`},
		{fmt.Sprintf("%s&resourceVersion=%d", all, made), 1, true, `"x"`},
	} {
		body := string(must(t, s, "GET", c.path, "", "").Body)
		if n := strings.Count(body, `"name":"a"`); n != c.items || strings.Contains(body, `"continue"`) != c.more ||
			!strings.Contains(body, c.sees) {
			t.Errorf("%s: %s", c.path, body)
		}
	}
}

// The same events have fields of other names under events.k8s.io, which is where new clients look
// (pkg/apis/events/v1/conversion.go in the Kubernetes tree).
func TestSelectableFieldsOfEvents(t *testing.T) {
	s := newServer(t)
	const core, group = "/api/v1/namespaces/default/events", "/apis/events.k8s.io/v1/namespaces/default/events"
	must(t, s, "POST", core, jsonType,
		`{"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","name":"p","namespace":"default"},`+
			`"reason":"R","message":"m","type":"Normal","reportingComponent":"c","reportingInstance":"i"}`)
	for _, c := range []struct {
		dir, field string
		code       int
	}{
		{core, "involvedObject.name=p", 200},
		{core, "regarding.name=p", 400},
		{core, "reportingComponent=c", 200},
		{group, "regarding.name=p,regarding.kind=Pod,regarding.namespace=default", 200},
		{group, "reportingController=c,reason=R,type=Normal", 200},
		{group, "metadata.name=e,metadata.namespace=default", 200},
		{group, "involvedObject.name=p", 400},
		{group, "reportingComponent=c", 400},
		{group, "source=c", 400},
	} {
		r := do(t, s, "GET", c.dir+"?fieldSelector="+url.QueryEscape(c.field), "", "")
		if found := strings.Contains(string(r.Body), `"name":"e"`); r.Code != c.code || found != (c.code == 200) {
			t.Errorf("%s: %d %s", c.field, r.Code, r.Body)
		}
	}
}

// Signers watch the requests that are theirs by this field
// (pkg/apis/certificates/v1/conversion.go).
func TestSelectableFieldsOfCertificatesAndControllers(t *testing.T) {
	s := newServer(t)
	const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	request := func(name, signer string) string {
		return `{"metadata":{"name":"` + name + `"},"spec":{"signerName":"` + signer + `","usages":["client auth"],` +
			`"request":"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K` +
			`Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo="}}`
	}
	must(t, s, "POST", requests, jsonType, request("mine", "example.org/mine"))
	w := must(t, s, "GET", requests+"?watch=true&fieldSelector=spec.signerName%3Dexample.org/mine", "", "").Watch
	must(t, s, "POST", requests, jsonType, request("other", "example.org/other"))
	must(t, s, "POST", requests, jsonType, request("new", "example.org/mine"))
	for _, want := range []string{"mine", "new"} {
		if f, ok := w.Next(); !ok || f.Type != "ADDED" || f.Name != want {
			t.Errorf("%s, want %s", f.Data, want)
		}
	}
	must(t, s, "GET", "/api/v1/replicationcontrollers?fieldSelector=status.replicas%3D0", "", "")
	for _, field := range []string{"metadata.namespace", "spec.username"} {
		if r := do(t, s, "GET", requests+"?fieldSelector="+field+"%3Da", "", ""); !strings.Contains(string(r.Body),
			"field label not supported: "+field) {
			t.Errorf("%s: %s", field, r.Body)
		}
	}
}
