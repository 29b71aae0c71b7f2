// This file exists for what happens: each telling is a scenario that asks one question of a variant in its setting.

package clusterextension

import (
	"time"

	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/history"
)

// Telling is a scenario waiting for a setting and for faults.
type Telling func(s Setting, faults ...sim.Fault) func(*sim.World)

// meanwhile is how long an upgrade goes on before the next version appears. It is shorter than the kubelet waits before it
// starts a process that has crashed: who died in it wakes up to another catalog.
const meanwhile = 8 * time.Second

// asks declares the properties, by their sentences.
func (s *Story) asks(sentences ...string) {
	for _, sentence := range sentences {
		switch sentence {
		case installed:
			s.Eventually(sentence, s.Installed)
		case finished:
			s.Eventually(sentence, s.Finished)
		case noOrphans:
			s.Eventually(sentence, s.NoOrphans)
		case together:
			s.Always(sentence, s.together)
		case actionable:
			s.Always(sentence, s.Actionable)
		case perpetual:
			s.Always(sentence, s.Perpetual)
		case unmasked:
			s.Always(sentence, s.Unmasked)
		default:
			s.Always(sentence, s.Holds(sentence))
		}
	}
}

// together (S1-S4) is judged by the data.
func (s *Story) together(h *history.History) error {
	s.read(h)
	return s.Data.AtOneLevel(h)
}

// deployed begins a story in which version 1 is deployed and nothing has struck yet.
func deployed(w *sim.World, t Setting) *Story {
	s := Begin(w, t)
	s.Wants("", "")
	w.Settle()
	return s
}

// Upgrades is the story of the thread: version 1 is deployed, version 2 is interrupted, and version 3 appears before the
// operator is back.
func Upgrades(sentences ...string) Telling {
	return func(t Setting, faults ...sim.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := deployed(w, t)
			w.Inject(faults...)
			s.asks(sentences...)
			s.Offers(two)
			w.Sleep(meanwhile)
			if len(t.Edges) > 0 {
				s.Offers(three)
			}
			w.Sleep(20 * time.Minute)
			w.Settle()
		}
	}
}

// Installs interrupts the first install; version 2 appears before the operator is back.
func Installs(sentences ...string) Telling {
	return func(t Setting, faults ...sim.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := Begin(w, t)
			w.Inject(faults...)
			s.asks(sentences...)
			s.Wants("", "")
			w.Sleep(meanwhile)
			s.Offers(two)
			w.Sleep(20 * time.Minute)
			w.Settle()
		}
	}
}

// Withdrawn takes version 2 out of the catalog while it is being applied.
func Withdrawn(sentences ...string) Telling {
	return func(t Setting, faults ...sim.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := deployed(w, t)
			w.Inject(faults...)
			s.asks(sentences...)
			s.Offers(two)
			w.Sleep(meanwhile)
			s.Withdraws(two)
			w.Settle()
		}
	}
}

// Refused has the server refuse the last object of version 2. Version 3 may appear; in the end the cause is removed.
func Refused(sentences ...string) Telling {
	return func(t Setting, faults ...sim.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := deployed(w, t)
			w.Inject(faults...)
			s.asks(sentences...)
			s.Offers(refused)
			w.Sleep(meanwhile)
			if len(t.Edges) > 0 {
				s.Offers(three)
			}
			w.Sleep(10 * time.Minute)
			s.Apply(Namespace(cause))
			w.Settle()
		}
	}
}

// Overridden has the server refuse version 2 for good; the user then says that version 3 may be installed all the same.
func Overridden(t Setting, faults ...sim.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := deployed(w, t)
		w.Inject(faults...)
		s.asks(installed)
		s.Offers(refused)
		w.Sleep(time.Minute)
		s.Offers(three)
		s.Wants("", v1.PolicySelfCertified)
		w.Settle()
	}
}

// Perpetual lets the operator be interrupted for hours.
func Perpetual(sentences ...string) Telling {
	return func(t Setting, faults ...sim.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := deployed(w, t)
			w.Inject(faults...)
			s.asks(sentences...)
			s.Offers(two)
			w.Sleep(2 * time.Hour)
			w.Settle()
		}
	}
}

// Deleted deletes the extension somewhere on the way to version 2. Nothing of it may be left.
func Deleted(t Setting, faults ...sim.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := deployed(w, t)
		w.Inject(faults...)
		w.Eventually(nothingLeft, s.NothingLeft)
		s.Offers(two)
		w.Sleep(meanwhile)
		s.Remove(extension())
		w.Settle()
	}
}

// Emptied deletes the namespace that version 2 is being applied to. When it has gone somebody makes it again.
func Emptied(sentences ...string) Telling {
	return func(t Setting, faults ...sim.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := deployed(w, t)
			w.Inject(faults...)
			s.asks(sentences...)
			s.Offers(two)
			w.Sleep(20 * time.Millisecond)
			s.Remove(Namespace(apps))
			w.Sleep(t.Terminates + time.Minute)
			s.Apply(Namespace(apps))
			w.Settle()
		}
	}
}

// TakesOver lets version 2 be interrupted in the hands of one operator, and the full cure take its place.
func TakesOver(sentences ...string) Telling {
	return func(t Setting, faults ...sim.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := deployed(w, t)
			w.Inject(faults...)
			s.asks(sentences...)
			s.Offers(two)
			w.Sleep(meanwhile)
			s.Setting.Variant = ""
			s.Stop(Operator)
			w.Settle()
		}
	}
}
