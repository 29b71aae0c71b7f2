package upstream

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	authorizerrbac "k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/rbac"
)

// The default roles that models/rbac knows allow what the real ones allow, and no more of what any
// of them allows.
func TestDefaultRoles(t *testing.T) {
	s := apiserver.New(apiserver.Options{Now: func() time.Time { return time.Unix(1e9, 0) }, Seed: 1})
	judge := rbac.New(s)
	real := realRoles()
	var asked []authorizer.AttributesRecord
	for _, rules := range real {
		asked = append(asked, requests(rules)...)
	}
	for name, rules := range real {
		bind(t, s, name)
		for _, a := range asked {
			spec := authorizationv1.SubjectAccessReviewSpec{User: name}
			if a.ResourceRequest {
				spec.ResourceAttributes = &authorizationv1.ResourceAttributes{Verb: a.Verb, Group: a.APIGroup,
					Resource: a.Resource, Subresource: a.Subresource}
			} else {
				spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Verb: a.Verb, Path: a.Path}
			}
			review := &authorizationv1.SubjectAccessReview{Spec: spec}
			if err := judge.Review(&apiserver.Request{}, review); err != nil {
				t.Fatal(err)
			}
			if want := authorizerrbac.RulesAllow(a, rules...); review.Status.Allowed != want {
				t.Errorf("%s may %s %s %s/%s %s: %v, really %v", name, a.Verb, a.APIGroup, a.Resource, a.Subresource,
					a.Path, review.Status.Allowed, want)
			}
		}
	}
	t.Logf("%d roles, %d requests", len(real), len(asked))
}

// realRoles are the rules of the default roles for users, with what the controller gathers in the
// three that gather.
func realRoles() map[string][]rbacv1.PolicyRule {
	out := map[string][]rbacv1.PolicyRule{}
	for _, name := range []string{"cluster-admin", "system:discovery", "system:public-info-viewer", "system:basic-user",
		"system:monitoring",
		"system:service-account-issuer-discovery", "system:cluster-trust-bundle-discovery"} {
		out[name] = nil
	}
	for _, r := range bootstrappolicy.ClusterRoles() {
		if _, known := out[r.Name]; known {
			out[r.Name] = r.Rules
		}
		for _, name := range []string{"admin", "edit", "view"} {
			if r.Labels["rbac.authorization.k8s.io/aggregate-to-"+name] == "true" {
				out[name] = append(out[name], r.Rules...)
			}
		}
	}
	out["edit"] = append(out["edit"], out["view"]...) // the roles that gather are gathered, too
	out["admin"] = append(out["admin"], out["edit"]...)
	return out
}

// requests are what rules allow, one by one.
func requests(rules []rbacv1.PolicyRule) (out []authorizer.AttributesRecord) {
	for _, r := range rules {
		for _, verb := range r.Verbs {
			for _, path := range r.NonResourceURLs {
				out = append(out, authorizer.AttributesRecord{Verb: verb, Path: path})
			}
			for _, group := range r.APIGroups {
				for _, name := range r.Resources {
					resource, sub, _ := strings.Cut(name, "/")
					out = append(out, authorizer.AttributesRecord{Verb: verb, APIGroup: group, Resource: resource,
						Subresource: sub, ResourceRequest: true})
				}
			}
		}
	}
	return out
}

// bind gives a default role to a user who is called like it.
func bind(t *testing.T, s *apiserver.Server, role string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"name": role}, "roleRef": map[string]any{"kind": "ClusterRole", "name": role},
		"subjects": []any{map[string]any{"kind": "User", "name": role}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := s.Handle(&apiserver.Request{
		Method: http.MethodPost, URL: &url.URL{Path: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"},
		Body: body,
	})
	if r.Code != http.StatusCreated {
		t.Fatalf("%s", r.Body)
	}
}
