package rbac_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor/actortest"
	"github.com/wavetank/wavetank/models/rbac"
)

func TestAggregation(t *testing.T) {
	c := actortest.New(rbac.Aggregation())
	clusterRoles := "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	make := func(name, label string, gathers bool, resources ...string) {
		t.Helper()
		r := &rbacv1.ClusterRole{
			TypeMeta:   metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole"},
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"to": label}},
		}
		if gathers {
			selector := metav1.LabelSelector{MatchLabels: map[string]string{"to": name}}
			r.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{selector}}
		}
		for _, resource := range resources {
			r.Rules = append(r.Rules,
				rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{resource}})
		}
		if code := c.Do(http.MethodPost, clusterRoles, r, nil); code != http.StatusCreated {
			t.Fatalf("%s: %d", name, code)
		}
	}
	want := func(when, name string, resources ...string) {
		t.Helper()
		c.Run(time.Minute)
		var r rbacv1.ClusterRole
		raw, _ := c.Server.Lookup("rbac.authorization.k8s.io", "ClusterRole", "", name)
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, rule := range r.Rules {
			got = append(got, rule.Resources...)
		}
		if len(got) != len(resources) {
			t.Errorf("%s: %s has %q, want %q", when, name, got, resources)
			return
		}
		for i := range got {
			if got[i] != resources[i] {
				t.Errorf("%s: %s has %q, want %q", when, name, got, resources)
			}
		}
	}
	make("b", "outer", false, "pods", "secrets")
	make("inner", "outer", true, "what is there is overwritten")
	make("outer", "", true)
	want("a role gathers others", "outer", "pods", "secrets")
	make("a", "inner", false, "nodes", "pods")
	want("and what others have gathered, each rule once", "outer", "pods", "secrets", "nodes")
	want("those", "inner", "nodes", "pods")
	c.Do(http.MethodDelete, clusterRoles+"/b", nil, nil)
	want("without one of them", "outer", "nodes", "pods")
}
