package rbac

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/wavetank/wavetank/models/apiserver"
)

// impersonate returns the request under the identity that its Impersonate-* headers ask for, if its
// sender may take that on (staging/src/k8s.io/apiserver/pkg/endpoints/filters/impersonation). The
// ways are tried in order, the constrained ones of KEP-5284 before the old one. When all are
// refused, the first refusal is the answer. Impersonation of the node that a pod runs on is not
// modelled, there being no nodes.
func (a *Authorizer) impersonate(req *apiserver.Request, act action) (*apiserver.Request, error) {
	want, err := wanted(req.Header)
	if err != nil || want == nil {
		return req, err
	}
	who := subject{req.User, req.Groups}
	var first error
	for _, m := range impersonationModes {
		if m.applies != nil && !m.applies(want) {
			continue
		}
		err := a.mayImpersonate(who, want, act, m)
		if err == nil {
			return as(want, req, m), nil
		}
		first = cmp.Or(first, err)
	}
	return nil, first
}

// impersonationMode is one set of rights that lets a user act as another. name is empty for the
// mode that allows every action.
type impersonationMode struct {
	name, group string
	resource    string // what the user is called in rules
	applies     func(*user.DefaultInfo) bool
}

const nodePrefix = "system:node:"

var impersonationModes = []impersonationMode{
	{name: "arbitrary-node", group: authenticationv1.GroupName, resource: "nodes",
		applies: func(u *user.DefaultInfo) bool {
			return onlyName(u) && strings.HasPrefix(u.Name, nodePrefix)
		}},
	{name: "serviceaccount", group: authenticationv1.GroupName, resource: "serviceaccounts",
		applies: func(u *user.DefaultInfo) bool {
			_, _, err := serviceaccount.SplitUsername(u.Name)
			return onlyName(u) && err == nil
		}},
	{name: "user-info", group: authenticationv1.GroupName, resource: "users", applies: func(u *user.DefaultInfo) bool {
		_, _, err := serviceaccount.SplitUsername(u.Name)
		return err != nil && !strings.HasPrefix(u.Name, nodePrefix)
	}},
	{},
}

func onlyName(u *user.DefaultInfo) bool {
	return u.UID == "" && len(u.Groups) == 0 && len(u.Extra) == 0
}

// mayImpersonate asks for every right that one way of impersonating needs.
func (a *Authorizer) mayImpersonate(who subject, want *user.DefaultInfo, act action, m impersonationMode) error {
	verb := "impersonate"
	if m.name != "" {
		on := act
		on.verb = "impersonate-on:" + m.name + ":" + act.verb
		if err := a.check(who, on); err != nil {
			return err
		}
		verb += ":" + m.name
	}
	needs := []action{{verb: verb, group: m.group, resource: cmp.Or(m.resource, "users"), name: want.Name}}
	if namespace, name, err := serviceaccount.SplitUsername(want.Name); err == nil {
		needs[0].resource, needs[0].namespace, needs[0].name = "serviceaccounts", namespace, name
	} else if m.resource == "nodes" {
		needs[0].name = strings.TrimPrefix(want.Name, nodePrefix)
	}
	if want.UID != "" {
		needs = append(needs, action{verb: verb, group: authenticationv1.GroupName, resource: "uids", name: want.UID})
	}
	for _, g := range want.Groups {
		n := action{verb: verb, group: m.group, resource: "groups", name: g}
		if m.name != "" && g == user.SystemPrivilegedGroup {
			return forbidden(who, n, "impersonating the system:masters group is not allowed")
		}
		needs = append(needs, n)
	}
	for _, key := range slices.Sorted(maps.Keys(want.Extra)) {
		for _, value := range want.Extra[key] {
			needs = append(needs, action{verb: verb, group: authenticationv1.GroupName, resource: "userextras",
				subresource: key, name: value})
		}
	}
	for _, n := range needs {
		if err := a.check(who, n); err != nil {
			return err
		}
	}
	return nil
}

// wanted returns the user whom the headers impersonate, or nil.
func wanted(h http.Header) (*user.DefaultInfo, error) {
	u := &user.DefaultInfo{
		Name: h.Get(authenticationv1.ImpersonateUserHeader), UID: h.Get(authenticationv1.ImpersonateUIDHeader),
		Groups: h[authenticationv1.ImpersonateGroupHeader],
	}
	for name, values := range h {
		if key, ok := strings.CutPrefix(name, authenticationv1.ImpersonateUserExtraHeaderPrefix); ok &&
			len(values) > 0 {
			key = strings.ToLower(key)
			if plain, err := url.PathUnescape(key); err == nil {
				key = plain
			}
			if u.Extra == nil {
				u.Extra = map[string][]string{}
			}
			u.Extra[key] = values
		}
	}
	switch {
	case u.Name != "":
		return u, nil
	case !onlyName(u):
		return nil, apierrors.NewBadRequest(fmt.Sprintf("requested %#v without impersonating a user name", u))
	}
	return nil, nil
}

// as is the request under the wanted identity, completed with the groups that it has by its nature.
func as(want *user.DefaultInfo, req *apiserver.Request, m impersonationMode) *apiserver.Request {
	out := *req
	groups := slices.Clone(want.Groups)
	if namespace, _, err := serviceaccount.SplitUsername(want.Name); err == nil && len(groups) == 0 {
		groups = serviceaccount.MakeGroupNames(namespace)
	}
	if m.resource == "nodes" {
		groups = []string{user.NodesGroup}
	}
	every := user.AllAuthenticated
	if want.Name == user.Anonymous {
		every = user.AllUnauthenticated
	}
	if !slices.Contains(groups, every) && !slices.Contains(groups, user.AllUnauthenticated) {
		groups = append(groups, every)
	}
	out.User, out.Groups, out.UID, out.Extra = want.Name, groups, want.UID, want.Extra
	out.Header = maps.Clone(req.Header)
	maps.DeleteFunc(out.Header, func(name string, _ []string) bool { return strings.HasPrefix(name, "Impersonate-") })
	return &out
}
