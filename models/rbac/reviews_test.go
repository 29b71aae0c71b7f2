package rbac_test

import (
	"strings"
	"testing"
)

// What a review may ask, and what of it is about resources and what about paths
// (pkg/apis/authorization/validation and pkg/registry/authorization in the Kubernetes tree).
func TestReviews(t *testing.T) {
	s := newCluster(t)
	s.admin("POST", roles, role("everything", "{verbs: ['*'], apiGroups: ['*'], resources: ['*']}"))
	s.admin("POST", binds, bind("Role", "everything", "{kind: User, name: alice, apiGroup: rbac.authorization.k8s.io}"))
	s.admin("POST", api+"/clusterroles", "{metadata: {name: paths}, rules: [{verbs: [get], nonResourceURLs: ['*']}]}")
	s.admin("POST", api+"/clusterrolebindings",
		"{metadata: {name: paths}, roleRef: {kind: ClusterRole, name: paths}, subjects: [{kind: User, name: bob}]}")
	const at = "/apis/authorization.k8s.io/v1/"
	const self, local = at + "selfsubjectaccessreviews", at + "namespaces/default/localsubjectaccessreviews"
	const pods = "{verb: list, resource: pods, namespace: default"
	for _, c := range []struct{ who, path, body, want string }{
		{"alice,system:authenticated", self, "{spec: {resourceAttributes: {verb: get, namespace: default}}}",
			`"allowed":true`},
		{"bob,system:authenticated", self, "{spec: {resourceAttributes: {verb: get}}}", `"allowed":false`},
		{"bob,system:authenticated", self, "{spec: {nonResourceAttributes: {verb: get}}}", `"allowed":true`},
		{"alice,system:authenticated", self, "{spec: {nonResourceAttributes: {verb: get, path: /metrics}}}",
			`"allowed":false`},
		{"admin,system:masters", local, "{metadata: {namespace: default}, spec: {user: alice, resourceAttributes: " +
			pods + "}}}", `"allowed":true`},
		{"admin,system:masters", local, "{metadata: {name: a}, spec: {user: alice, resourceAttributes: " + pods + "}}}",
			"must be empty except for namespace"},
		{"admin,system:masters", self, "{spec: {resourceAttributes: " + pods + ", fieldSelector: {}}}}",
			"spec.resourceAttributes.fieldSelector.requirements: Required value"},
		{"admin,system:masters", self, "{spec: {resourceAttributes: " + pods +
			", labelSelector: {rawSelector: a, requirements: [{key: a, operator: Exists}]}}}}",
			"spec.resourceAttributes.labelSelector.rawSelector: Invalid value"},
		{"admin,system:masters", self,
			"{spec: {resourceAttributes: " + pods + ", labelSelector: {requirements: [{key: a, operator: In}]}}}}",
			"spec.resourceAttributes.labelSelector.requirements[0].values: Required value"},
		{"alice,system:authenticated", self, "{spec: {resourceAttributes: " + pods +
			", fieldSelector: {requirements: [{key: a, operator: In, values: [b]}]}}}}",
			`"allowed":true`},
	} {
		if got := s.as(c.who, "POST", c.path, c.body); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s: %s\nwant %s", c.who, c.body, got, c.want)
		}
	}
}

// Rights to a proxy are rights to every path behind it, none of which is modelled
// (staging/src/k8s.io/apiserver/pkg/endpoints/request/requestinfo.go).
func TestPathsBehindAProxy(t *testing.T) {
	s := newCluster(t)
	s.admin("POST", roles, role("proxy", "{verbs: [get], apiGroups: [''], resources: [services/proxy]}"))
	s.admin("POST", binds, bind("Role", "proxy", "{kind: User, name: alice, apiGroup: rbac.authorization.k8s.io}"))
	const path = "/api/v1/namespaces/default/services/web:80/proxy/metrics/cadvisor"
	if got := s.as("alice", "GET", path, ""); !strings.HasPrefix(got, "501 wavetank: models/apiserver does not model") {
		t.Errorf("who may: %s", got)
	}
	if got := s.as("bob", "GET", path, ""); !strings.Contains(got,
		`cannot get resource "services/proxy" in API group`) {
		t.Errorf("who may not: %s", got)
	}
}
