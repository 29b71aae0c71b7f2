// This file exists for what happens: each workload is a scenario that asks one question of a
// variant, under faults.

package throttle

import (
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// The sentences under which the properties are declared.
const (
	bounded            = "handlers are called no more often than the schedule allows"
	scheduled          = "no call of a handler comes sooner than the schedule has it"
	oncePerIncarnation = "one incarnation calls the handlers of an object once"
	isolated           = "a healthy object is handled within the batch window"
	noEnd              = "the operator does not end because of an object"
	effectOnce         = "a handler makes one child for each change"
	calledOnce         = "a handler is called once for each change"
	notVanished        = "no handler is called for what has vanished"
	insists            = "what the server could not do is asked for again at once"
	noFailure          = "a conflict is no failure"
	called             = "every object gets its child"
	handled            = "every object is handled"
	handledSoon        = "an edit is handled within a minute"
	handledAtAll       = "an edit is handled within five minutes"
	newest             = "no handler is called for a spec that has long been replaced"
	recovered          = "what is allowed again is handled without an event"
	neverSilent        = "what is refused is said within one attempt"
	actionable         = "the object says what is refused"
	noZombie           = "an operator that no longer watches ends"
	startsOver         = "after a success the delays begin anew"
	keepsForeign       = "a foreign finalizer stays"
)

// whole is longer than the schedule takes to come to its longest delay, and two of these.
const whole = firstPart + 2*longest + time.Minute

// dwell is how long a workload watches where the end of the schedule is not the question.
const dwell = 5 * time.Minute

// workload is one: the operator starts, something is asked of it, and something happens.
func workload(scene Scene, happen func(*World)) *matrix.Workload[throttle.Variant] {
	return &matrix.Workload[throttle.Variant]{New: func(v throttle.Variant, sentences []string,
		faults ...fault.Fault) func(*sim.World) {
		return func(w *sim.World) {
			s := Begin(w, v, scene)
			if scene.Early {
				w.Inject(faults...)
			}
			w.Sleep(time.Second) // it watches before there is anything to see
			if !scene.Early {
				w.Inject(faults...)
			}
			s.ask(sentences...)
			happen(s)
			s.over = true
			s.Apply(note("the-end"))
		}
	}}
}

// ask declares the properties of these sentences.
func (s *World) ask(sentences ...string) {
	always := map[string]func(*history.History) error{
		bounded: s.Bounded, scheduled: s.Scheduled, oncePerIncarnation: s.OncePerIncarnation, isolated: s.Isolated,
		noEnd:      s.NoEnd,
		effectOnce: s.EffectOnce, calledOnce: s.CalledOnce, notVanished: s.NotForTheVanished, insists: s.Insists,
		noFailure:   s.ConflictIsNoFailure,
		handledSoon: s.HandledSoon, handledAtAll: s.HandledAtAll, newest: s.Newest, recovered: s.Recovered,
		neverSilent: s.NeverSilent,
		actionable:  s.Actionable, noZombie: s.NoZombie, startsOver: s.StartsOver, keepsForeign: s.KeepsForeign,
	}
	eventually := map[string]func(*history.History) error{called: s.Called, handled: s.Handled}
	for _, sentence := range sentences {
		if holds := always[sentence]; holds != nil {
			s.Always(sentence, holds)
		} else {
			s.Eventually(sentence, eventually[sentence])
		}
	}
}

// Scenes: with the handler whose name is too long before one that is legal, after it, and without
// it; with and without handlers that write to the object.
var (
	asReported = Scene{Handlers: []string{long, short}, Echo: true}
	silent     = Scene{Handlers: []string{long, short}}
	afterOne   = Scene{Handlers: []string{short, long}, Echo: true}
	tenWorkers = Scene{Handlers: []string{long, short}, Echo: true, Workers: 10}
	legal      = Scene{Handlers: []string{short}, Echo: true}
	quiet      = Scene{Handlers: []string{short}}
)

// onePoisoned is an object for which a handler with too long a name is called, and time.
func onePoisoned(s *World) {
	s.Apply(Poisoned("poisoned"))
	s.Sleep(whole)
}

// oneVerbose is an object whose handler returns too much, and time.
func oneVerbose(s *World) {
	s.Apply(Verbose("verbose"))
	s.Sleep(dwell)
}

// briefly is the same for a while that a hot loop of such sizes can be borne for.
func briefly(s *World) {
	s.Apply(Verbose("verbose"))
	s.Sleep(20 * time.Second)
}

// deletedAtOnce is held by somebody else's finalizer when it is deleted, vanished by nobody's.
func deletedAtOnce(s *World) {
	o := Example("deleted")
	o.SetFinalizers([]string{foreignFinalizer})
	s.Apply(o)
	s.Remove(o)
	s.Sleep(dwell)
}

func vanished(s *World) {
	s.Apply(Example("vanished"))
	s.Remove(Example("vanished"))
	s.Sleep(dwell)
}

// neighbours come one by one, beside a poisoned object.
func neighbours(s *World) {
	s.Apply(Poisoned("poisoned"))
	comeAndGo(s)
}

// garbled has somebody write into the operator's own annotation.
func garbled(s *World) {
	o := Example("garbled")
	o.SetAnnotations(map[string]string{throttle.Domain + "/" + short: "{"})
	s.Apply(o)
	comeAndGo(s)
}

// crowd is fifty poisoned objects.
func crowd(s *World) {
	for i := range 50 {
		s.Apply(Poisoned(fmt.Sprintf("poisoned-%02d", i)))
	}
	s.Sleep(30 * time.Second)
	comeAndGo(s)
}

// comeAndGo has healthy objects come, one after the other.
func comeAndGo(s *World) {
	for i := range 3 {
		s.Sleep(5 * time.Second)
		s.Apply(Example(fmt.Sprintf("healthy-%d", i)))
	}
	s.Sleep(soon + time.Second)
}

// oneEdited is handled twice: as it came, and after an edit.
func oneEdited(s *World) {
	s.Apply(Example("plain"))
	s.Settle()
	s.Edit("plain", map[string]any{"spec": map[string]any{"field": "other"}})
	s.Settle()
}

// oneWatched has another writer at work on the object while it is handled.
func oneWatched(s *World) {
	s.Apply(Example("plain"))
	for i := range 20 {
		s.Beat("plain", i)
		s.Sleep(50 * time.Millisecond)
	}
	s.Sleep(dwell)
}

// refusedAWhile has a schema that the status does not keep to. It is relaxed, and nobody touches
// the object.
func refusedAWhile(s *World) {
	strict := throttle.CRD()
	status := strict.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
	status.Properties = map[string]apiextensionsv1.JSONSchemaProps{"handlers": {
		Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{
			Schema: &apiextensionsv1.JSONSchemaProps{Type: "string", MaxLength: ptr.To[int64](5)},
		},
	}}
	strict.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"] = status
	s.Apply(strict)
	s.Apply(Example("refused"))
	s.Sleep(dwell)
	s.Apply(throttle.CRD())
	s.Settle()
}

// mended is poisoned until its spec is edited, after some minutes; mendedLate when every back-off
// has grown long.
func mended(s *World) { s.mend(4 * time.Minute) }

func mendedLate(s *World) {
	s.mend(620 * time.Second)
	s.Sleep(2 * soon)
}

func (s *World) mend(after time.Duration) {
	s.Apply(Poisoned("mended"))
	s.Sleep(after)
	s.Edit("mended", map[string]any{"spec": map[string]any{"replicas": nil}})
	s.Sleep(dwell)
}

// relapse is too wordy, mended, and too wordy again.
func relapse(s *World) {
	s.Apply(Wordy("relapsed"))
	s.Sleep(dwell)
	for _, output := range []int{5, wordy} {
		s.Edit("relapsed", map[string]any{"spec": map[string]any{"output": output}})
		s.Sleep(dwell)
	}
}

// listening begins under faults, so that the operator may fail to hear of anything.
var listening = &matrix.Workload[throttle.Variant]{New: func(v throttle.Variant, sentences []string,
	faults ...fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		s := Begin(w, v, legal)
		w.Inject(faults...)
		s.ask(sentences...)
		s.Apply(Example("plain"))
		for i := range 5 {
			s.Sleep(time.Minute)
			s.Beat("plain", i)
		}
	}
}}

// heldByAnother has another controller put its finalizer on the object at the moment when the
// operator does.
func heldByAnother(s *World) {
	s.hold()
	s.Sleep(dwell)
}

func (s *World) hold() {
	s.Apply(Example(held))
	s.Edit(held,
		map[string]any{"metadata": map[string]any{"finalizers": append(s.named(held).latest.Metadata.Finalizers,
			foreignFinalizer)}})
	s.foreign = true
}

// held is the name of an object that another controller has put its finalizer on.
const held = "held"
