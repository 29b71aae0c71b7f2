package rbac_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/rbac"
)

// cluster is a server that judges by its roles.
type cluster struct {
	t *testing.T
	*apiserver.Server
}

func newCluster(t *testing.T) *cluster {
	s := apiserver.New(apiserver.Options{Now: func() time.Time { return time.Unix(1e9, 0) }, Seed: 1})
	s.SetAuthorizer(rbac.New(s))
	return &cluster{t, s}
}

// as sends a request of a user, whose groups follow the name after commas, and returns the answer
// as "code message".
func (c *cluster) as(who, method, path, body string) string {
	c.t.Helper()
	u, err := url.Parse(path)
	if err != nil {
		c.t.Fatal(err)
	}
	raw, err := yaml.YAMLToJSON([]byte(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if body == "" {
		raw = nil
	}
	names := strings.Split(who, ",")
	r := c.Handle(&apiserver.Request{Method: method, URL: u, Header: http.Header{}, Body: raw, User: names[0],
		Groups: names[1:]})
	var s metav1.Status
	if err := json.Unmarshal(r.Body, &s); err != nil {
		s.Message = string(r.Body)
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", r.Code, s.Message))
}

// admin makes objects, each written as YAML at a path.
func (c *cluster) admin(method, path, body string) {
	c.t.Helper()
	if got := c.as("admin,system:masters", method, path, body); !strings.HasPrefix(got, "20") {
		c.t.Fatalf("%s %s: %s", method, path, got)
	}
}

const (
	api   = "/apis/rbac.authorization.k8s.io/v1"
	roles = api + "/namespaces/default/roles"
	binds = api + "/namespaces/default/rolebindings"
	robot = "system:serviceaccount:default:robot,system:serviceaccounts," +
		"system:serviceaccounts:default,system:authenticated"
)

func role(name, rules string) string {
	return fmt.Sprintf("{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: %s}, rules: [%s]}",
		name, rules)
}

func bind(kind, role, subject string) string {
	return fmt.Sprintf("{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: %s}, roleRef: "+
		"{apiGroup: rbac.authorization.k8s.io, "+
		"kind: %s, name: %s}, subjects: [%s]}", role, kind, role, subject)
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		name, rule, method, path string
		allowed                  bool
	}{
		{"the verb", "{verbs: [list], apiGroups: [''], resources: [pods]}", "GET", "/api/v1/namespaces/default/pods",
			true},
		{"another verb", "{verbs: [get], apiGroups: [''], resources: [pods]}", "GET", "/api/v1/namespaces/default/pods",
			false},
		{"another group", "{verbs: ['*'], apiGroups: [apps], resources: ['*']}", "GET",
			"/api/v1/namespaces/default/pods", false},
		{"another namespace", "{verbs: ['*'], apiGroups: ['*'], resources: ['*']}", "GET",
			"/api/v1/namespaces/kube-system/pods", false},
		{"all namespaces", "{verbs: ['*'], apiGroups: ['*'], resources: ['*']}", "GET", "/api/v1/pods", false},
		{"everything here", "{verbs: ['*'], apiGroups: ['*'], resources: ['*']}", "GET",
			"/apis/apps/v1/namespaces/default/deployments", true},
		{"a name", "{verbs: [get], apiGroups: [''], resources: [configmaps], resourceNames: [a]}", "GET",
			"/api/v1/namespaces/default/configmaps/a", true},
		{"another name", "{verbs: [get], apiGroups: [''], resources: [configmaps], resourceNames: [a]}", "GET",
			"/api/v1/namespaces/default/configmaps/b", false},
		{"a list of one name", "{verbs: [list], apiGroups: [''], resources: [configmaps], resourceNames: [a]}", "GET",
			"/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Da", true},
		{"creation has no name", "{verbs: [create], apiGroups: [''], resources: [configmaps], resourceNames: [a]}",
			"POST",
			"/api/v1/namespaces/default/configmaps", false},
		{"the object is not its status", "{verbs: [get], apiGroups: [''], resources: [pods]}", "GET",
			"/api/v1/namespaces/default/pods/a/status", false},
		{"the status", "{verbs: [get], apiGroups: [''], resources: [pods/status]}", "GET",
			"/api/v1/namespaces/default/pods/a/status", true},
		{"every status", "{verbs: [get], apiGroups: [''], resources: ['*/status']}", "GET",
			"/api/v1/namespaces/default/pods/a/status", true},
		{"every scale", "{verbs: [get], apiGroups: [''], resources: ['*/scale']}", "GET",
			"/api/v1/namespaces/default/pods/a/status", false},
		{"a namespace lies in itself", "{verbs: [get], apiGroups: [''], resources: [namespaces]}", "GET",
			"/api/v1/namespaces/default", true},
		{"discovery is for all", "{verbs: [get], apiGroups: [''], resources: [pods]}", "GET", "/apis/apps/v1", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newCluster(t)
			s.admin("POST", roles, role("r", c.rule))
			s.admin("POST", binds, bind("Role", "r", "{kind: User, name: alice, apiGroup: rbac.authorization.k8s.io}"))
			got := s.as("alice,system:authenticated", c.method, c.path, "")
			if allowed := !strings.HasPrefix(got, "403"); allowed != c.allowed {
				t.Errorf("allowed: %v, want %v: %s", allowed, c.allowed, got)
			}
			if got := s.as("bob,system:authenticated", c.method, c.path, ""); c.path != "/apis/apps/v1" &&
				!strings.HasPrefix(got, "403") {
				t.Errorf("a user whom no binding names: %s", got)
			}
		})
	}
}

func TestAnAccountMustExist(t *testing.T) {
	s := newCluster(t)
	path := "/api/v1/namespaces/default/pods"
	want := func(when, want string) {
		t.Helper()
		if got := s.as(robot, "GET", path, ""); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	want("before the account exists", "401 Unauthorized")
	s.admin("POST", "/api/v1/namespaces/default/serviceaccounts",
		"{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}}")
	want("without a binding", `403 pods is forbidden: User "system:serviceaccount:default:robot" cannot list `+
		`resource "pods" in API group "" in the namespace "default"`)
	s.admin("POST", binds, bind("ClusterRole", "view", "{kind: ServiceAccount, name: robot}"))
	want("with a binding to a default role", "200")
	s.admin("DELETE", "/api/v1/namespaces/default/serviceaccounts/robot", "")
	want("after its deletion", "401 Unauthorized")
}

func TestATerminatingBindingGrants(t *testing.T) {
	s := newCluster(t)
	s.admin("POST", roles, role("r", "{verbs: [list], apiGroups: [''], resources: [pods]}"))
	b := bind("Role", "r", "{kind: Group, name: crew, apiGroup: rbac.authorization.k8s.io}")
	s.admin("POST", binds, strings.Replace(b, "{name: r}", "{name: r, finalizers: [example.org/hold]}", 1))
	s.admin("DELETE", binds+"/r", "")
	if got := s.as("alice,crew", "GET", "/api/v1/namespaces/default/pods", ""); got != "200" {
		t.Errorf("while the binding is held by a finalizer: %s", got)
	}
	s.admin("PUT", binds+"/r", b)
	if got := s.as("alice,crew", "GET", "/api/v1/namespaces/default/pods", ""); !strings.HasPrefix(got, "403") {
		t.Errorf("when it is gone: %s", got)
	}
}

func TestNobodyGrantsWhatTheyDoNotHave(t *testing.T) {
	s := newCluster(t)
	s.admin("POST", roles,
		role("tenant", "{verbs: ['*'], apiGroups: [rbac.authorization.k8s.io], resources: ['*'], resourceNames: []}, "+
			"{verbs: [get, list], apiGroups: [''], resources: [pods]}"))
	s.admin("POST", binds, bind("Role", "tenant", "{kind: User, name: alice, apiGroup: rbac.authorization.k8s.io}"))
	s.admin("POST", roles, role("plain",
		"{verbs: ['create', get], apiGroups: [rbac.authorization.k8s.io], resources: ['roles', rolebindings]}, "+
			"{verbs: [get, list], apiGroups: [''], resources: [pods]}"))
	s.admin("POST", binds, bind("Role", "plain", "{kind: User, name: bob, apiGroup: rbac.authorization.k8s.io}"))

	if got := s.as("alice", "POST", roles,
		role("wide", "{verbs: ['*'], apiGroups: ['*'], resources: ['*']}")); got != "201" {
		t.Errorf("who may escalate: %s", got)
	}
	if got := s.as("bob", "POST", roles,
		role("same", "{verbs: [list], apiGroups: [''], resources: [pods]}")); got != "201" {
		t.Errorf("who grants what they have: %s", got)
	}
	want := `403 roles.rbac.authorization.k8s.io "more" is forbidden: user "bob" (groups=[]) is attempting to grant ` +
		`RBAC permissions not currently held:
{APIGroups:[""], Resources:["pods"], Verbs:["create" "delete"]}
{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}`
	more := "{verbs: [get, create, delete], apiGroups: [''], resources: [pods]}, {verbs: [get], apiGroups: [''], " +
		"resources: [secrets]}"
	if got := s.as("bob", "POST", roles, role("more", more)); got != want {
		t.Errorf("who grants more than they have: %s\nwant %s", got, want)
	}
	want = `403 rolebindings.rbac.authorization.k8s.io "wide" is forbidden: user "bob" (groups=[]) is attempting to ` +
		`grant RBAC permissions not currently held:
{APIGroups:["*"], Resources:["*"], Verbs:["*"]}`
	if got := s.as("bob", "POST", binds,
		bind("Role", "wide", "{kind: User, name: bob, apiGroup: rbac.authorization.k8s.io}")); got != want {
		t.Errorf("who binds a wider role: %s\nwant %s", got, want)
	}
}

func TestDefaultRolesGatherOthers(t *testing.T) {
	s := newCluster(t)
	s.admin("POST", binds,
		bind("ClusterRole", "admin", "{kind: User, name: alice, apiGroup: rbac.authorization.k8s.io}"))
	path := "/apis/node.k8s.io/v1/runtimeclasses"
	crons := "/apis/events.example.org/v1/namespaces/default/things"
	if got := s.as("alice", "GET", crons, ""); !strings.HasPrefix(got, "403") {
		t.Errorf("before: %s", got)
	}
	s.admin("POST", api+"/clusterroles",
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: things, labels: "+
			"{rbac.authorization.k8s.io/aggregate-to-view: 'true'}}, rules: [{verbs: [list], apiGroups: "+
			"[events.example.org], resources: [things]}]}")
	if got := s.as("alice", "GET", crons, ""); !strings.HasPrefix(got, "404") {
		t.Errorf("what aggregates to view reaches admin: %s", got)
	}
	if got := s.as("alice", "GET", path, ""); !strings.HasPrefix(got, "403") {
		t.Errorf("what is in no namespace: %s", got)
	}
}
