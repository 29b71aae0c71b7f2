package planted

import (
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

// Inject shadows the world's method, as those below do.
func (s *stage) Inject(faults ...fault.Fault) {
	if !s.bare {
		s.World.Inject(faults...)
	}
}

// Always is the world's, or nothing.
func (s *stage) Always(sentence string, holds func(*history.History) error) {
	if !s.bare {
		s.World.Always(sentence, holds)
	}
}

// Eventually is the world's, or nothing.
func (s *stage) Eventually(sentence string, holds func(*history.History) error) {
	if !s.bare {
		s.World.Eventually(sentence, holds)
	}
}

// Without is the world's, or nothing.
func (s *stage) Without(names ...string) {
	if !s.bare {
		s.World.Without(names...)
	}
}

// Apply is the world's, or keeps the objects that were not applied before.
func (s *stage) Apply(objs ...client.Object) {
	if !s.bare {
		s.World.Apply(objs...)
		return
	}
	for _, o := range objs {
		known := false
		for _, have := range s.samples {
			known = known || have.GetName() == o.GetName()
		}
		if !known {
			s.samples = append(s.samples, o)
		}
	}
}

// Remove is the world's, or nothing.
func (s *stage) Remove(objs ...client.Object) {
	if !s.bare {
		s.World.Remove(objs...)
	}
}

// Stop is the world's, or nothing.
func (s *stage) Stop(name string) {
	if !s.bare {
		s.World.Stop(name)
	}
}

// Sleep is the world's, or nothing.
func (s *stage) Sleep(d time.Duration) {
	if !s.bare {
		s.World.Sleep(d)
	}
}

// Settle is the world's, or nothing.
func (s *stage) Settle() {
	if !s.bare {
		s.World.Settle()
	}
}
