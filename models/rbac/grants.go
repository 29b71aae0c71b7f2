package rbac

import (
	"fmt"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
)

// grant is what one binding gives, or why it gives nothing.
type grant struct {
	source string
	rules  []rbacv1.PolicyRule
	err    error
}

// grants are what the bindings that name a subject give it in a namespace, or in the cluster for "", ordered by name. The
// rules are those of pkg/registry/rbac/validation/rule.go (VisitRulesFor).
func (a *Authorizer) grants(who subject, namespace string) iter.Seq[grant] {
	return func(yield func(grant) bool) {
		for i := range defaultBindings {
			b := &defaultBindings[i]
			to := fmt.Sprintf("%s %q", rbacv1.GroupKind, b.group)
			if slices.Contains(who.groups, b.group) && !yield(a.grantOf(to, fmt.Sprintf("ClusterRoleBinding %q", b.role), b.ref(), "")) {
				return
			}
		}
		for o := range a.server.EachTyped(rbacv1.GroupName, "clusterrolebindings", "") {
			b := o.(*rbacv1.ClusterRoleBinding)
			if s := who.among(b.Subjects, ""); s != "" && !yield(a.grantOf(s, fmt.Sprintf("ClusterRoleBinding %q", b.Name), b.RoleRef, "")) {
				return
			}
		}
		if namespace == "" {
			return
		}
		for o := range a.server.EachTyped(rbacv1.GroupName, "rolebindings", namespace) {
			b := o.(*rbacv1.RoleBinding)
			name := fmt.Sprintf("RoleBinding %q", b.Name+"/"+b.Namespace)
			if s := who.among(b.Subjects, namespace); s != "" && !yield(a.grantOf(s, name, b.RoleRef, namespace)) {
				return
			}
		}
	}
}

func (a *Authorizer) grantOf(to, binding string, ref rbacv1.RoleRef, namespace string) grant {
	rules, err := a.rulesOf(ref, namespace)
	return grant{fmt.Sprintf("%s of %s %q to %s", binding, ref.Kind, ref.Name, to), rules, err}
}

// rules are everything that a subject may do in a namespace.
func (a *Authorizer) rules(who subject, namespace string) (rules []rbacv1.PolicyRule, errs []error) {
	if privileged(who.groups) {
		return cluster["cluster-admin"], nil
	}
	for g := range a.grants(who, namespace) {
		rules = append(rules, g.rules...)
		if g.err != nil {
			errs = append(errs, g.err)
		}
	}
	return rules, errs
}

// rulesOf are the rules of the role that a binding refers to.
func (a *Authorizer) rulesOf(ref rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	switch ref.Kind {
	case "Role":
		if r, ok := a.server.Typed(rbacv1.GroupName, "roles", namespace, ref.Name).(*rbacv1.Role); ok {
			return r.Rules, nil
		}
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: rbacv1.GroupName, Resource: "role"}, ref.Name)
	case "ClusterRole":
		if r, ok := a.server.Typed(rbacv1.GroupName, "clusterroles", "", ref.Name).(*rbacv1.ClusterRole); ok {
			return r.Rules, nil
		}
		if rules := a.defaultRules(ref.Name); rules != nil {
			return rules, nil
		}
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: rbacv1.GroupName, Resource: "clusterrole"}, ref.Name)
	}
	return nil, fmt.Errorf("unsupported role reference kind: %q", ref.Kind)
}

// among describes the first entry of a binding's subjects that is this subject; "" when none is. An account without a
// namespace is one of the binding's own.
func (who subject) among(subjects []rbacv1.Subject, namespace string) string {
	for _, s := range subjects {
		name := s.Name
		switch s.Kind {
		case rbacv1.UserKind:
			if who.name != s.Name {
				continue
			}
		case rbacv1.GroupKind:
			if !slices.Contains(who.groups, s.Name) {
				continue
			}
		case rbacv1.ServiceAccountKind:
			in := s.Namespace
			if in == "" {
				in = namespace
			}
			if in == "" || !serviceaccount.MatchesUsername(in, s.Name, who.name) {
				continue
			}
			name += "/" + in
		default:
			continue
		}
		return fmt.Sprintf("%s %q", s.Kind, name)
	}
	return ""
}

func (a *Authorizer) account(namespace, name string) *corev1.ServiceAccount {
	account, _ := a.server.Typed("", "serviceaccounts", namespace, name).(*corev1.ServiceAccount)
	return account
}
