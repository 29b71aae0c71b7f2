// This file holds what happens in the cases: workloads, the steps that they consist of, and faults.

package throttle

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

const (
	// whole is longer than the schedule takes to reach its longest delay, and two of these.
	whole = firstPart + 2*longest + time.Minute
	// dwell is how long a workload watches where the end of the schedule is not the question.
	dwell = 5 * time.Minute
)

type workload = *matrix.Workload[throttle.Variant]

// of is a workload: the operator starts, properties are declared, and something happens. More
// properties than those of the case must hold.
func of(setting Setting, happen step, more ...string) workload {
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
			s.declare(slices.Concat(properties, more)...)
			happen(s)
			s.over = true
			judgeNow("the-end")(s)
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
	// mirrored has another program count the children on each object. lively has a webhook that
	// allows everything at first.
	mirrored = Setting{Handlers: []string{long, short}, Before: func(s *World) { s.Run("mirror", mirror) }}
	lively   = Setting{Handlers: []string{long, short}, Before: inTurn(denyForeign, lift(true))}
)

// Settings in which something is refused from the start: by a webhook, by one that also refuses the
// status, by one that does not answer, and by a schema that has become stricter.
var (
	denyForeign  = police(foreign, "kopfexamples")
	denyLengthy  = police(lengthy, "kopfexamples")
	unanswered   = inTurn(apply(finalized("unanswered", throttle.Finalizer)), denyForeign, away)
	grown        = apply(finalized("outgrown", throttle.Finalizer), demanding)
	terse        = Setting{Handlers: []string{short}, Echo: true, Before: denyLengthy}
	terseQuiet   = Setting{Handlers: []string{short}, Before: denyLengthy}
	denying      = Setting{Handlers: []string{short}, Echo: true, Before: denyForeign}
	denyingQuiet = Setting{Handlers: []string{short}, Before: denyForeign}
	denyingAll   = Setting{Handlers: []string{short}, Before: police(foreign, "kopfexamples", "kopfexamples/status")}
	silentHook   = Setting{Handlers: []string{short}, Echo: true, Before: unanswered, Early: true}
	silentQuiet  = Setting{Handlers: []string{short}, Before: unanswered}
	outgrown     = Setting{Handlers: []string{short}, Echo: true, Before: grown, Early: true}
)

// frequentWrites has another writer change an object four times a second.
func frequentWrites(o *unstructured.Unstructured) step {
	return inTurn(apply(o), beats(o.GetName(), 44, 250*time.Millisecond))
}

// edits has a user change its spec as often.
var edits = times(24, func(i int) step {
	return inTurn(set("poisoned", "field", fmt.Sprintf(`"%d"`, i)), sleep(250*time.Millisecond))
})

// comeAndGo has healthy objects come, one after the other.
var comeAndGo = inTurn(times(3, func(i int) step { return inTurn(sleep(5*time.Second), apply(healthy(i))) }),
	sleep(soon+time.Second))

func healthy(i int) client.Object { return Example(fmt.Sprintf("healthy-%d", i)) }

// amongEvents has healthy objects come, each just after another writer has changed as many others
// as there are workers.
var amongEvents = inTurn(times(3, func(i int) step {
	others := times(tenWorkers.Workers, func(j int) step { return beat(fmt.Sprintf("poisoned-%02d", j), i) })
	return inTurn(sleep(10*time.Second), others, sleep(time.Second), apply(healthy(i)), sleep(time.Second),
		judgeNow(fmt.Sprintf("a-second-later-%d", i)))
}), sleep(soon+time.Second))

// crowd is fifty poisoned objects.
var crowd = times(50, func(i int) step { return apply(Poisoned(fmt.Sprintf("poisoned-%02d", i))) })

// oneEdited is handled twice: as it came, and after an edit.
var oneEdited = inTurn(apply(Example("plain")), settle, set("plain", "field", `"other"`), settle)

// refusedUnderFaults has an object whose progress is refused, and another writer at work on it.
// Faults end after a while.
var refusedUnderFaults = inTurn(apply(Verbose("wordy", wordy)), beats("wordy", 60, time.Second),
	func(s *World) { s.EndFaults(); s.ended = s.History().Now() }, sleep(lag), beats("wordy", 100, 20*time.Second))

// mended is poisoned until its spec is edited, after some time.
func mended(after, watched time.Duration) step {
	return inTurn(apply(Poisoned("mended")), sleep(after), set("mended", "replicas", "null"), sleep(watched))
}

// garbled has an unreadable value in the operator's own annotation.
func garbled() *unstructured.Unstructured {
	o := Example("garbled")
	o.SetAnnotations(map[string]string{throttle.Domain + "/" + short: "{"})
	return o
}

// everything is all that users may do.
var everything = inTurn(apply(Example("plain"), Poisoned("poisoned"), Verbose("verbose", tooMuch)), hold,
	sleep(5*time.Second), set("plain", "field", `"other"`), set("verbose", "output", "5"), settle,
	lift(false), apply(Example("another")), remove("plain"), remove("poisoned"), sleep(time.Minute),
	lift(true), settle)

// recovers notes that from now on nothing is refused, and lets more time pass than the longest
// delay before it allows, which is the kubelet's. The object is not changed.
func recovers(s *World) {
	judgeNow("nothing-is-refused")(s)
	s.allowed = s.History().Now()
	s.Sleep(max(delay(reached(10*time.Minute)), longestKubeletDelay) + time.Minute)
}

// relaxed and answered are times of refusal that end: by the schema of before, and by a webhook
// that is back.
var (
	relaxed  = inTurn(sleep(whole), apply(crd), recovers)
	answered = inTurn(sleep(10*time.Minute), back, recovers)
)

// step is something that happens.
type step = func(*World)

var inTurn, sleep = worlds.InTurn[*World], worlds.Sleep[*World]

// times has steps happen so often, each with its number from 0.
func times(n int, nth func(i int) step) step {
	return func(s *World) {
		for i := range n {
			nth(i)(s)
		}
	}
}

// stop restarts the operator, as after a change of a certificate.
func stop(s *World)   { s.Stop(Operator) }
func settle(s *World) { s.Settle() }

// apply has a user apply objects, one after the other.
func apply(objs ...client.Object) step {
	return func(s *World) {
		for _, o := range objs {
			s.Apply(o.DeepCopyObject().(client.Object))
		}
	}
}

// applied is an object, and time.
func applied(o client.Object, d time.Duration) step { return inTurn(apply(o), sleep(d)) }

// judgeNow applies an object that no program watches, because properties that measure time judge by
// the time of the last event.
func judgeNow(name string) step {
	return apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}})
}

// edit has a user change an object by a merge patch. A user to whom a webhook does not answer tries
// again later; if the object is not there, there is nothing to edit.
func edit(name, patch string, args ...any) step {
	return func(s *World) {
		for {
			err := s.Client().Patch(s.Context(), Example(name), worlds.MergePatch(patch, args...))
			if !apierrors.IsInternalError(err) {
				worlds.Must(client.IgnoreNotFound(err), "editing %s", name)
				return
			}
			s.Sleep(10 * time.Second)
		}
	}
}

// set changes a field of an object's spec, to what is given as JSON. release takes all finalizers
// off by force.
func set(name, field, value string) step { return edit(name, `{"spec":{%q:%s}}`, field, value) }
func release(name string) step           { return edit(name, `{"metadata":{"finalizers":null}}`) }
func remove(name string) step            { return func(s *World) { s.Remove(Example(name)) } }

// beat is another writer's n-th heartbeat on an object.
func beat(name string, n int) step {
	return edit(name, `{"metadata":{"annotations":{"example.com/beat":"%d"}}}`, n)
}

// beats has another writer at work on an object, once a period.
func beats(name string, n int, period time.Duration) step {
	return times(n, func(i int) step { return inTurn(beat(name, i), sleep(period)) })
}

// lateBeats has another object change every few seconds, so that there are events with which the
// watch can end.
func lateBeats(name string, n int, period time.Duration) step {
	return times(n, func(i int) step { return inTurn(sleep(period), beat(name, i)) })
}

// foreignFinalizer is another controller's.
const foreignFinalizer = "example.com/held"

// hold has another controller put its finalizer on an object at the moment when the operator does.
func hold(s *World) {
	const held = "held"
	s.Apply(Example(held))
	s.read(s.History())
	all := append(s.named(held).Value().Finalizers, foreignFinalizer)
	edit(held, `{"metadata":{"finalizers":["%s"]}}`, strings.Join(all, `","`))(s)
}

// mirror is a program that counts children in an annotation of their object.
func mirror(ctx context.Context, config *rest.Config) error {
	c, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	w, err := c.Resource(throttle.Children).Watch(ctx, metav1.ListOptions{LabelSelector: throttle.ParentLabel})
	if err != nil {
		return err
	}
	defer w.Stop()
	children := map[string]int{}
	for e := range w.ResultChan() {
		child, ok := e.Object.(*unstructured.Unstructured)
		if !ok || e.Type != watch.Added {
			continue
		}
		parent := child.GetName()[:strings.LastIndex(child.GetName(), "-")]
		children[parent]++
		change := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/children":"%d"}}}`, children[parent])
		if _, err := c.Resource(throttle.Examples).Namespace(child.GetNamespace()).
			Patch(ctx, parent, types.MergePatchType, change, metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// Faults. Each set is a function, as every run needs fresh ones.

type faults = func() []fault.Fault

// Parts of a world into which faults are injected.
var operator, its, patches = fault.In(Operator), fault.OfKind("KopfExample"), fault.OnVerb("patch")

// everyFault is all faults that such an operator can meet. It has no work queue and no lease, and a
// call log that a proxy doubles proves nothing.
func everyFault() []fault.Fault {
	return []fault.Fault{
		fault.StaleCache(30*time.Second, fault.HardLimit()),
		fault.MissedStates(30*time.Second, operator), fault.DroppedWatch(operator),
		fault.Relist(operator), fault.Expired(operator), fault.StaleServer(10 * time.Second), fault.Crash(Operator),
		fault.Restart(Operator), fault.Pause(Operator, time.Second), fault.LostReply(operator), fault.Conflict(),
		fault.ServerError(operator), fault.Unreachable(time.Minute, operator),
		fault.Rejected("this cannot be written now", operator, its), fault.Forbidden(time.Minute, operator),
		fault.WebhookDown(time.Minute), fault.SlowEffect(time.Minute), fault.FailedEffect(),
	}
}

func crash() []fault.Fault     { return []fault.Fault{fault.Crash(Operator)} }
func restart() []fault.Fault   { return []fault.Fault{fault.Restart(Operator)} }
func conflict() []fault.Fault  { return []fault.Fault{fault.Conflict()} }
func lagging() []fault.Fault   { return []fault.Fault{fault.StaleCache(lag, fault.HardLimit())} }
func lostReply() []fault.Fault { return []fault.Fault{fault.LostReply(operator)} }

// failingHandler has the call log answer with an error, which the handler returns.
func failingHandler() []fault.Fault { return []fault.Fault{fault.FailedEffect()} }

// relists make the operator list again.
func relists() []fault.Fault {
	return []fault.Fault{fault.DroppedWatch(operator), fault.Relist(operator), fault.Expired(operator)}
}

// late are faults of a watch: it ends, or it lags.
func late() []fault.Fault { return lateBy(lag)() }

func lateBy(lag time.Duration) faults {
	return func() []fault.Fault { return append(relists(), fault.StaleCache(lag, operator, fault.HardLimit())) }
}

// failing are writes to objects that fail once, or are not heard of again; failingFor are those of
// one object.
func failing() []fault.Fault      { return failingIn(operator, its, patches) }
func failingPatch() []fault.Fault { return failing()[:1] }

func failingFor(name string) faults {
	return func() []fault.Fault { return failingIn(fault.Named("default/"+name), operator, its, patches) }
}

func failingIn(scopes ...fault.Scope) []fault.Fault {
	return []fault.Fault{fault.ServerError(scopes...), fault.LostReply(scopes...)}
}

// nuisances are faults for cases that are about something else: the watch lags and ends, and writes
// fail or get no reply. If handlers write to the object too, use late alone: a handler that fails
// is called again by its own policy.
func nuisances() []fault.Fault { return append(late(), failing()...) }

// troubles are nuisances of which only one object's writes fail.
func troubles(name string) faults {
	return func() []fault.Fault { return append(late(), failingFor(name)()...) }
}

func failingWatch() []fault.Fault {
	return append(relists(), fault.ServerError(operator, fault.OnVerb("list")),
		fault.Forbidden(time.Minute, operator, its), fault.Unreachable(time.Minute, operator))
}
