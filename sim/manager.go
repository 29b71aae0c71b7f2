package sim

import (
	"net/http"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/sim/internal/process"
)

// NewManager makes a manager inside a program started with [World.Run]: ctrl.NewManager for
// simulated processes.
func NewManager(cfg *rest.Config, o ctrl.Options) (ctrl.Manager, error) {
	return process.NewManager(cfg, o)
}

// HTTPClient is the process's client to the outside world. It dies with the incarnation that mgr
// belongs to. For a manager that is not simulated it is http.DefaultClient.
func HTTPClient(mgr ctrl.Manager) *http.Client {
	if m, ok := mgr.(*process.Manager); ok {
		return m.HTTPClient()
	}
	return http.DefaultClient
}
