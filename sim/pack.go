package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	shipped "github.com/wavetank/wavetank/sim/property"
)

// settles is the property of the default pack that [World.Settle] judges by itself, and worldSettles its sentence.
const settles, worldSettles = "settles", "the world settles"

// defaultPack are the properties that every run is judged by without being asked, see [World.Without].
func defaultPack() []*property {
	pack := func(t temper, sentence string, holds func(*history.History) error) *property {
		return &property{temper: t, sentence: sentence, site: "the default pack", holds: holds}
	}
	return []*property{
		pack(always, "no panic", shipped.NoPanic()),
		pack(always, "cache untouched", shipped.CacheUntouched()),
		pack(always, "no hot loop", shipped.NoHotLoop(100, 10*time.Second)),
		pack(eventually, "no stuck finalizer", shipped.NoStuckFinalizer(0)),
		pack(always, "apply is stable", shipped.ApplyIsStable()),
	}
}

// Without takes properties of the default pack away from this run, by their names. The pack is judged in every run with
// no line of the scenario's:
//
//   - "settles": the world settles within the bound of [World.Settle]. Without it Settle gives up waiting at that bound, and judges
//     what it finds: so for an operator that writes on a period by design.
//   - "no hot loop": no key is handed out more than 100 times within 10 s without a reason.
//   - "no panic": no reconcile panics.
//   - "no stuck finalizer": when the world has settled, no object is kept from its deletion by finalizers.
//   - "cache untouched": nobody changes an object of an informer's cache in place.
//   - "apply is stable": applying the same objects again changes nothing. It is judged by [World.ApplyAgain] alone.
//
// Package property says exactly what each means.
func (w *World) Without(names ...string) {
	w.alive()
	known := []string{settles}
	for _, p := range defaultPack() {
		known = append(known, p.sentence)
	}
	for _, name := range names {
		if name == worldSettles {
			name = settles
		}
		if !slices.Contains(known, name) {
			w.misuse("w.Without(%q): the default pack has no such property, only %q", name, known)
		}
		w.without = append(w.without, name)
		w.pack = slices.DeleteFunc(w.pack, func(p *property) bool { return p.sentence == name })
	}
}

// Undisturbed is the history of the undisturbed run of this scenario: everything goes in order and no fault strikes. It is
// made once per campaign, for property.CrashSafe to compare with; in that run itself it is the run's own history.
func (w *World) Undisturbed() *history.History {
	w.alive()
	if w.settings.window > 0 {
		w.misuse("w.Undisturbed: with sim.Window no run keeps the whole record that another could be compared with")
	}
	w.compares = true
	if h := w.settings.undisturbed; h != nil && h.history != nil {
		return h.history
	}
	return w.history
}

// undisturbed is the run that the others of a campaign are compared with, once somebody has asked for it.
type undisturbed struct{ history *history.History }

// execute makes one run. When its scenario compares with the undisturbed run for the first time, that one is made, and
// the run is repeated from its tape. A run that has connected to the real network has failed.
func execute(t *testing.T, scenario func(*World), oracle choice.Source, s settings) *result {
	dials := process.Dials()
	r := compared(t, scenario, oracle, s)
	if process.Dials() != dials && (r.verdict == nil || r.verdict.Temper != "misuse") {
		r.connected(t, scenario, s)
	}
	return r
}

func compared(t *testing.T, scenario func(*World), oracle choice.Source, s settings) *result {
	if s.undisturbed == nil {
		s.undisturbed = &undisturbed{}
	}
	r := once(t, scenario, oracle, s)
	if !r.compares || s.undisturbed.history != nil {
		return r
	}
	s.undisturbed.history = once(t, scenario, choice.Play(nil), s).history
	return once(t, scenario, choice.Play(r.tape), s)
}

// lookInCaches has the history told of cached objects that were changed in place.
func (w *World) lookInCaches() {
	w.sched.Quiesce()
	if w.looked != w.sched.Steps() { // or nobody has done anything since
		w.looked = w.sched.Steps()
		w.procs.Inspect()
		w.sched.Quiesce()
	}
}
