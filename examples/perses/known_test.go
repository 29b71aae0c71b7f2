//go:build known

package perses

import (
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perses/perses-operator/api/v1alpha2"
	"github.com/perses/perses-operator/controllers/dashboards"
	"github.com/perses/perses-operator/internal/metrics"
	"github.com/perses/perses-operator/internal/perses/common"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/yaml"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// TestIssue376 fails for versions that have https://github.com/perses/perses-operator/pull/376: the
// operator panics at a dashboard for which there is no Perses.
func TestIssue376(t *testing.T) {
	logrus.SetOutput(io.Discard)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha2.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/perses/perses-operator").Output()
	if err != nil {
		t.Fatal(err)
	}
	definitions := filepath.Join(strings.TrimSpace(string(dir)), "config", "crd", "bases")
	sim.Check(t, func(w *sim.World) {
		w.Install(definitions)
		w.Start("perses-operator", func(mgr ctrl.Manager) error {
			return (&dashboards.PersesDashboardReconciler{
				Client: mgr.GetClient(), Scheme: mgr.GetScheme(), Metrics: metrics.NewMetrics(),
				ReconciliationTracker: metrics.NewReconciliationTracker(prometheus.NewRegistry()),
				ClientFactory:         common.NewWithConfig(),
			}).SetupWithManager(mgr)
		}, sim.Options(ctrl.Options{Scheme: scheme}))
		w.Inject(fault.StaleCache(time.Minute), fault.Crash("perses-operator"), fault.LostReply(), fault.Conflict())
		w.Eventually("a dashboard without a Perses is called degraded", func(h *history.History) error {
			d, ok := history.Get[v1alpha2.PersesDashboard](h, "default", "d")
			if ok && !meta.IsStatusConditionTrue(d.Status.Conditions, "Degraded") {
				return errors.New("it is not")
			}
			return nil
		})
		d := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(`
apiVersion: perses.dev/v1alpha2
kind: PersesDashboard
metadata: {namespace: default, name: d}
spec: {config: {display: {name: d}, duration: 5m, panels: {}, layouts: []}}
`), &d.Object); err != nil {
			panic(err)
		}
		w.Apply(d)
		w.Settle()
	})
}
