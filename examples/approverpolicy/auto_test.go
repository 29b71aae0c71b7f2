package simulation

import (
	"testing"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/auto"
)

// TestAuto knows nothing of the operator but its definitions and one sample of each kind.
func TestAuto(t *testing.T) {
	definitions := []any{crds(t, "approver-policy"), crds(t, "cert-manager")}
	sim.Check(t, func(w *sim.World) {
		w.Install(definitions...)
		w.Apply(mayUse()...)
		start(w)
		auto.Scenario(w, auto.Objects(policy(), request("allowed", allowed), request("foreign", foreign)))
	})
}
