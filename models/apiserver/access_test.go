package apiserver_test

import (
	"strings"
	"testing"
)

const rbacDir = "/apis/rbac.authorization.k8s.io/v1"

// What kube-apiserver does not store because it could never mean anything
// (pkg/apis/rbac/validation/validation.go in the Kubernetes tree).
func TestBindingsAndRolesThatAreWrong(t *testing.T) {
	binding := func(role, subject string) string {
		return `{"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole",` +
			`"name":"` + role + `"},"subjects":[` + subject + `]}`
	}
	role := func(rule string) string { return `{"metadata":{"name":"r"},"aggregationRule":` + rule + `}` }
	const bindings, roles = rbacDir + "/namespaces/default/rolebindings", rbacDir + "/clusterroles"
	for _, c := range []struct{ path, body, want string }{
		{bindings, binding("view", `{"kind":"ServiceAccount","name":"a","apiGroup":"rbac.authorization.k8s.io"}`),
			`subjects[0].apiGroup: Unsupported value: \"rbac.authorization.k8s.io\": supported values: \"\"`},
		{bindings, binding("view", `{"kind":"ServiceAccount","name":"system:serviceaccount:default:a"}`),
			`subjects[0].name: Invalid value`},
		{bindings, binding("view", `{"kind":"User","name":"a","apiGroup":"v1"}`),
			`subjects[0].apiGroup: Unsupported value: \"v1\": supported values: \"rbac.authorization.k8s.io\"`},
		{bindings, binding("view", `{"kind":"Group","name":"a","apiGroup":"v1"}`),
			`subjects[0].apiGroup: Unsupported value`},
		{rbacDir + "/clusterrolebindings",
			binding("view", `{"kind":"ServiceAccount","name":"a","namespace":"b","apiGroup":"v1"}`),
			`subjects[0].apiGroup: Unsupported value`},
		{bindings, binding("a/b", ""), `roleRef.name: Invalid value: \"a/b\"`},
		{roles, role(`{}`), `aggregationRule.clusterRoleSelectors: Required value`},
		{roles, role(`{"clusterRoleSelectors":[{"matchLabels":{"a":"?"}}]}`),
			`aggregationRule.clusterRoleSelectors[0].matchLabels: Invalid value`},
		{roles, role(`{"clusterRoleSelectors":[{"matchExpressions":[{"key":"a","operator":"Is"}]}]}`),
			`aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: Invalid value`},
	} {
		r := do(t, newServer(t), "POST", c.path, jsonType, c.body)
		if r.Code != 422 || !strings.Contains(string(r.Body), c.want) {
			t.Errorf("%s\n%d %s\nwant 422 %s", c.body, r.Code, r.Body, c.want)
		}
	}
	s := newServer(t)
	must(t, s, "POST", bindings, jsonType,
		binding("system:view", `{"kind":"ServiceAccount","name":"a"},{"kind":"User","name":"a/b c"}`))
	must(t, s, "POST", roles, jsonType, role(`{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}},{}]}`))
}
