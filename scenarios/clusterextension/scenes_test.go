// This file holds scenes that no case of the table has.

package clusterextension

import (
	"time"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/models/namespace"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
	"github.com/wavetank/wavetank/sim"
)

// halved begins one in which the operator has not got further than half of version 2, and starts
// again.
func halved(w *sim.World, t Setting) *World {
	s := deployed(w, t)
	s.halves(two)
	return s
}

// halfInstalled begins one in which it has not got further than half of its first version.
func halfInstalled(w *sim.World, t Setting) *World {
	s := Begin(w, t)
	s.halves(one)
	return s
}

// halves lets the operator make the record of a version and the first objects of it, and no write
// more in this incarnation.
func (s *World) halves(version string) {
	s.Sleep(time.Second)
	s.helm.left = 3
	s.Offers(version)
	s.Wants("", "")
	s.Sleep(time.Second)
	s.read(s.History())
	s.interrupted(s.History().Now())
	s.Stop(Operator)
}

// full begins one with as many release records as are kept, of which the oldest is the only one
// that says deployed: version 2 was refused again and again by the operator as reported. Then the
// variant takes its place.
func full(w *sim.World, t Setting) *World {
	v := t.Variant
	t.Variant = clusterextension.V0
	s := deployed(w, t)
	s.Offers(refused)
	w.Sleep(30 * time.Second)
	s.Setting.Variant = v
	s.Stop(Operator)
	return s
}

// waiting waits until it is over.
func waiting(s *World) { s.Sleep(20 * time.Minute) }

var (
	// resyncs has the catalogs change again and again while version 2 is being applied: each time
	// every extension hears of it.
	resyncs = Workload{deployed, func(s *World) {
		s.Offers(two)
		for range 30 {
			s.Sleep(2 * time.Second)
			s.resolved()
		}
		s.Sleep(20 * time.Minute)
	}}
	// fills continues with a history that is full, until the cause is removed.
	fills = Workload{full, func(s *World) {
		s.Sleep(time.Minute)
		s.allows()
	}}
	// overrides has the server refuse version 2 for good; the user then says that version 3 may be
	// installed all the same.
	overrides = Workload{deployed, func(s *World) {
		s.Offers(refused)
		s.Sleep(time.Minute)
		s.Offers(three)
		s.right = three
		s.Wants("", v1.PolicySelfCertified)
	}}
	// deletes deletes the extension somewhere on the way to version 2.
	deletes = Workload{deployed, func(s *World) {
		s.Offers(two)
		s.Sleep(meanwhile)
		s.Remove(extension())
	}}
	// takesOver lets version 2 be interrupted in the hands of one operator, and installTakenOver
	// version 1.
	takesOver = Workload{deployed, func(s *World) {
		s.Offers(two)
		s.takesOver()
	}}
	installTakenOver = Workload{Begin, func(s *World) {
		s.Wants("", "")
		s.takesOver()
	}}
)

// empties deletes the namespace that version 2 is being applied to, and that takes a time to go.
// When it has gone, a user creates it again.
func empties(terminates time.Duration) Workload {
	return Workload{func(w *sim.World, t Setting) *World {
		w.Builtin(worlds.Slow(namespace.New(), "wait ", terminates))
		return deployed(w, t)
	}, func(s *World) {
		s.Offers(two)
		s.Sleep(20 * time.Millisecond)
		s.Remove(worlds.Namespace(apps))
		s.Sleep(terminates + time.Minute)
		s.Apply(worlds.Namespace(apps))
	}}
}

// takesOver interrupts one operator, also while it undoes an attempt, and then starts the fixed
// variant in its place.
func (s *World) takesOver() {
	s.Sleep(30 * time.Second)
	s.Setting.Variant = ""
	s.Stop(Operator)
	s.Sleep(20 * time.Minute)
}
