// This file puts models of the outside world behind host names and behind Services.

package sim

import (
	"net/http"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/sim/internal/process"
)

// External puts a model of the outside world behind a host name. The handler is called on the
// scheduling goroutine, as one atomic step, and must not block.
//
// The host is as it stands in URLs, with the port if they have one. It may be a pattern as
// path.Match knows them, in which * stands for any text within one label: "*-svc.*.svc:8080"
// matches "a-x7k2p-svc.default.svc:8080". A host itself comes before a pattern, and a longer
// pattern before a shorter one. The handler sees in r.Host which host was meant.
//
// A request that is neither GET nor HEAD and is answered below 400 is an effect (see
// [history.Effect]). The handler calls [history.AddEffect] to give the effect the key by which
// properties such as property.AtMostOnce know it again.
//
// A nil handler says that there is no such host: requests fail as they do where a name is not
// resolved. A request to a host of which nothing was said is a misuse, as an operator that lives
// with errors would look as if it worked.
func (w *World) External(host string, handler http.Handler) {
	w.alive()
	if err := w.wire.Outside(host, handler); err != nil {
		w.misuse("w.External: %v", err)
	}
}

// ExternalServices puts models behind Services of the world's own cluster, whatever their names:
//
//	w.ExternalServices(func(s *corev1.Service) http.Handler {
//		if s.Labels["app"] == "database" { // or by owner: metav1.GetControllerOf(s)
//			return databases.of(s.UID)
//		}
//		return nil
//	})
//
// The function is asked for each request that reaches a Service, and returns nil for one that it
// does not serve. Of several functions the first that returns a handler counts. It is called on the
// scheduling goroutine, and so is the handler, as that of [World.External] is.
//
// A Service is reached as name.namespace, name.namespace.svc and name.namespace.svc.cluster.local,
// while it exists: before and after, there is no such host. A port that it does not have refuses the
// connection, unless it is headless. Whether pods are ready does not count. Faults strike these
// requests as those to other hosts. A host that was given to External itself comes before a
// Service, and a Service before a pattern.
func (w *World) ExternalServices(model func(*corev1.Service) http.Handler) {
	w.alive()
	if model == nil {
		w.misuse("w.ExternalServices was given no function; give it one that returns a handler for the Services that it knows")
	}
	w.wire.Services(model)
}

// HTTPClient is the process's client to the outside world. It dies with the life that mgr belongs to. For a manager
// that is not simulated it is http.DefaultClient.
func HTTPClient(mgr ctrl.Manager) *http.Client {
	if m, ok := mgr.(*process.Manager); ok {
		return m.HTTPClient()
	}
	return http.DefaultClient
}
