package correct

import (
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/auto"
)

// ByAuto is the operator in the scenario of package auto, which has the objects of the operator's
// own scenario as samples. The faults are those of the operator. Properties that it does not
// promise are left out.
func (o Operator) ByAuto() func(*sim.World) {
	return func(w *sim.World) {
		s := &stage{World: w, bare: true}
		o.play(s)
		auto.Scenario(w, auto.Objects(s.samples...), auto.Without(s.broken...))
	}
}

// byAuto are the names that auto has for properties of promise.
var byAuto = map[string]string{sameEnd: auto.SameEndState, restful: auto.NoWritesAtRest, lost: auto.OthersFields,
	orphans: auto.NothingOwned, names: auto.StatusIsTrue, observed: auto.UpToDate}

// Apply creates objects. On a bare stage it keeps them as samples.
func (s *stage) Apply(objs ...client.Object) {
	if !s.bare {
		s.World.Apply(objs...)
		return
	}
	for _, o := range objs {
		if !slices.ContainsFunc(s.samples, func(have client.Object) bool { return have.GetName() == o.GetName() }) {
			s.samples = append(s.samples, o)
		}
	}
}

// Settle lets the world settle.
func (s *stage) Settle() {
	if !s.bare {
		s.World.Settle()
	}
}

// Remove deletes objects.
func (s *stage) Remove(objs ...client.Object) {
	if !s.bare {
		s.World.Remove(objs...)
	}
}

// Sleep lets time pass.
func (s *stage) Sleep(d time.Duration) {
	if !s.bare {
		s.World.Sleep(d)
	}
}

// Always declares a property.
func (s *stage) Always(name string, holds func(*history.History) error) {
	if !s.bare {
		s.World.Always(name, holds)
	}
}

// Eventually declares a property.
func (s *stage) Eventually(name string, holds func(*history.History) error) {
	if !s.bare {
		s.World.Eventually(name, holds)
	}
}
