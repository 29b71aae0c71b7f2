package rbac

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/component-helpers/auth/rbac/validation"

	"github.com/wavetank/wavetank/models/apiserver"
)

// Grant implements [apiserver.Authorizer]: a user may grant only rights that they have, unless they
// may escalate or bind roles (pkg/registry/rbac/*/policybased/storage.go).
func (a *Authorizer) Grant(req *apiserver.Request, info apiserver.Info, object, old runtime.Object) error {
	who := subject{req.User, req.Groups}
	if privileged(who.groups) || collectorsBusiness(object, old) {
		return nil
	}
	switch o := object.(type) {
	case *rbacv1.Role:
		return a.grantRules(who, info, o.Name, o.Rules, false)
	case *rbacv1.ClusterRole:
		before, _ := old.(*rbacv1.ClusterRole)
		return a.grantRules(who, info, o.Name, o.Rules, aggregates(o) || aggregates(before))
	case *rbacv1.RoleBinding:
		return a.grantRole(who, info, o.Name, o.RoleRef)
	case *rbacv1.ClusterRoleBinding:
		return a.grantRole(who, info, o.Name, o.RoleRef)
	}
	return nil
}

func aggregates(r *rbacv1.ClusterRole) bool {
	return r != nil && r.AggregationRule != nil && len(r.AggregationRule.ClusterRoleSelectors) > 0
}

// collectorsBusiness says that an update changes only what the garbage collector has to change.
func collectorsBusiness(object, old runtime.Object) bool {
	if old == nil {
		return false
	}
	object = object.DeepCopyObject()
	now, err := meta.Accessor(object)
	if err != nil {
		return false
	}
	before, err := meta.Accessor(old)
	if err != nil {
		return false
	}
	now.SetOwnerReferences(before.GetOwnerReferences())
	now.SetFinalizers(before.GetFinalizers())
	now.SetManagedFields(before.GetManagedFields())
	return equality.Semantic.DeepEqual(object, old)
}

// grantRules judges the rules of a role that is about to be written. A role that gathers others may
// gather anything.
func (a *Authorizer) grantRules(
	who subject, info apiserver.Info, name string, rules []rbacv1.PolicyRule, gathers bool,
) error {
	escalate := action{verb: "escalate", group: info.Group, resource: info.Resource, namespace: info.Namespace,
		name: info.Name}
	if by, _ := a.allows(who, escalate); by != nil {
		return nil
	}
	err := a.covers(who, info.Namespace, rules)
	if err == nil && gathers && a.covers(who, info.Namespace, cluster["cluster-admin"]) != nil {
		err = errors.New("must have cluster-admin privileges to use the aggregationRule")
	}
	return refusal(info, name, err)
}

// grantRole judges a binding that is about to be written.
func (a *Authorizer) grantRole(who subject, info apiserver.Info, name string, ref rbacv1.RoleRef) error {
	bind := action{verb: "bind", group: ref.APIGroup, namespace: info.Namespace, name: ref.Name}
	switch ref.Kind {
	case "ClusterRole":
		bind.resource = "clusterroles"
	case "Role":
		bind.resource = "roles"
	}
	if by, _ := a.allows(who, bind); by != nil && bind.resource != "" {
		return nil
	}
	rules, err := a.roles.rulesOf(ref, info.Namespace)
	if apierrors.IsNotFound(err) { // the store of bindings takes it for news of its own
		return apierrors.NewNotFound(schema.GroupResource{Group: info.Group, Resource: info.Resource}, ref.Name)
	}
	if err != nil {
		return err
	}
	return refusal(info, name, a.covers(who, info.Namespace, rules))
}

func refusal(info apiserver.Info, name string, err error) error {
	if err == nil {
		return nil
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: info.Group, Resource: info.Resource}, name, err)
}

// covers says which of the rules go beyond what a subject may do
// (pkg/registry/rbac/validation/rule.go).
func (a *Authorizer) covers(who subject, namespace string, rules []rbacv1.PolicyRule) error {
	has, errs := a.roles.rules(who, namespace)
	ok, missing := validation.Covers(has, rules)
	if ok {
		a.usage.noteGranted(who, rules)
		return nil
	}
	var lines []string
	for _, rule := range compact(missing) {
		if line := describe(rule); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	text := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
		who.name, who.groups, strings.Join(lines, "\n"))
	if len(errs) > 0 {
		text += fmt.Sprintf("; resolution errors: %v", utilerrors.NewAggregate(errs))
	}
	return errors.New(text)
}

// compact puts the verbs of rules about the same thing together.
func compact(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	var out []rbacv1.PolicyRule
	at := map[string]int{}
	for _, rule := range rules {
		bare := rule
		bare.Verbs = nil
		key := bare.String()
		if i, ok := at[key]; ok && len(rule.NonResourceURLs) == 0 {
			out[i].Verbs = append(out[i].Verbs, rule.Verbs...)
			continue
		}
		at[key] = len(out)
		out = append(out, *rule.DeepCopy())
	}
	return out
}

// describe words a rule as pkg/apis/rbac/v1/evaluation_helpers.go (CompactString) does.
func describe(r rbacv1.PolicyRule) string {
	var parts []string
	for _, p := range []struct {
		name string
		list []string
	}{
		{"APIGroups", r.APIGroups}, {"Resources", r.Resources}, {"NonResourceURLs", r.NonResourceURLs},
		{"ResourceNames", r.ResourceNames}, {"Verbs", r.Verbs},
	} {
		if len(p.list) > 0 {
			parts = append(parts, fmt.Sprintf("%s:%q", p.name, p.list))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
