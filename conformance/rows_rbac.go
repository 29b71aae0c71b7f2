package conformance

// Who may do what. The administrator, who may impersonate anybody, impersonates the users of these
// rows.

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// as sends a request as a user; groups follow the name after commas. $ns stands for the row's
// namespace, and a body is YAML.
func (t *T) as(who, method, path, body string) {
	names := strings.Split(who, ",")
	header := http.Header{"Impersonate-User": {t.ns(names[0])}}
	if len(names) > 1 {
		header["Impersonate-Group"] = names[1:]
	}
	var raw []byte
	if body != "" {
		raw = t.yaml(body)
	}
	if method == http.MethodPatch {
		header.Set("Content-Type", "application/merge-patch+json")
	}
	t.Do(who+": "+method+" "+path, method, t.ns(path), header, raw)
}

func (t *T) yaml(text string) []byte {
	raw, err := fromYAML(t.ns(text))
	if err != nil {
		panic(abort(err.Error()))
	}
	return raw
}

func (t *T) ns(text string) string { return strings.ReplaceAll(text, "$ns", t.Namespace) }

// learn gives the real server's authorizer the time to learn of new roles and bindings. The model
// judges by what is stored.
func (t *T) learn() {
	if _, model := t.arm.(*Model); !model {
		time.Sleep(time.Second)
	}
}

const (
	pods     = "/api/v1/namespaces/$ns/pods"
	rolesAPI = "/apis/rbac.authorization.k8s.io/v1/namespaces/$ns/roles"
	bindAPI  = "/apis/rbac.authorization.k8s.io/v1/namespaces/$ns/rolebindings"
	robotSA  = "system:serviceaccount:$ns:robot"
)

// bound makes a role with rules and binds it to a subject.
func (t *T) bound(subject, rules string) {
	t.Script("POST role {metadata: {name: r}, rules: "+rules+"}",
		"POST rb {metadata: {name: r}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}, "+
			"subjects: ["+subject+"]}")
	t.learn()
}

const alice = "{kind: User, name: alice, apiGroup: rbac.authorization.k8s.io}"

var rowsRBAC = slices.Concat(area("rights",
	call("nobody may do anything", func(t *T) {
		t.as("alice", "GET", pods, "")
		t.as("alice", "GET", pods+"/a", "")
		t.as("alice", "GET", pods+"/a/status", "")
		t.as("alice", "GET", "/api/v1/pods", "")
		t.as("alice", "GET", pods+"?watch=true", "")
		t.as("alice", "POST", pods, "{apiVersion: v1, kind: Pod, metadata: {name: a}}")
		t.as("alice", "PATCH", pods+"/a", "{}")
		t.as("alice", "PUT", pods+"/a", "{}")
		t.as("alice", "DELETE", pods+"/a", "")
		t.as("alice", "DELETE", pods, "")
		t.as("alice", "GET", "/api/v1/namespaces/$ns", "")
		t.as("alice", "GET", "/api/v1/nodes/a", "")
		t.as("alice", "GET", "/apis/apps/v1/namespaces/$ns/deployments/a/scale", "")
		t.as("alice", "GET", "/apis/nowhere.example.org/v1/namespaces/$ns/things", "")
		t.as("alice", "GET", "/apis/"+crdGroup+"/v1/namespaces/$ns/widgets", "")
	}),
	call("paths that name no resource", func(t *T) {
		t.as("alice", "GET", "/metrics", "")
		t.as("alice", "POST", "/api", "")
		t.as("alice", "GET", "/nowhere/at&all", "")
		t.as("alice", "GET", "/healthz", "")
		t.as("system:anonymous", "GET", "/apis", "")
	}),
	call("a role is what its rules say", func(t *T) {
		t.bound(alice, "[{verbs: [get, list], apiGroups: [''], resources: [configmaps, pods/status]}]")
		t.as("alice", "GET", "/api/v1/namespaces/$ns/configmaps/a", "")
		t.as("alice", "GET", pods+"/a/status", "")
		t.as("alice", "GET", pods+"/a", "")
		t.as("alice", "DELETE", "/api/v1/namespaces/$ns/configmaps/a", "")
		t.as("alice", "GET", "/api/v1/namespaces/default/configmaps/a", "")
		t.as("bob", "GET", "/api/v1/namespaces/$ns/configmaps/a", "")
	}),
	call("names", func(t *T) {
		t.bound(alice, "[{verbs: ['*'], apiGroups: [''], resources: [configmaps], resourceNames: [a]}]")
		t.as("alice", "GET", "/api/v1/namespaces/$ns/configmaps/a", "")
		t.as("alice", "GET", "/api/v1/namespaces/$ns/configmaps/b", "")
		t.as("alice", "POST", "/api/v1/namespaces/$ns/configmaps",
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
		t.as("alice", "PUT", "/api/v1/namespaces/$ns/configmaps/a",
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
	}),
	call("who may change may not create by it", func(t *T) {
		t.bound(alice,
			"[{verbs: [get, patch, update], apiGroups: ['', coordination.k8s.io], resources: [configmaps, leases]}]")
		t.Do("alice: APPLY", "PATCH", t.ns("/api/v1/namespaces/$ns/configmaps/a?fieldManager=m"),
			http.Header{"Impersonate-User": {"alice"},
				"Content-Type": {"application/apply-patch+yaml"}}, t.yaml("{apiVersion: v1, kind: ConfigMap, "+
				"metadata: {name: a}}"))
		t.as("alice", "PUT", "/apis/coordination.k8s.io/v1/namespaces/$ns/leases/a",
			"{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: a}}")
	}),
	call("a namespace lies in itself", func(t *T) {
		t.bound(alice, "[{verbs: [patch], apiGroups: [''], resources: [namespaces]}]")
		t.as("alice", "PATCH", "/api/v1/namespaces/$ns", "{metadata: {labels: {a: b}}}")
		t.as("alice", "PATCH", "/api/v1/namespaces/default", "{}")
	}),
	call("a binding whose role is not there", func(t *T) {
		t.Script("POST rb {metadata: {name: a}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, "+
			"name: none}, subjects: ["+alice+"]}",
			"POST rb {metadata: {name: b}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, "+
				"name: none}, subjects: "+
				"[{kind: Group, name: crew, apiGroup: rbac.authorization.k8s.io}]}")
		t.learn()
		t.as("alice", "GET", pods, "")
		t.as("bob,crew", "GET", pods, "")
	}),
	call("bindings and roles that mean nothing", func(t *T) {
		binding := func(role, subject string) string {
			return "POST rb {metadata: {name: b}, roleRef: {kind: ClusterRole, name: " + role + "}, subjects: [" +
				subject + "]}"
		}
		t.Script(
			binding("view", "{kind: ServiceAccount, name: a, apiGroup: rbac.authorization.k8s.io}"),
			binding("view", "{kind: ServiceAccount, name: 'system:serviceaccount:default:a'}"),
			binding("view", "{kind: ServiceAccount, name: a}, {kind: User, name: a, apiGroup: v1}"),
			binding("view", "{kind: Group, name: a, apiGroup: v1}"), binding("a/b", ""),
			"POST cr {metadata: {name: $ns}, aggregationRule: {}}",
			"POST cr {metadata: {name: $ns}, aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: '?'}}]}}",
			"POST cr {metadata: {name: $ns}, aggregationRule: {clusterRoleSelectors: [{matchExpressions: [{key: a, "+
				"operator: Is}]}]}}",
		)
	}),
	call("paths behind a proxy", func(t *T) {
		t.bound(alice, "[{verbs: [get], apiGroups: [''], resources: [configmaps]}]")
		t.as("alice", "GET", "/api/v1/namespaces/$ns/services/web:80/proxy/metrics/cadvisor", "")
		t.as("alice", "GET", "/api/v1/nodes/a/proxy/stats/summary", "")
	}),
	call("accounts and their groups", func(t *T) {
		t.bound("{kind: ServiceAccount, name: robot}, {kind: Group, name: 'system:serviceaccounts:$ns', "+
			"apiGroup: rbac.authorization.k8s.io}",
			"[{verbs: [list], apiGroups: [''], resources: [configmaps]}]")
		t.as(robotSA, "GET", "/api/v1/namespaces/$ns/configmaps/a", "")
		t.as("system:serviceaccount:$ns:other", "POST", "/api/v1/namespaces/$ns/configmaps", "{}")
	}),
	call("the roles that every cluster has", func(t *T) {
		t.Script("POST rb {metadata: {name: a}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, "+
			"name: view}, subjects: ["+alice+"]}",
			"POST rb {metadata: {name: b}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, "+
				"name: edit}, subjects: "+
				"[{kind: User, name: bob, apiGroup: rbac.authorization.k8s.io}]}")
		t.learn()
		t.as("alice", "GET", "/api/v1/namespaces/$ns/configmaps/a", "")
		t.as("alice", "GET", "/api/v1/namespaces/$ns/secrets/a", "")
		t.as("alice", "DELETE", "/api/v1/namespaces/$ns/configmaps/a", "")
		t.as("bob", "DELETE", "/api/v1/namespaces/$ns/secrets/a", "")
		t.as("bob", "DELETE", rolesAPI+"/a", "")
		t.as("bob", "GET", "/apis/coordination.k8s.io/v1/namespaces/$ns/leases/a", "")
	}).differs("a kube-apiserver by itself has no controller that fills the roles view and edit; a cluster has"),
	call("a binding that waits for a finalizer grants", func(t *T) {
		t.bound(alice, "[{verbs: [get], apiGroups: [''], resources: [configmaps]}]")
		t.Script("MERGE rb/r {metadata: {finalizers: [example.org/hold]}}", "DELETE rb/r")
		t.learn()
		t.as("alice", "GET", "/api/v1/namespaces/$ns/configmaps/a", "")
		t.Script("MERGE rb/r {metadata: {finalizers: null}}")
		t.learn()
		t.as("alice", "GET", "/api/v1/namespaces/$ns/configmaps/a", "")
	}),
), area("reviews of access",
	call("of others and of oneself", func(t *T) {
		t.bound(alice, "[{verbs: [get], apiGroups: [''], resources: [configmaps]}, {verbs: [create], "+
			"apiGroups: [authorization.k8s.io], "+
			"resources: [localsubjectaccessreviews]}]")
		const at = "/apis/authorization.k8s.io/v1/"
		review := func(kind, spec string) string {
			return "{apiVersion: authorization.k8s.io/v1, kind: " + kind + ", spec: " + spec + "}"
		}
		mine := "{resourceAttributes: {verb: get, resource: configmaps, namespace: $ns}}"
		hers := "{user: alice, resourceAttributes: {verb: get, resource: configmaps, namespace: $ns}}"
		t.as("alice", "POST", at+"selfsubjectaccessreviews", review("SelfSubjectAccessReview", mine))
		t.as("bob", "POST", at+"selfsubjectaccessreviews", review("SelfSubjectAccessReview", mine))
		t.as("alice", "POST", at+"subjectaccessreviews", review("SubjectAccessReview", hers))
		t.as("alice", "POST", at+"namespaces/$ns/localsubjectaccessreviews", review("LocalSubjectAccessReview", hers))
		t.as("alice", "POST", at+"selfsubjectaccessreviews",
			review("SelfSubjectAccessReview", "{nonResourceAttributes: {verb: get, path: /metrics}}"))
		// Not /version: two default roles allow it, and the server names either.
		t.as("alice", "POST", at+"selfsubjectaccessreviews",
			review("SelfSubjectAccessReview", "{nonResourceAttributes: {verb: get, path: /apis}}"))
		t.as("alice", "POST", at+"selfsubjectaccessreviews", review("SelfSubjectAccessReview", "{}"))
		t.as("alice", "POST", at+"selfsubjectaccessreviews",
			review("SelfSubjectAccessReview", "{resourceAttributes: {verb: get, namespace: $ns}}"))
		for _, selector := range []string{"fieldSelector: {}",
			"labelSelector: {rawSelector: a, requirements: [{key: a, operator: Exists}]}",
			"labelSelector: {requirements: [{key: a, operator: In}]}", "fieldSelector: {requirements: [{key: a, " +
				"operator: In, values: [b]}]}"} {
			t.as("alice", "POST", at+"selfsubjectaccessreviews", review("SelfSubjectAccessReview",
				"{resourceAttributes: {verb: get, resource: configmaps, namespace: $ns, "+selector+"}}"))
		}
		t.as("alice", "GET", at+"selfsubjectaccessreviews", "")
		t.Do("of alice by the administrator", "POST", at+"subjectaccessreviews", nil,
			t.yaml(review("SubjectAccessReview", hers)))
		t.Do("of nobody by the administrator", "POST", at+"subjectaccessreviews", nil,
			t.yaml(review("SubjectAccessReview", mine)))
		t.Do("with a name", "POST", at+"selfsubjectaccessreviews", nil,
			t.yaml("{apiVersion: authorization.k8s.io/v1, kind: "+
				"SelfSubjectAccessReview, metadata: {name: a}, spec: "+mine+"}"))
	}),
), area("granting",
	call("no more than one has", func(t *T) {
		t.bound(alice, "[{verbs: [create, update, patch], apiGroups: [rbac.authorization.k8s.io], "+
			"resources: [roles, rolebindings]}, "+
			"{verbs: [get, list], apiGroups: [''], resources: [pods]}]")
		role := func(rules string) string {
			return "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a}, rules: " + rules + "}"
		}
		t.as("alice", "POST", rolesAPI, role("[{verbs: ['*'], apiGroups: ['*'], resources: ['*']}]"))
		t.as("alice", "POST", rolesAPI,
			role("[{verbs: [get, delete, create], apiGroups: [''], resources: [pods, pods/log]}, "+
				"{verbs: [get], apiGroups: [apps], resources: [deployments], resourceNames: [a, b]}]"))
		t.as("alice", "POST", rolesAPI,
			role("[{verbs: [get], apiGroups: [''], resources: [pods], resourceNames: [a]}]"))
		t.as("alice", "PATCH", rolesAPI+"/a", "{rules: [{verbs: [get], apiGroups: [''], resources: [secrets]}]}")
		t.as("alice", "PATCH", rolesAPI+"/r", "{metadata: {finalizers: [example.org/hold]}}")
		t.Script("MERGE role/r {metadata: {finalizers: null}}")
	}),
	call("bindings", func(t *T) {
		t.bound(alice, "[{verbs: [create], apiGroups: [rbac.authorization.k8s.io], resources: [rolebindings]}, "+
			"{verbs: [bind], apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], "+
			"resourceNames: [view]}]")
		bind := func(name, kind, role string) string {
			return "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: " + name +
				"}, roleRef: {apiGroup: " +
				"rbac.authorization.k8s.io, kind: " + kind + ", name: " + role + "}, subjects: [" + alice + "]}"
		}
		t.as("alice", "POST", bindAPI, bind("a", "ClusterRole", "view"))
		t.as("alice", "POST", bindAPI, bind("b", "ClusterRole", "cluster-admin"))
		t.as("alice", "POST", bindAPI, bind("c", "Role", "r"))
		t.as("alice", "POST", bindAPI, bind("d", "Role", "none"))
	}),
	call("who may escalate", func(t *T) {
		t.bound(alice, "[{verbs: [create, escalate], apiGroups: [rbac.authorization.k8s.io], resources: [roles]}]")
		t.as("alice", "POST", rolesAPI,
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a}, rules: "+
				"[{verbs: ['*'], apiGroups: ['*'], resources: ['*']}]}")
	}),
))
