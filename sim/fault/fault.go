// Package fault holds the faults that a scenario declares. A fault is a failure that a controller
// may meet in a real cluster. In each run, choices decide whether a fault is on, where it is
// injected, and how hard. Shrinking removes every injection that the violation does not need.
//
//	w.Inject(fault.Crash("operator"), fault.StaleCache(30*time.Second, fault.OfKind("Pod")))
//
// w.Settle injects faults for up to three more virtual minutes. Then they end: delayed events are
// delivered, partitions heal, and paused processes resume. After w.Settle faults are injected
// again. w.EndFaults ends them for good, without settling; a later w.Inject declares others.
// Lasting conditions, such as a webhook that always denies or a missing permission, are not faults.
// Create and remove them in the scenario.
//
// # Scope
//
// [In], [OfKind], [OnVerb] and [Named] narrow a fault. Durations are virtual, and upper bounds. The
// bound of a [StaleCache] is strict only with [HardLimit].
//
// # Counts
//
// A result.Report has three counts for each fault:
//
//   - opportunities: the points at which it could have been injected,
//   - injected: the opportunities at which choices injected it,
//   - observed: the injections whose effect was seen before the run ended. An injection counts
//     once, even if it fails many requests, so observed is at most injected.
//
// A fault that is never injected in a whole campaign is a warning.
//
// The report also counts opportunities and injections at each line of the program that sends
// requests, separately before and after a write takes effect. A request of a reconcile that began
// with a stale cache counts as "stale cache". "What was tried" in docs/ci.md shows the table.
//
// # Options of a process
//
// sim.Vary and sim.ListThenWatch are not faults. They are ways in which correct operators differ.
package fault

import (
	"reflect"
	"slices"
	"time"

	"github.com/wavetank/wavetank/sim/internal/inject"
)

// Fault is something that a controller may experience. A scenario declares faults with
// sim.World.Inject. Choices decide where and when they are injected. All runs of a scenario may
// share a Fault. The functions of this package make all that there are.
type Fault interface {
	// String is the fault as it was declared.
	String() string
	declared()
}

// declaration is a fault that is in no run.
type declaration struct {
	core
	begin func(core) inject.Fault
}

// declare makes a fault of a constructor that was given these arguments. Each run begins with a
// core of its own.
func declare[S narrower](class, given string, scopes []S, begin func(core) inject.Fault) *declaration {
	d := &declaration{core{class: class, given: given}, begin}
	d.name = d.injection("").Fault()
	for i, s := range scopes {
		s.narrow(&d.scope)
		kind := reflect.TypeOf(s)
		if slices.ContainsFunc(scopes[:i], func(o S) bool { return reflect.TypeOf(o) == kind }) {
			d.scope.twice = kind.String()
		}
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
	return d
}

func (d *declaration) declared() {}

// Begin implements [inject.Declaration].
func (d *declaration) Begin(env inject.Env) inject.Fault {
	c := d.core
	c.env = env
	c.count.Fault, c.count.Class = c.name+c.scope.String(), c.class
	return d.begin(c)
}
