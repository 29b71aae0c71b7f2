package rbac

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/auth/rbac/validation"

	"github.com/wavetank/wavetank/models/apiserver"
)

// Missing says, in a clause, why no rule gives a ServiceAccount the right to a request: which roles
// it has. It is "" if a rule does, now or once the roles that gather others have gathered them.
func (a *Authorizer) Missing(req *apiserver.Request, info apiserver.Info) string {
	who, act := subject{req.User, req.Groups}, actionOf(req, info)
	if privileged(who.groups) {
		return ""
	}
	var roles, broken []string
	for _, g := range a.roles.ownGrants(who) {
		applies := g.namespace == "" || g.namespace == act.namespace
		allows := g.err == nil && slices.ContainsFunc(a.roles.gathered(g.ref, g.rules),
			func(r rbacv1.PolicyRule) bool { return act.allowedBy(&r) })
		role := g.ref.Kind + " " + g.ref.Name
		if g.ref.Kind == "Role" {
			role = fmt.Sprintf("Role %s/%s", g.namespace, g.ref.Name)
		}
		switch {
		case allows && applies:
			return ""
		case g.err != nil:
			broken = append(broken, fmt.Sprintf("%s %s refers to %s, which does not exist", g.binding, g.name, role))
			continue
		case allows:
			role += fmt.Sprintf(" (it does in the namespace %s alone)", g.namespace)
		}
		if !slices.Contains(roles, role) {
			roles = append(roles, role)
		}
	}
	switch {
	case len(roles) > 0:
		broken = append([]string{"no rule of " + strings.Join(roles, " or ") + " allows it"}, broken...)
	case len(broken) == 0:
		return "no binding names its account " + strings.TrimPrefix(who.name, "system:serviceaccount:")
	}
	return strings.Join(broken, "; ")
}

// ownGrants are what the bindings that name a subject give it, in the cluster and in any namespace,
// without what every user has.
func (r roles) ownGrants(who subject) (out []grant) {
	for g := range r.grants(who, "") {
		if !slices.ContainsFunc(defaultBindings, func(b defaultBinding) bool { return b.role == g.name }) {
			out = append(out, g)
		}
	}
	namespaces := map[string]bool{}
	for o := range r.server.EachTyped(rbacv1.GroupName, "rolebindings", "") {
		namespace := o.(*rbacv1.RoleBinding).Namespace
		if namespaces[namespace] {
			continue
		}
		namespaces[namespace] = true
		for g := range r.grants(who, namespace) {
			if g.namespace != "" {
				out = append(out, g)
			}
		}
	}
	return out
}

// gathered are the rules of a role with those that it is going to gather from others.
func (r roles) gathered(ref rbacv1.RoleRef, rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	if ref.Kind != "ClusterRole" {
		return rules
	}
	out, seen := slices.Clone(rules), map[string]bool{ref.Name: true}
	for todo := []string{ref.Name}; len(todo) > 0; todo = todo[1:] {
		role, _ := r.server.Typed(rbacv1.GroupName, "clusterroles", "", todo[0]).(*rbacv1.ClusterRole)
		if !aggregates(role) {
			continue
		}
		for _, s := range role.AggregationRule.ClusterRoleSelectors {
			selector, err := metav1.LabelSelectorAsSelector(&s)
			if err != nil {
				continue
			}
			for o := range r.server.EachTyped(rbacv1.GroupName, "clusterroles", "") {
				if other := o.(*rbacv1.ClusterRole); !seen[other.Name] && selector.Matches(labels.Set(other.Labels)) {
					seen[other.Name] = true
					todo = append(todo, other.Name)
					out = append(out, other.Rules...)
				}
			}
		}
	}
	return out
}

// Right is one verb with one resource that a role gives.
type Right struct{ Role, Group, Resource, Verb string }

// use is a request that a rule allowed. Its name counts only where the rule names objects.
type use struct {
	user string
	action
}

// usage is what rules have allowed.
type usage map[use]bool

// note notes that a rule has allowed something.
func (u usage) note(who subject, act action, rule *rbacv1.PolicyRule) {
	if len(rule.ResourceNames) == 0 {
		act.name = ""
	}
	act.namespace = ""
	u[use{who.name, act}] = true
}

// noteGranted notes that a user needed the rights that it has granted to others.
func (u usage) noteGranted(who subject, rules []rbacv1.PolicyRule) {
	for _, rule := range rules {
		for _, r := range validation.BreakdownRule(rule) {
			if len(r.Resources) == 0 {
				continue
			}
			act := action{verb: r.Verbs[0], group: r.APIGroups[0], name: strings.Join(r.ResourceNames, "")}
			act.resource, act.subresource, _ = strings.Cut(r.Resources[0], "/")
			u[use{who.name, act}] = true
		}
	}
}

// reading are verbs of which a cache needs more than it uses: which one it uses depends on its
// version and its server.
var reading = []string{"get", "list", "watch"}

// Unused are the rights of a user that no request has needed so far. Of the verbs that read, one
// stands for all.
func (a *Authorizer) Unused(name string, groups []string) (out []Right) {
	who := subject{name, groups}
	for _, g := range a.roles.ownGrants(who) {
		role := g.ref.Kind + " " + g.ref.Name
		for i := range g.rules {
			for _, right := range rightsOf(role, &g.rules[i]) {
				verbs := []string{right.Verb}
				if slices.Contains(reading, right.Verb) {
					verbs = reading
				}
				single := rbacv1.PolicyRule{Verbs: verbs, APIGroups: []string{right.Group},
					Resources: []string{right.Resource}, ResourceNames: g.rules[i].ResourceNames}
				if !a.usage.uses(who, &single) && !slices.Contains(out, right) {
					out = append(out, right)
				}
			}
		}
	}
	return out
}

func (u usage) uses(who subject, rule *rbacv1.PolicyRule) bool {
	for used := range u {
		if used.user == who.name && used.allowedBy(rule) {
			return true
		}
	}
	return false
}

func rightsOf(role string, rule *rbacv1.PolicyRule) (out []Right) {
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				out = append(out, Right{role, group, resource, verb})
			}
		}
	}
	return out
}
