package planted

import (
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// stage is the world of a scenario. Where an operator is tried without its author's scenario, the
// stage is bare: faults, properties and what users do are left out, and what users would apply is
// kept as the operator's samples.
type stage struct {
	*sim.World
	bare    bool
	samples []client.Object
}

// played does what belongs to the scenario and not to the operator.
func (s *stage) played(do func()) {
	if !s.bare {
		do()
	}
}

// The methods of the world that a bare stage leaves out.

func (s *stage) Inject(f ...fault.Fault)           { s.played(func() { s.World.Inject(f...) }) }
func (s *stage) Always(name string, p holding)     { s.played(func() { s.World.Always(name, p) }) }
func (s *stage) Eventually(name string, p holding) { s.played(func() { s.World.Eventually(name, p) }) }
func (s *stage) Without(names ...string)           { s.played(func() { s.World.Without(names...) }) }
func (s *stage) Remove(objs ...client.Object)      { s.played(func() { s.World.Remove(objs...) }) }
func (s *stage) Stop(name string)                  { s.played(func() { s.World.Stop(name) }) }
func (s *stage) Upgrade(name string, to operator, fixed bool) {
	s.played(func() { s.World.Upgrade(name, to.setup(name, fixed)) })
}
func (s *stage) Sleep(d time.Duration) { s.played(func() { s.World.Sleep(d) }) }
func (s *stage) Settle()               { s.played(s.World.Settle) }

type holding = func(*history.History) error

// Apply keeps objects that were not applied before as samples if the stage is bare.
func (s *stage) Apply(objs ...client.Object) {
	s.played(func() { s.World.Apply(objs...) })
	for _, o := range objs {
		known := func(have client.Object) bool { return have.GetName() == o.GetName() }
		if s.bare && !slices.ContainsFunc(s.samples, known) {
			s.samples = append(s.samples, o)
		}
	}
}

// SettleWith applies objects and lets the world settle.
func (s *stage) SettleWith(objs ...client.Object) {
	s.Apply(objs...)
	s.Settle()
}
