package process

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

// identify gives a new incarnation its credential. The token of a ServiceAccount is for the account
// that exists now.
func (l *Incarnation) identify() {
	p := l.Port
	if l.Process.settings.Account == "" {
		p.User, p.Groups = l.Process.Name, []string{user.SystemPrivilegedGroup, user.AllAuthenticated}
		return
	}
	namespace, name, _ := strings.Cut(l.Process.settings.Account, "/")
	p.User = serviceaccount.MakeUsername(namespace, name)
	p.Groups = append(serviceaccount.MakeGroupNames(namespace), user.AllAuthenticated)
	if account := l.world.Wire.Server().Typed("", "serviceaccounts", namespace, name); account != nil {
		if m, err := meta.Accessor(account); err == nil {
			p.UID = string(m.GetUID())
		}
	}
}
