package rbac

// The roles that every new cluster has for its users, by
// plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go.

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

const (
	read  = "get list watch"
	write = "create update patch delete deletecollection"
)

// cluster are the default roles by name. All servers share these rules, so they must not be
// changed.
var cluster = policy{
	"cluster-admin": {{"*", "*", "*"}, {"*", "*"}},
	"system:discovery": {{"get",
		"/livez /readyz /healthz /version /version/ /openapi /openapi/* /api /api/* /apis /apis/*"}},
	"system:public-info-viewer": {{"get", "/livez /readyz /healthz /version /version/"}},
	"system:basic-user": {
		{"create", "authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews"},
		{"create", "authentication.k8s.io", "selfsubjectreviews"},
	},
	"system:monitoring": {
		{"get", "/flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* /statusz"},
		{"get", "core", "nodes/metrics"},
	},
	"system:service-account-issuer-discovery": {
		{"get", "/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks " +
			"/openid/v1/jwks/"},
	},
	"system:cluster-trust-bundle-discovery": {{read, "certificates.k8s.io", "clustertrustbundles"}},
	"view": {
		{read, "core", "pods replicationcontrollers replicationcontrollers/scale serviceaccounts services " +
			"services/status endpoints " +
			"persistentvolumeclaims persistentvolumeclaims/status configmaps limitranges resourcequotas bindings " +
			"pods/status " +
			"resourcequotas/status namespaces/status replicationcontrollers/status pods/log namespaces"},
		{read, "core events.k8s.io", "events"},
		{read, "discovery.k8s.io", "endpointslices"},
		{read, "apps", "controllerrevisions statefulsets statefulsets/status statefulsets/scale daemonsets " +
			"daemonsets/status " +
			"deployments deployments/status deployments/scale replicasets replicasets/status replicasets/scale"},
		{read, "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status"},
		{read, "batch", "jobs cronjobs cronjobs/status jobs/status"},
		{read, "policy", "poddisruptionbudgets poddisruptionbudgets/status"},
		{read, "networking.k8s.io", "networkpolicies ingresses ingresses/status"},
		{read, "resource.k8s.io", "resourceclaims resourceclaims/status resourceclaimtemplates"},
		// A group that is served no more; who grants these roles still needs it.
		{read, "extensions", "daemonsets daemonsets/status deployments deployments/scale deployments/status " +
			"ingresses ingresses/status " +
			"networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale"},
	},
	"edit": {
		{read, "core", "pods/attach pods/proxy pods/exec pods/portforward secrets services/proxy"},
		{"impersonate", "core", "serviceaccounts"},
		{write, "core", "pods pods/attach pods/proxy pods/exec pods/portforward replicationcontrollers " +
			"replicationcontrollers/scale " +
			"serviceaccounts services services/proxy persistentvolumeclaims configmaps secrets"},
		{"create", "core", "pods/eviction serviceaccounts/token"},
		{write, "core events.k8s.io", "events"},
		{write, "apps", "statefulsets statefulsets/scale daemonsets deployments deployments/scale " +
			"deployments/rollback replicasets replicasets/scale"},
		{write, "autoscaling", "horizontalpodautoscalers"},
		{write, "batch", "jobs cronjobs"},
		{write, "policy", "poddisruptionbudgets"},
		{write, "networking.k8s.io", "networkpolicies ingresses"},
		{read + " " + write, "coordination.k8s.io", "leases"},
		{write, "resource.k8s.io", "resourceclaims resourceclaimtemplates"},
		{write, "extensions",
			"daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets " +
				"replicasets/scale replicationcontrollers/scale"},
	},
	"admin": {
		{"create", "authorization.k8s.io", "localsubjectaccessreviews"},
		{read + " " + write, "rbac.authorization.k8s.io", "roles rolebindings"},
	},
}.read()

// policy is a set of roles by name. A rule is written as verbs, API groups and resources, each a
// list separated by blanks, with core for the group without a name; or, for paths, as verbs and
// paths.
type policy map[string][][]string

// wider says which role has everything that a role has.
var wider = map[string]string{"admin": "edit", "edit": "view"}

// defaultBinding binds a default role to a group; it is called like the role.
type defaultBinding struct{ role, group string }

var defaultBindings = []defaultBinding{
	{"system:discovery", user.AllAuthenticated},
	{"system:basic-user", user.AllAuthenticated},
	{"system:public-info-viewer", user.AllAuthenticated},
	{"system:public-info-viewer", user.AllUnauthenticated},
	{"system:monitoring", user.MonitoringGroup},
	{"system:service-account-issuer-discovery", serviceaccount.AllServiceAccountsGroup},
	{"system:cluster-trust-bundle-discovery", serviceaccount.AllServiceAccountsGroup},
}

func (d *defaultBinding) ref() rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: d.role}
}

func (p policy) read() map[string][]rbacv1.PolicyRule {
	roles := map[string][]rbacv1.PolicyRule{}
	for name, lines := range p {
		for _, line := range lines {
			rule := rbacv1.PolicyRule{Verbs: strings.Fields(line[0])}
			if len(line) == 2 {
				rule.NonResourceURLs = strings.Fields(line[1])
			} else {
				rule.APIGroups, rule.Resources = strings.Fields(line[1]), strings.Fields(line[2])
				if i := slices.Index(rule.APIGroups, "core"); i >= 0 {
					rule.APIGroups[i] = ""
				}
			}
			roles[name] = append(roles[name], rule)
		}
		roles[name] = slices.Clip(roles[name])
	}
	return roles
}

// defaultRules are the rules of a default role, with what stored roles aggregate to it; nil when
// there is no such role.
func (r roles) defaultRules(role string) []rbacv1.PolicyRule {
	rules := cluster[role]
	for ; role != ""; role = wider[role] {
		rules = append(rules, cluster[wider[role]]...)
		if role != "admin" && role != "edit" && role != "view" {
			break
		}
		label := labels.Set{"rbac.authorization.k8s.io/aggregate-to-" + role: "true"}.AsSelector()
		for o := range r.server.EachTyped(rbacv1.GroupName, "clusterroles", "") {
			if other := o.(*rbacv1.ClusterRole); label.Matches(labels.Set(other.Labels)) {
				rules = append(rules, other.Rules...)
			}
		}
	}
	return rules
}

// selected are the rules that a ClusterRole gathers from others: each once, selector by selector,
// ordered by name (pkg/controller/clusterroleaggregation).
func selected(role *rbacv1.ClusterRole, all []rbacv1.ClusterRole) ([]rbacv1.PolicyRule, error) {
	out := []rbacv1.PolicyRule{}
	for i := range role.AggregationRule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&role.AggregationRule.ClusterRoleSelectors[i])
		if err != nil {
			return nil, err
		}
		for j := range all {
			if all[j].Name == role.Name || !selector.Matches(labels.Set(all[j].Labels)) {
				continue
			}
			for _, rule := range all[j].Rules {
				if !slices.ContainsFunc(out,
					func(have rbacv1.PolicyRule) bool { return have.String() == rule.String() }) {
					out = append(out, rule)
				}
			}
		}
	}
	return out, nil
}
