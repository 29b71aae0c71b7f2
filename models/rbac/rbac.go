// Package rbac is role-based access control: it judges every request by the Roles, ClusterRoles,
// bindings and ServiceAccounts that exist at that moment.
//
// The rules are those of plugin/pkg/auth/authorizer/rbac and pkg/registry/rbac in the Kubernetes
// tree. A binding that is being deleted but held by a finalizer still grants, because the
// authorizer does not look at deletionTimestamp. A request of a ServiceAccount that does not exist
// is not authenticated (401); a real server may accept it for up to ten seconds after the account's
// deletion, while it remembers the token. Members of system:masters may do everything.
//
// A new cluster has roles for its users: cluster-admin, admin, edit, view and those that every user
// has. They are known here but not stored, so they do not show in lists. A stored ClusterRole of
// the same name takes the place of one. What other ClusterRoles aggregate to admin, edit and view
// counts at once. The roles of Kubernetes' own components are not known. Aggregation into other
// ClusterRoles is the work of [Aggregation], an actor.
package rbac

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/wavetank/wavetank/models/apiserver"
)

// Authorizer judges requests by what one server has stored. It implements [apiserver.Authorizer].
type Authorizer struct {
	roles roles
	usage usage
}

// New returns an authorizer that reads the server's roles, bindings and accounts.
func New(s *apiserver.Server) *Authorizer { return &Authorizer{roles{s}, usage{}} }

// subject is a user as rules see one.
type subject struct {
	name   string
	groups []string
}

// action is what a request does: a verb on a resource, or on a path.
type action struct {
	verb, group, resource, subresource, namespace, name string
	path                                                string
	onPath                                              bool // a review may ask about a resource without a name
}

// Authorize implements [apiserver.Authorizer].
func (a *Authorizer) Authorize(req *apiserver.Request, info apiserver.Info) (*apiserver.Request, error) {
	if err := a.authenticate(req); err != nil {
		return nil, err
	}
	act := actionOf(req, info)
	req, err := a.impersonate(req, act)
	if err != nil {
		return nil, err
	}
	return req, a.check(subject{req.User, req.Groups}, act)
}

// authenticate reports whether the credential of a ServiceAccount is still good. The order is that
// of pkg/serviceaccount/claims.go: the account exists, and is the one that the token was made for.
func (a *Authorizer) authenticate(req *apiserver.Request) error {
	if privileged(req.Groups) || !strings.HasPrefix(req.User, serviceaccount.ServiceAccountUsernamePrefix) {
		return nil
	}
	namespace, name, err := serviceaccount.SplitUsername(req.User)
	if err != nil {
		return nil
	}
	account := a.roles.account(namespace, name)
	if account == nil || req.UID != "" && req.UID != string(account.UID) {
		return apierrors.NewUnauthorized("Unauthorized")
	}
	return nil
}

func actionOf(req *apiserver.Request, info apiserver.Info) action {
	if info.Resource == "" {
		return action{verb: strings.ToLower(req.Method), path: req.URL.Path, onPath: true}
	}
	sub, _, _ := strings.Cut(info.Subresource, "/") // what follows is a proxy's business (requestinfo.go)
	act := action{
		verb: info.Verb, group: info.Group, resource: info.Resource, subresource: sub,
		namespace: info.Namespace, name: info.Name,
	}
	if info.Resource == "namespaces" && strings.Contains(req.URL.Path, "/namespaces/") {
		// A namespace lies in itself
		// (staging/src/k8s.io/apiserver/pkg/endpoints/request/requestinfo.go).
		act.namespace = info.Name
	}
	return act
}

func privileged(groups []string) bool { return slices.Contains(groups, user.SystemPrivilegedGroup) }

// check is the verdict about an action: nil, or the error that a real server answers with.
func (a *Authorizer) check(who subject, act action) error {
	by, err := a.allows(who, act)
	if by != nil {
		return nil
	}
	return forbidden(who, act, reason(err))
}

// allows is the grant by which a subject may do something. There is none when it may not; the error
// is what went wrong in looking for rules.
func (a *Authorizer) allows(who subject, act action) (*grant, error) {
	if privileged(who.groups) {
		return &grant{}, nil
	}
	var errs []error
	for g := range a.roles.grants(who, act.namespace) {
		if g.err != nil {
			errs = append(errs, g.err)
			continue
		}
		for i := range g.rules {
			if act.allowedBy(&g.rules[i]) {
				a.usage.note(who, act, &g.rules[i])
				return &g, nil
			}
		}
	}
	return nil, utilerrors.NewAggregate(errs)
}

// reason words what went wrong as the authorizer does, which puts its name first; "" when nothing
// did.
func reason(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("rbac: RBAC: %v", err)
}

// sanitizer keeps messages from being taken for HTML, as
// endpoints/handlers/responsewriters/errors.go does.
var sanitizer = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// forbidden words a refusal as endpoints/handlers/responsewriters/errors.go does.
func forbidden(who subject, act action, reason string) error {
	text := fmt.Sprintf("User %q cannot %s path %q", who.name, act.verb, act.path)
	if act.resource != "" {
		resource, scope := act.resource, "at the cluster scope"
		if act.subresource != "" {
			resource += "/" + act.subresource
		}
		if act.namespace != "" {
			scope = fmt.Sprintf("in the namespace %q", act.namespace)
		}
		text = fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", who.name, act.verb, resource, act.group,
			scope)
	}
	text = sanitizer.Replace(text)
	if reason != "" {
		text += ": " + reason
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: act.group, Resource: act.resource}, act.name,
		fmt.Errorf("%s", text))
}

// allowedBy reports whether a rule covers the action (pkg/apis/rbac/v1/evaluation_helpers.go).
func (a action) allowedBy(rule *rbacv1.PolicyRule) bool {
	if !matches(rule.Verbs, a.verb) {
		return false
	}
	if a.onPath {
		return slices.ContainsFunc(rule.NonResourceURLs, a.underPath)
	}
	resource := a.resource
	if a.subresource != "" {
		resource += "/" + a.subresource
	}
	return matches(rule.APIGroups, a.group) &&
		(matches(rule.Resources, resource) || a.subresource != "" &&
			slices.Contains(rule.Resources, "*/"+a.subresource)) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, a.name))
}

func (a action) underPath(allowed string) bool {
	return allowed == a.path || strings.HasSuffix(allowed, "*") &&
		strings.HasPrefix(a.path, strings.TrimRight(allowed, "*"))
}

// matches reports whether a list has an entry or has everything.
func matches(list []string, entry string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, entry)
}
