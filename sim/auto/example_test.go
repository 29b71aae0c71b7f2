package auto_test

import (
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/auto"
)

func ExampleScenario() {
	_ = func(t *testing.T) { // func TestAuto(t *testing.T)
		sim.Check(t, func(w *sim.World) {
			w.Install("testdata/widgets.yaml") // ../../config/crd/bases in a kubebuilder project
			w.Start("widgets", func(mgr ctrl.Manager) error {
				return (&widgets{Client: mgr.GetClient()}).SetupWithManager(mgr)
			}, sim.Options(ctrl.Options{Scheme: scheme}))
			auto.Scenario(w)
		})
	}
}
