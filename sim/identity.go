package sim

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/wavetank/wavetank/models/rbac"
)

// As runs a process as a ServiceAccount, written "namespace/name", with the rights that Roles, ClusterRoles and bindings
// give that account at the moment of each request; see [github.com/wavetank/wavetank/models/rbac]. Without it a process is
// a cluster administrator (a member of the group system:masters), as it is in envtest.
//
// Each life has a token for the account of that name that exists when the life begins. While the account does not exist,
// or when it has been deleted and made anew, requests are answered with 401, as in production. A controller that fills
// ClusterRoles with an aggregationRule comes with the first process that runs as an account.
func As(account string) ProcessOption {
	return func(p *processOptions) { p.as = &account }
}

// Serves says which Services, written "namespace/name", lead to a process, for worlds in which two processes serve webhooks
// at the same path. A process of which nothing is said is reached through any Service.
func Serves(services ...string) ProcessOption {
	return func(p *processOptions) { p.services = append(p.services, services...) }
}

// account checks what As was given; it is "" for a process that is an administrator.
func (w *World) account(process string, o processOptions) string {
	if o.as == nil {
		return ""
	}
	namespace, name, ok := strings.Cut(*o.as, "/")
	if !ok || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		w.misuse("process %q runs as %q, which is no ServiceAccount; write sim.As(\"namespace/name\")", process, *o.as)
	}
	aggregation := rbac.Aggregation()
	for _, b := range w.builtins {
		if b.actor.Name() == aggregation.Name() {
			return *o.as
		}
	}
	w.Builtin(aggregation)
	return *o.as
}
