//go:build !known

package perses

import (
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perses/perses-operator/api/v1alpha2"
	controller "github.com/perses/perses-operator/controllers/perses"
	"github.com/perses/perses-operator/internal/cache"
	"github.com/perses/perses-operator/internal/metrics"
	"github.com/perses/perses-operator/internal/operator"
	"github.com/perses/perses-operator/internal/perses/common"
	"github.com/sirupsen/logrus"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/sim"
)

// start does what main does with the defaults of its flags, for Perses servers.
func start(mgr ctrl.Manager) error {
	return (&controller.PersesReconciler{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Scheme: mgr.GetScheme(), Metrics: metrics.NewMetrics(),
		ClientCacheInvalidator: common.NewWithConfig(),
		Config:                 controller.Config{PersesImage: operator.DefaultPersesImage},
	}).SetupWithManager(mgr)
}

// install returns what puts the operator into a world.
func install(t *testing.T) func(*sim.World) {
	logrus.SetOutput(io.Discard)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha2.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := exec.Command("sh", "-c", "GOWORK=off go list -m -f {{.Dir}} github.com/perses/perses-operator").Output()
	if err != nil {
		t.Fatal(err)
	}
	definitions := filepath.Join(strings.TrimSpace(string(dir)), "config", "crd", "bases")
	return func(w *sim.World) {
		w.Install(definitions)
		w.Start("perses-operator", start, sim.Options(ctrl.Options{Scheme: scheme,
			Cache: cache.BuildCacheOptions(nil, false, false)}))
	}
}
