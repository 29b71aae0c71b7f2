// This file holds scenes that no case of the table has.

package clusterextension

import (
	"time"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
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

// Resynced has the catalogs change again and again while version 2 is being applied: each time
// every extension hears of it.
func Resynced(sentences ...string) Workload {
	return from(deployed, sentences, func(s *World) {
		s.Offers(two)
		for range 30 {
			s.Sleep(2 * time.Second)
			s.resolved()
		}
		s.Sleep(20 * time.Minute)
	})
}

// Full goes on with a history that is full, until the cause is removed.
func Full(sentences ...string) Workload {
	return from(full, sentences, func(s *World) {
		s.Sleep(time.Minute)
		s.allows()
	})
}

// Overridden has the server refuse version 2 for good; the user then says that version 3 may be
// installed all the same.
func Overridden(sentences ...string) Workload {
	return from(deployed, sentences, func(s *World) {
		s.Offers(refused)
		s.Sleep(time.Minute)
		s.Offers(three)
		s.right = three
		s.Wants("", v1.PolicySelfCertified)
	})
}

// Deleted deletes the extension somewhere on the way to version 2.
func Deleted(sentences ...string) Workload {
	return from(deployed, sentences, deleting)
}

func deleting(s *World) {
	s.Offers(two)
	s.Sleep(meanwhile)
	s.Remove(extension())
}

// Emptied deletes the namespace that version 2 is being applied to. When it has gone somebody makes
// it again.
func Emptied(sentences ...string) Workload {
	return from(deployed, sentences, func(s *World) {
		s.Offers(two)
		s.Sleep(20 * time.Millisecond)
		s.Remove(worlds.Namespace(apps))
		s.Sleep(s.Setting.Terminates + time.Minute)
		s.Apply(worlds.Namespace(apps))
	})
}

// takesOver lets what is going on be interrupted in the hands of one operator, also while it undoes
// it, and the fixed variant take its place.
func (s *World) takesOver() {
	s.Sleep(30 * time.Second)
	s.Setting.Variant = ""
	s.Stop(Operator)
	s.Sleep(20 * time.Minute)
}

// TakesOver is that with version 2, and InstallTakenOver with version 1.
func TakesOver(sentences ...string) Workload {
	return from(deployed, sentences, func(s *World) {
		s.Offers(two)
		s.takesOver()
	})
}

// InstallTakenOver is as TakesOver.
func InstallTakenOver(sentences ...string) Workload {
	return from(Begin, sentences, func(s *World) {
		s.Wants("", "")
		s.takesOver()
	})
}
