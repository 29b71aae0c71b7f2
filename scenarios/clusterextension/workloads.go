// This file holds the workloads of the cases.

package clusterextension

import (
	"time"

	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// Workload is a beginning without faults, and actions under faults until the world has settled.
type Workload struct {
	begin func(*sim.World, Setting) *World
	then  func(*World)
}

// in returns the workload as a scenario in which some properties must hold.
func (l Workload) in(t Setting, sentences []string, faults ...fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := l.begin(w, t)
		w.Inject(faults...)
		s.declare(sentences...)
		l.then(s)
		if !s.over {
			w.Settle()
			s.over = true
		}
	}
}

// meanwhile is how long an upgrade takes place before the next version appears. It is shorter than
// the kubelet waits before it restarts a process, so a process that crashed in it finds another
// catalog.
const meanwhile = 8 * time.Second

var (
	// upgrades is the report of the thread: version 1 is deployed, version 2 is interrupted, and
	// version 3 appears before the operator has restarted.
	upgrades = Workload{deployed, upgradesTo(two, 20*time.Minute)}
	// migrates is that with a version 2 whose migrations take minutes and fail once.
	migrates = Workload{deployed, upgradesTo(slow, 30*time.Minute)}
	// installs interrupts the first install. Version 2 appears before the operator has restarted.
	installs = Workload{Begin, func(s *World) {
		s.Wants("", "")
		s.Sleep(meanwhile)
		s.Offers(two)
		s.Sleep(20 * time.Minute)
	}}
	// withdraws takes version 2 out of the catalog while it is being applied.
	withdraws = Workload{deployed, func(s *World) {
		s.Offers(two)
		s.Sleep(meanwhile)
		s.Withdraws(two)
	}}
	// pinsBack has the user ask for version 1 again while version 2 is being applied.
	pinsBack = Workload{deployed, func(s *World) {
		s.Offers(two)
		s.Sleep(meanwhile)
		s.right = ""
		s.Wants(one, "")
		s.Sleep(20 * time.Minute)
	}}
	// refuses lets the server refuse the last object of version 2. Version 3 may appear. In the end
	// the cause is removed.
	refuses = Workload{deployed, func(s *World) {
		s.Offers(refused)
		s.thenThree()
		s.Sleep(time.Minute)
		s.allows()
	}}
	// refusesForGood has it refused while faults are injected and afterwards. That world never
	// settles.
	refusesForGood = Workload{deployed, func(s *World) {
		s.Offers(refused)
		s.Sleep(20 * time.Minute)
		s.EndFaults()
		s.Sleep(maxRestart)
		s.measuredFrom = s.History().Now()
		s.Sleep(7 * maxSleep)
		s.over = true
	}}
	// interrupts lets the operator be interrupted for hours, and then leaves it alone.
	interrupts = Workload{deployed, func(s *World) {
		s.Offers(two)
		s.Sleep(2 * time.Hour)
	}}
	// leavesAlone interrupts it often, and then no more.
	leavesAlone = Workload{deployed, func(s *World) {
		s.Offers(two)
		s.Sleep(20 * time.Minute)
		s.EndFaults()
		s.Sleep(20 * time.Minute)
	}}
	// remakes deletes the extension once it is installed. A moment later it creates one of the same
	// name.
	remakes = Workload{deployed, func(s *World) {
		s.Remove(extension())
		for d := time.Millisecond; s.Client().Get(s.Context(), client.ObjectKey{Name: app},
			&v1.ClusterExtension{}) == nil; d = min(2*d, time.Second) {
			s.Sleep(d)
		}
		s.Sleep(sim.Draw(s.World, "until it is made again", moments))
		s.Wants("", "")
		s.Sleep(20 * time.Minute)
	}}
)

// moments are times in which the garbage collector has done any part of its work.
var moments = rapid.SampledFrom([]time.Duration{0, time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond,
	time.Second})

// deployed begins a story in which version 1 is deployed.
func deployed(w *sim.World, t Setting) *World {
	s := Begin(w, t)
	s.Wants("", "")
	w.Settle()
	return s
}

func upgradesTo(version string, d time.Duration) func(*World) {
	return func(s *World) {
		s.Offers(version)
		s.thenThree()
		s.Sleep(d)
	}
}

// thenThree offers version 3, if there is a way to it.
func (s *World) thenThree() {
	s.Sleep(meanwhile)
	if len(s.Setting.Edges) > 0 {
		s.Offers(three)
	}
}

// allows removes the cause for which version 2 is refused. How soon that helps depends on how long
// it has been refused.
func (s *World) allows() {
	s.read(s.History())
	s.failing, s.last.quiet = false, true
	s.Apply(worlds.Namespace(cause))
}
