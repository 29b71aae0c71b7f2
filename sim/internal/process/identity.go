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
	if i.Process.settings.Account == "" {
		p.User, p.Groups = i.Process.Name, []string{user.SystemPrivilegedGroup, user.AllAuthenticated}
		return
	}
	namespace, name, _ := strings.Cut(i.Process.settings.Account, "/")
	p.User = serviceaccount.MakeUsername(namespace, name)
	p.Groups = append(serviceaccount.MakeGroupNames(namespace), user.AllAuthenticated)
	if account := i.world.Wire.Server().Typed("", "serviceaccounts", namespace, name); account != nil {
		if m, err := meta.Accessor(account); err == nil {
			p.UID = string(m.GetUID())
		}
	}
}
