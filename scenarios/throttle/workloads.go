// This file holds what happens in the cases: workloads, under faults.

package throttle

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
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
func of(setting Setting, happen func(*World)) workload {
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
			s.note("the-end")
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
	quiet      = Setting{Handlers: []string{short}}
)

// step is something that happens; does has steps happen one after the other.
type step = func(*World)

func does(steps ...step) step {
	return func(s *World) {
		for _, happen := range steps {
			happen(s)
		}
	}
}

// apply has a user apply objects, one after the other.
func apply(objs ...client.Object) step {
	return func(s *World) {
		for _, o := range objs {
			s.Apply(o.DeepCopyObject().(client.Object))
		}
	}
}

// applied is an object, and time.
func applied(o client.Object, d time.Duration) step { return does(apply(o), sleep(d)) }

func remove(name string) step { return func(s *World) { s.Remove(Example(name)) } }

func sleep(d time.Duration) step { return func(s *World) { s.Sleep(d) } }

func settle(s *World) { s.Settle() }

// stop has the operator start anew, as for a certificate.
func stop(s *World) { s.Stop(Operator) }

// set changes a field of an object's spec; release takes all finalizers off by force.
func set(name, field string, value any) step {
	return func(s *World) { s.Edit(name, map[string]any{"spec": map[string]any{field: value}}) }
}

func release(name string) step { return func(s *World) { s.finalizers(name, nil) } }

// beats has another writer at work on an object, once a period.
func beats(name string, n int, period time.Duration) step {
	return func(s *World) {
		for i := range n {
			s.Beat(name, i)
			s.Sleep(period)
		}
	}
}

// storm has another writer change an object four times a second, edits its spec.
func storm(o *unstructured.Unstructured) step {
	return does(apply(o), beats(o.GetName(), 44, 250*time.Millisecond))
}

func edits(s *World) {
	for i := range 24 {
		does(set("poisoned", "field", fmt.Sprint(i)), sleep(250*time.Millisecond))(s)
	}
}

// lateBeats has another object change every few seconds, so that there are events with which the
// watch can end.
func lateBeats(name string, n int, period time.Duration) step {
	return func(s *World) {
		for i := range n {
			s.Sleep(period)
			s.Beat(name, i)
		}
	}
}

// comeAndGo has healthy objects come, one after the other.
func comeAndGo(s *World) {
	for i := range 3 {
		does(sleep(5*time.Second), apply(Example(fmt.Sprintf("healthy-%d", i))))(s)
	}
	s.Sleep(soon + time.Second)
}

// oneEdited is handled twice: as it came, and after an edit.
var oneEdited = does(apply(Example("plain")), settle, set("plain", "field", "other"), settle)

// refusedUnderFaults has an object whose progress is refused, and another writer at work on it.
// Faults end after a while.
func refusedUnderFaults(s *World) {
	s.faulty = true
	does(apply(Verbose("wordy", wordy)), beats("wordy", 60, time.Second))(s)
	s.EndFaults()
	s.Sleep(lag)
	s.faulty, s.measured = false, s.History().Now()
	beats("wordy", 100, 20*time.Second)(s)
}

// mended is poisoned until its spec is edited, after some time.
func mended(after, watched time.Duration) step {
	return does(apply(Poisoned("mended")), sleep(after), set("mended", "replicas", nil), sleep(watched))
}

// amongEvents has healthy objects come, each just after another writer has changed as many others
// as there are workers.
func amongEvents(s *World) {
	for i := range 3 {
		s.Sleep(10 * time.Second)
		for j := range tenWorkers.Workers {
			s.Beat(fmt.Sprintf("poisoned-%02d", j), i)
		}
		s.Sleep(time.Second)
		s.Apply(Example(fmt.Sprintf("healthy-%d", i)))
		s.Sleep(time.Second)
		s.note(fmt.Sprintf("a-second-later-%d", i))
	}
	s.Sleep(soon + time.Second)
}

// crowd is fifty poisoned objects.
func crowd() (out []client.Object) {
	for i := range 50 {
		out = append(out, Poisoned(fmt.Sprintf("poisoned-%02d", i)))
	}
	return out
}

// garbled has what somebody has written into the operator's own annotation.
func garbled() *unstructured.Unstructured {
	o := Example("garbled")
	o.SetAnnotations(map[string]string{throttle.Domain + "/" + short: "{"})
	return o
}

// terseStatus is the kind with a schema that the status does not keep to, noStatus the kind without
// a status subresource: the object is there, and its status is not found.
func terseStatus() *apiextensionsv1.CustomResourceDefinition {
	crd := throttle.CRD()
	status := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
	status.Properties = map[string]apiextensionsv1.JSONSchemaProps{"handlers": {
		Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{
			Schema: &apiextensionsv1.JSONSchemaProps{Type: "string", MaxLength: ptr.To[int64](5)},
		},
	}}
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"] = status
	return crd
}

func noStatus() *apiextensionsv1.CustomResourceDefinition {
	crd := throttle.CRD()
	crd.Spec.Versions[0].Subresources = nil
	return crd
}

// hold has another controller put its finalizer on an object at the moment when the operator does.
func hold(s *World) {
	s.Apply(Example(held))
	s.read(s.History())
	s.finalizers(held, append(s.named(held).Value().Metadata.Finalizers, foreignFinalizer))
	s.foreign = true
}

// mirrored has somebody show on each object how many children it has.
var mirrored = Setting{Handlers: []string{long, short}, Before: func(s *World) { s.Run("mirror", mirror) }}

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
		change, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{
			"example.com/children": fmt.Sprint(children[parent])}}})
		if err != nil {
			return err
		}
		if _, err := c.Resource(throttle.Examples).Namespace(child.GetNamespace()).
			Patch(ctx, parent, types.MergePatchType, change, metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// lively has handlers of both kinds, and a webhook that lets everything pass to begin with.
var lively = Setting{Handlers: []string{long, short}, Before: does(police("kopfexamples"), lift(true))}

// everything is all that users may do.
var everything = does(apply(Example("plain"), Poisoned("poisoned"), Verbose("verbose", tooMuch)), hold,
	sleep(5*time.Second), set("plain", "field", "other"), set("verbose", "output", 5), settle,
	lift(false), apply(Example("another")), remove("plain"), remove("poisoned"), sleep(time.Minute),
	lift(true), settle)
