package sim_test

import (
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/sim"
)

// The world of a scenario: sim.Check(t, func(w *sim.World) { … }), and the operator's own setup
// function.
var (
	world *sim.World
	setup func(ctrl.Manager) error
)

func ExampleVary() {
	world.Start("operator", setup, sim.Options(ctrl.Options{LeaderElection: true, LeaderElectionID: "operator"}),
		sim.Vary())
}

func ExampleListThenWatch() {
	world.Start("operator", setup, sim.ListThenWatch())
}
