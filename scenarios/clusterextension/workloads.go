// This file exists for what happens: each workload is a scenario that asks one question of a
// variant in its setting.

package clusterextension

import (
	"time"

	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// Workload is a scenario waiting for a setting and for faults.
type Workload func(s Setting, faults ...fault.Fault) func(*sim.World)

// meanwhile is how long an upgrade goes on before the next version appears. It is shorter than the
// kubelet waits before it starts a process that has crashed: who died in it wakes up to another
// catalog.
const meanwhile = 8 * time.Second

// from is a workload: a beginning without faults, and what happens then, under faults and until the
// world has settled.
func from(begin func(*sim.World, Setting) *World, sentences []string, then func(*World)) Workload {
	return func(t Setting, faults ...fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := begin(w, t)
			w.Inject(faults...)
			s.asks(sentences...)
			then(s)
			w.Settle()
			s.over = true
		}
	}
}

// asks declares the properties, by their sentences.
func (s *World) asks(sentences ...string) {
	atTheEnd := map[string]func(*history.History) error{installed: s.Installed, finished: s.Finished,
		noOrphans: s.NoOrphans, nothingLeft: s.NothingLeft}
	always := map[string]func(*history.History) error{together: s.together, actionable: s.Actionable,
		perpetual: s.Perpetual, restrained: s.Restrained, settles: s.Settles}
	for _, sentence := range sentences {
		if holds := atTheEnd[sentence]; holds != nil {
			s.Eventually(sentence, holds)
		} else if holds := always[sentence]; holds != nil {
			s.Always(sentence, holds)
		} else {
			s.Always(sentence, s.Holds(sentence))
		}
	}
}

// together (S1-S4) is judged by the data.
func (s *World) together(h *history.History) error {
	s.read(h)
	return s.Data.AtOneLevel(h)
}

// deployed begins a story in which version 1 is deployed.
func deployed(w *sim.World, t Setting) *World {
	s := Begin(w, t)
	s.Wants("", "")
	w.Settle()
	return s
}

// thenThree offers version 3, if there is a way to it.
func (s *World) thenThree() {
	s.Sleep(meanwhile)
	if len(s.Setting.Edges) > 0 {
		s.Offers(three)
	}
}

// Upgrades is the story of the thread: version 1 is deployed, version 2 is interrupted, and version
// 3 appears before the operator is back.
func Upgrades(sentences ...string) Workload {
	return from(deployed, sentences, upgrading)
}

func upgrading(s *World) {
	s.Offers(two)
	s.thenThree()
	s.Sleep(20 * time.Minute)
}

// Migrates is Upgrades with a version 2 whose migrations take minutes and fail once.
func Migrates(sentences ...string) Workload {
	return from(deployed, sentences, func(s *World) {
		s.Offers(slow)
		s.thenThree()
		s.Sleep(30 * time.Minute)
	})
}

// LeftAlone interrupts it often, and then no more.
func LeftAlone(sentences ...string) Workload {
	return from(deployed, sentences, func(s *World) {
		s.Offers(two)
		s.Sleep(20 * time.Minute)
		s.EndFaults()
		s.Sleep(20 * time.Minute)
	})
}

// Installs interrupts the first install; version 2 appears before the operator is back.
func Installs(sentences ...string) Workload {
	return from(Begin, sentences, installing)
}

func installing(s *World) {
	s.Wants("", "")
	s.Sleep(meanwhile)
	s.Offers(two)
	s.Sleep(20 * time.Minute)
}

// Withdrawn takes version 2 out of the catalog while it is being applied.
func Withdrawn(sentences ...string) Workload {
	return from(deployed, sentences, withdrawing)
}

func withdrawing(s *World) {
	s.Offers(two)
	s.Sleep(meanwhile)
	s.Withdraws(two)
}

// PinnedBack has the user ask for version 1 again while version 2 is being applied.
func PinnedBack(sentences ...string) Workload {
	return from(deployed, sentences, func(s *World) {
		s.Offers(two)
		s.Sleep(meanwhile)
		s.right = ""
		s.Wants(one, "")
		s.Sleep(20 * time.Minute)
	})
}

// Refused has the server refuse the last object of version 2. Version 3 may appear; in the end the
// cause is removed.
func Refused(sentences ...string) Workload {
	return from(deployed, sentences, func(s *World) {
		s.Offers(refused)
		s.thenThree()
		s.Sleep(time.Minute)
		s.allows()
	})
}

// allows removes the cause for which version 2 is refused. How soon that helps depends on how long
// it has been refused.
func (s *World) allows() {
	s.read(s.History())
	s.failing, s.quiet = false, true
	s.Apply(worlds.Namespace(cause))
}

// Perpetual lets the operator be interrupted for hours, and then leaves it alone.
func Perpetual(sentences ...string) Workload {
	return from(deployed, sentences, func(s *World) {
		s.Offers(two)
		s.Sleep(2 * time.Hour)
	})
}

// moments are times in which the garbage collector gets to anywhere.
var moments = rapid.SampledFrom([]time.Duration{0, time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond,
	time.Second})

// MadeAgain deletes the extension once it is installed, and makes it again after a moment, under
// its name.
func MadeAgain(sentences ...string) Workload {
	return from(deployed, sentences, func(s *World) {
		s.Remove(extension())
		for d := time.Millisecond; s.Client().Get(s.Context(), client.ObjectKey{Name: app},
			&v1.ClusterExtension{}) == nil; d = min(2*d, time.Second) {
			s.Sleep(d)
		}
		s.Sleep(sim.Draw(s.World, "until it is made again", moments))
		s.Wants("", "")
		s.Sleep(20 * time.Minute)
	})
}
