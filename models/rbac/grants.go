package rbac

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"

	"github.com/wavetank/wavetank/models/apiserver"
)

// grant is what one binding gives a subject, or why it gives nothing.
type grant struct {
	binding   string // its kind; "" where no binding was needed
	name      string
	namespace string // of a RoleBinding
	ref       rbacv1.RoleRef
	to        rbacv1.Subject // as which of its subjects
	rules     []rbacv1.PolicyRule
	err       error
}

// reason words why something is allowed, as plugin/pkg/auth/authorizer/rbac does; "" for those who
// may do everything.
func (g *grant) reason() string {
	if g.binding == "" {
		return ""
	}
	name, to := g.name, g.to.Name
	if g.namespace != "" {
		name += "/" + g.namespace
	}
	if g.to.Kind == rbacv1.ServiceAccountKind {
		to += "/" + g.to.Namespace
	}
	return fmt.Sprintf("RBAC: allowed by %s %q of %s %q to %s %q", g.binding, name, g.ref.Kind, g.ref.Name, g.to.Kind,
		to)
}

// roles are the roles and bindings that one server has stored. It owns which rules a subject has.
type roles struct{ server *apiserver.Server }

// grants are what the bindings that name a subject give it in a namespace, or in the cluster for
// "", ordered by name. The rules are those of pkg/registry/rbac/validation/rule.go (VisitRulesFor).
func (r roles) grants(who subject, namespace string) iter.Seq[grant] {
	return func(yield func(grant) bool) {
		give := func(g grant) bool {
			g.rules, g.err = r.rulesOf(g.ref, g.namespace)
			return yield(g)
		}
		for _, b := range defaultBindings {
			to := rbacv1.Subject{Kind: rbacv1.GroupKind, Name: b.group}
			if slices.Contains(who.groups, b.group) &&
				!give(grant{binding: "ClusterRoleBinding", name: b.role, ref: b.ref(), to: to}) {
				return
			}
		}
		for o := range r.server.EachTyped(rbacv1.GroupName, "clusterrolebindings", "") {
			b := o.(*rbacv1.ClusterRoleBinding)
			if to, ok := who.among(b.Subjects, ""); ok &&
				!give(grant{binding: "ClusterRoleBinding", name: b.Name, ref: b.RoleRef, to: to}) {
				return
			}
		}
		if namespace == "" {
			return
		}
		for o := range r.server.EachTyped(rbacv1.GroupName, "rolebindings", namespace) {
			b := o.(*rbacv1.RoleBinding)
			if to, ok := who.among(b.Subjects, namespace); ok &&
				!give(grant{binding: "RoleBinding", name: b.Name, namespace: namespace, ref: b.RoleRef, to: to}) {
				return
			}
		}
	}
}

// rules are everything that a subject may do in a namespace.
func (r roles) rules(who subject, namespace string) (rules []rbacv1.PolicyRule, errs []error) {
	if privileged(who.groups) {
		return cluster["cluster-admin"], nil
	}
	for g := range r.grants(who, namespace) {
		rules = append(rules, g.rules...)
		if g.err != nil {
			errs = append(errs, g.err)
		}
	}
	return rules, errs
}

// rulesOf are the rules of the role that a binding refers to.
func (r roles) rulesOf(ref rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	switch ref.Kind {
	case "Role":
		if role, ok := r.server.Typed(rbacv1.GroupName, "roles", namespace, ref.Name).(*rbacv1.Role); ok {
			return role.Rules, nil
		}
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: rbacv1.GroupName, Resource: "role"}, ref.Name)
	case "ClusterRole":
		if role, ok := r.server.Typed(rbacv1.GroupName, "clusterroles", "", ref.Name).(*rbacv1.ClusterRole); ok {
			return role.Rules, nil
		}
		if rules := r.defaultRules(ref.Name); rules != nil {
			return rules, nil
		}
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: rbacv1.GroupName, Resource: "clusterrole"},
			ref.Name)
	}
	return nil, fmt.Errorf("unsupported role reference kind: %q", ref.Kind)
}

// among is the first entry of a binding's subjects that is this subject. An account without a
// namespace is one of the binding's own.
func (s subject) among(subjects []rbacv1.Subject, namespace string) (_ rbacv1.Subject, ok bool) {
	for _, stream := range subjects {
		switch stream.Kind {
		case rbacv1.UserKind:
			ok = s.name == stream.Name
		case rbacv1.GroupKind:
			ok = slices.Contains(s.groups, stream.Name)
		case rbacv1.ServiceAccountKind:
			stream.Namespace = cmp.Or(stream.Namespace, namespace)
			ok = stream.Namespace != "" && serviceaccount.MatchesUsername(stream.Namespace, stream.Name, s.name)
		}
		if ok {
			return stream, true
		}
	}
	return rbacv1.Subject{}, false
}

func (r roles) account(namespace, name string) *corev1.ServiceAccount {
	account, _ := r.server.Typed("", "serviceaccounts", namespace, name).(*corev1.ServiceAccount)
	return account
}
