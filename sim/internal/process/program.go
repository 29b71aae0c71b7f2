package process

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Main is a program. It returns when ctx is done or when it fails.
type Main func(ctx context.Context, cfg *rest.Config) error

// Settings are what a cluster knows of a process, and its program does not.
type Settings struct {
	// Account is the ServiceAccount that it runs as, as "namespace/name"; "" for a cluster
	// administrator.
	Account string
	// Services are the Services that lead to the process, as "namespace/name"; if there are none,
	// any may.
	Services []string
	// ListThenWatch makes the informers of its managers list first and watch then.
	ListThenWatch bool
}

// program is what all incarnations of a process have in common.
type program struct {
	Name string

	main     Main
	settings Settings
	readers  readers
	first    int // the first incarnation
}

// Account is the ServiceAccount that a process runs as, as "namespace/name"; "" for an
// administrator.
func (p *program) Account() string { return p.settings.Account }

// User is the name by which the API server knows a process, and the groups that it is in.
func (p *program) User() (name string, groups []string) {
	if p.Account() == "" {
		return p.Name, []string{user.SystemPrivilegedGroup, user.AllAuthenticated}
	}
	namespace, account, _ := strings.Cut(p.Account(), "/")
	return serviceaccount.MakeUsername(namespace, account),
		append(serviceaccount.MakeGroupNames(namespace), user.AllAuthenticated)
}

// ReaderOf is the operator's line for which informers of a process read a kind: one that watches
// it, or that reads it from a cache. If neither is known it is the line that sets a controller up;
// "" if there is none.
func (p *program) ReaderOf(kind string) string { return p.readers.of(kind) }

// behind reports whether a Service reaches the process.
func (p *program) behind(service *apiserver.WebhookService) bool {
	if service == nil {
		return false
	}
	name := fmt.Sprintf("%s/%s", service.Namespace, service.Name)
	return len(p.settings.Services) == 0 || slices.Contains(p.settings.Services, name)
}

// identify gives a new incarnation its credential. The token of a ServiceAccount is for the account
// that exists now.
func (p *program) identify(port *wire.Port, in *wire.Network) {
	port.User, port.Groups = p.User()
	if p.Account() == "" {
		return
	}
	namespace, name, _ := strings.Cut(p.Account(), "/")
	if account := in.Server().Typed("", "serviceaccounts", namespace, name); account != nil {
		if m, err := meta.Accessor(account); err == nil {
			port.UID = string(m.GetUID())
		}
	}
}
