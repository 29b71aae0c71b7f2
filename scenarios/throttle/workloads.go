// This file holds what happens in the cases: workloads, under faults.

package throttle

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

const (
	// whole is longer than the schedule takes to come to its longest delay, and two of these.
	whole = firstPart + 2*longest + time.Minute
	// dwell is how long a workload watches where the end of the schedule is not the question.
	dwell = 5 * time.Minute
)

type workload = *matrix.Workload[throttle.Variant]

// of is a workload: the operator starts, properties are declared, and something happens.
func of(setting Setting, happen step) workload {
	return &matrix.Workload[throttle.Variant]{New: func(v throttle.Variant, properties []string,
		faults ...fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := Begin(w, v, setting)
			if setting.Early {
				w.Inject(faults...)
			}
			w.Sleep(time.Second) // it watches before there is anything to see
			if !setting.Early {
				w.Inject(faults...)
			}
			s.declare(properties...)
			happen(s)
			s.over = true
			note("the-end")(s)
		}
	}}
}

// Settings: with the handler whose name is too long before one that is legal, after it, and without
// it; with and without handlers that write to the object.
var (
	asReported = Setting{Handlers: []string{long, short}, Echo: true}
	silent     = Setting{Handlers: []string{long, short}}
	afterOne   = Setting{Handlers: []string{short, long}, Echo: true}
	tenWorkers = Setting{Handlers: []string{long, short}, Echo: true, Workers: 10}
	legal      = Setting{Handlers: []string{short}, Echo: true}
	legalEarly = Setting{Handlers: []string{short}, Echo: true, Early: true}
	quiet      = Setting{Handlers: []string{short}}
	// mirrored has somebody show on each object how many children it has.
	mirrored = Setting{Handlers: []string{long, short}, Before: func(s *World) { s.Run("mirror", mirror) }}
	// lively has handlers of both kinds, and a webhook that lets everything pass to begin with.
	lively = Setting{Handlers: []string{long, short}, Before: does(police(foreign, "kopfexamples"), lift(true))}
)

// storm has another writer change an object four times a second, edits its spec.
func storm(o *unstructured.Unstructured) step {
	return does(apply(o), beats(o.GetName(), 44, 250*time.Millisecond))
}

var edits = times(24, func(i int) step {
	return does(set("poisoned", "field", fmt.Sprintf("%q", fmt.Sprint(i))), sleep(250*time.Millisecond))
})

// comeAndGo has healthy objects come, one after the other.
var comeAndGo = does(times(3, func(i int) step { return does(sleep(5*time.Second), apply(healthy(i))) }),
	sleep(soon+time.Second))

func healthy(i int) client.Object { return Example(fmt.Sprintf("healthy-%d", i)) }

// amongEvents has healthy objects come, each just after another writer has changed as many others
// as there are workers.
var amongEvents = does(times(3, func(i int) step {
	others := times(tenWorkers.Workers, func(j int) step { return beat(fmt.Sprintf("poisoned-%02d", j), i) })
	return does(sleep(10*time.Second), others, sleep(time.Second), apply(healthy(i)), sleep(time.Second),
		note(fmt.Sprintf("a-second-later-%d", i)))
}), sleep(soon+time.Second))

// crowd is fifty poisoned objects.
var crowd = times(50, func(i int) step { return apply(Poisoned(fmt.Sprintf("poisoned-%02d", i))) })

// oneEdited is handled twice: as it came, and after an edit.
var oneEdited = does(apply(Example("plain")), settle, set("plain", "field", `"other"`), settle)

// refusedUnderFaults has an object whose progress is refused, and another writer at work on it.
// Faults end after a while.
var refusedUnderFaults = does(
	func(s *World) { s.faulty = true },
	apply(Verbose("wordy", wordy)), beats("wordy", 60, time.Second),
	func(s *World) { s.EndFaults() },
	sleep(lag),
	func(s *World) { s.faulty, s.measured = false, s.History().Now() },
	beats("wordy", 100, 20*time.Second))

// mended is poisoned until its spec is edited, after some time.
func mended(after, watched time.Duration) step {
	return does(apply(Poisoned("mended")), sleep(after), set("mended", "replicas", "null"), sleep(watched))
}

// garbled has what somebody has written into the operator's own annotation.
func garbled() *unstructured.Unstructured {
	o := Example("garbled")
	o.SetAnnotations(map[string]string{throttle.Domain + "/" + short: "{"})
	return o
}

// everything is all that users may do.
var everything = does(apply(Example("plain"), Poisoned("poisoned"), Verbose("verbose", tooMuch)), hold,
	sleep(5*time.Second), set("plain", "field", `"other"`), set("verbose", "output", "5"), settle,
	lift(false), apply(Example("another")), remove("plain"), remove("poisoned"), sleep(time.Minute),
	lift(true), settle)
