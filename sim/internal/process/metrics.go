package process

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// registry is what an incarnation registers its metrics in. Programs do that in their setup
// functions, with collectors that are package variables. In one process a second registration
// panics, so each incarnation has a registry of its own. It gathers what packages have registered
// as they were initialised, too.
type registry struct {
	*prometheus.Registry
	gatherers prometheus.Gatherers
}

func (r registry) Gather() ([]*dto.MetricFamily, error) { return r.gatherers.Gather() }

// newRegistry returns an empty registry that is not that of the process.
func newRegistry() registry {
	own := prometheus.NewRegistry()
	return registry{own, prometheus.Gatherers{initialRegistry, own}}
}

// initialRegistry is that of the process, in which packages register as they are initialised.
var initialRegistry = metrics.Registry
