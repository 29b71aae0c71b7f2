package rbac_test

import (
	"net/http"
	"net/url"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor/actortest"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/rbac"
)

// Missing explains a refusal by the roles that an account has, and Unused lists what no request has
// needed.
func TestMissingAndUnused(t *testing.T) {
	c := actortest.New()
	a := rbac.New(c.Server)
	const api = "/apis/rbac.authorization.k8s.io/v1/"
	post := func(path string, o any) {
		t.Helper()
		if code := c.Do(http.MethodPost, path, o, nil); code != http.StatusCreated {
			t.Fatalf("%s: %d", path, code)
		}
	}
	role := func(name, label string, rules ...rbacv1.PolicyRule) *rbacv1.ClusterRole {
		return &rbacv1.ClusterRole{
			TypeMeta:   metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole"},
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"to": label}}, Rules: rules}
	}
	rule := func(resource string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{resource}, Verbs: verbs}
	}
	to := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: "shop"}}
	who := &apiserver.Request{User: "system:serviceaccount:default:shop", Groups: []string{"system:authenticated"}}
	missing := func(verb, resource, namespace, want string) {
		t.Helper()
		got := a.Missing(who, apiserver.Info{Verb: verb, Resource: resource, Namespace: namespace})
		if got != want {
			t.Errorf("%s %s: %q, want %q", verb, resource, got, want)
		}
	}
	post("/api/v1/namespaces/default/serviceaccounts", &corev1.ServiceAccount{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
	missing("list", "pods", "", "no binding names its account default:shop")
	gathers := role("manager", "", rule("configmaps", "get", "list"))
	gathers.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{
		{MatchLabels: map[string]string{"to": "manager"}}}}
	post(api+"clusterroles", gathers)
	post(api+"clusterroles", role("pods", "manager", rule("pods", "list")))
	post(api+"clusterrolebindings", &rbacv1.ClusterRoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRoleBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: "manager"}, Subjects: to,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "manager"}})
	post(api+"namespaces/default/roles", &rbacv1.Role{
		TypeMeta:   metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "Role"},
		ObjectMeta: metav1.ObjectMeta{Name: "leader"}, Rules: []rbacv1.PolicyRule{rule("events", "create")}})
	post(api+"namespaces/default/rolebindings", &rbacv1.RoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "RoleBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: "leader"}, Subjects: to,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "leader"}})
	missing("list", "pods", "", "") // it is gathered in a moment
	missing("list", "secrets", "", "no rule of ClusterRole manager or Role default/leader allows it")
	missing("create", "events", "default", "")
	missing("create", "events", "kube-system", "no rule of ClusterRole manager or Role default/leader (it does in the "+
		"namespace default alone) allows it")

	c.Server.SetAuthorizer(a)
	request := *who
	request.Method, request.URL = http.MethodGet, &url.URL{Path: "/api/v1/namespaces/default/configmaps/a"}
	if r := c.Server.Handle(&request); r.Code != http.StatusNotFound {
		t.Fatalf("%d %s", r.Code, r.Body)
	}
	want := []rbac.Right{{Role: "Role leader", Resource: "events", Verb: "create"}}
	if got := a.Unused(who.User, who.Groups); !slices.Equal(got, want) {
		t.Errorf("unused: %v, want %v", got, want)
	}
}
