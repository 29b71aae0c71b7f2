package process

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

// identify gives a new incarnation its credential. The token of a ServiceAccount is for the account
// that exists now.
func (i *Incarnation) identify() {
	p := i.Port
	p.User, p.Groups = i.Process.User()
	if i.Process.Account() == "" {
		return
	}
	namespace, name, _ := strings.Cut(i.Process.Account(), "/")
	if account := i.world.Wire.Server().Typed("", "serviceaccounts", namespace, name); account != nil {
		if m, err := meta.Accessor(account); err == nil {
			p.UID = string(m.GetUID())
		}
	}
}

// Account is the ServiceAccount that a process runs as, as "namespace/name"; "" for an
// administrator.
func (p *Process) Account() string { return p.settings.Account }

// User is the name by which the API server knows a process, and the groups that it is in.
func (p *Process) User() (name string, groups []string) {
	if p.Account() == "" {
		return p.Name, []string{user.SystemPrivilegedGroup, user.AllAuthenticated}
	}
	namespace, account, _ := strings.Cut(p.Account(), "/")
	return serviceaccount.MakeUsername(namespace, account),
		append(serviceaccount.MakeGroupNames(namespace), user.AllAuthenticated)
}
