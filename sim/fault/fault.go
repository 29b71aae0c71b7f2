// Package fault holds the faults that a scenario declares. A fault is something that a controller
// may experience. In each run, choices decide whether a fault is on, where it is injected, and how
// hard. Shrinking takes away what a failure does not need.
//
//	w.Inject(fault.Crash("operator"), fault.StaleCache(30*time.Second, fault.OfKind("Pod")))
//
// Faults end in w.Settle, which lets them be injected for up to three virtual minutes more. Then
// what was delayed arrives, what was cut off is reachable, and who was frozen goes on. After
// w.Settle they are on again. w.EndFaults ends them for good and without settling, and w.Inject
// declares others after it. A lasting condition is no fault, for example a webhook that refuses, or
// a right that is missing: the scenario makes it and ends it.
//
// # Scope
//
// [In], [OfKind], [OnVerb] and [Named] narrow a fault. Durations are virtual, and upper
// bounds. A [StaleCache] keeps to its bound only with [HardLimit].
//
// # Counts
//
// A result.Report counts for each fault:
//
//   - opportunities: the points at which it could have been injected,
//   - injected: those of them at which choices did inject it,
//   - observed: those of the injections whose effect was seen before the run ended. However many
//     requests one injection fails, it counts once, so observed is at most injected.
//
// A fault that was never injected in a whole campaign is a warning: the scenario says that it tries
// something, and does not.
//
// # Options of a process
//
// sim.Vary and sim.ListThenWatch are no faults but ways in which operators differ.
package fault

import (
	"time"

	"github.com/wavetank/wavetank/sim/internal/inject"
)

// Fault is something that a controller may experience. A scenario declares faults with
// sim.World.Inject. Choices decide where and when they are injected. All runs of a scenario may
// share a Fault.
type Fault interface {
	// String is the fault as it was declared.
	String() string
	// Begin makes the fault of one run. The harness calls it.
	Begin(env inject.Env) inject.Fault
}

// declaration is a fault that is in no run.
type declaration struct {
	core
	begin func(core) inject.Fault
}

// declare makes a fault of a constructor that was given these arguments. Each run begins with a
// core of its own.
func declare(class, given string, scopes []Scope, begin func(core) inject.Fault) *declaration {
	d := &declaration{core{class: class, given: given}, begin}
	d.name = d.injection("").Fault()
	for _, s := range scopes {
		s(&d.scope)
	}
	return d
}

// upTo bounds how long the fault lasts.
func (d *declaration) upTo(longest time.Duration) *declaration {
	d.longest = longest
	return d
}

// of makes it a fault of one process, which its name mentions.
func (d *declaration) of(process string) *declaration {
	d.process = process
	return d.taking("OfKind", "OnVerb", "Named")
}

// taking lists the scopes that mean something to the fault. With another one it would be injected
// everywhere, or nowhere.
func (d *declaration) taking(scopes ...string) *declaration {
	d.takes = scopes
	return d
}

// Begin implements [Fault].
func (d *declaration) Begin(env inject.Env) inject.Fault {
	c := d.core
	c.env = env
	c.count.Fault = c.name + c.scope.String()
	return d.begin(c)
}
