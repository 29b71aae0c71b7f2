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

// applies has a user apply an object, and time pass.
func applies(o *unstructured.Unstructured, d time.Duration) func(*World) {
	return func(s *World) {
		s.Apply(o.DeepCopy())
		s.Sleep(d)
	}
}

// refusedUnderFaults has an object whose progress is refused, and another writer at work on it.
// Faults end after a while.
func refusedUnderFaults(s *World) {
	s.faulty = true
	s.Apply(Verbose("wordy", wordy))
	s.beats("wordy", 90, time.Second)
	s.EndFaults()
	s.Sleep(lag)
	s.faulty, s.measured = false, s.History().Now()
	s.beats("wordy", 90, 20*time.Second)
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
	s.spec("plain", "field", "other")
	s.Settle()
}

// beats has another writer at work on an object, once a period.
func (s *World) beats(name string, n int, period time.Duration) {
	for i := range n {
		s.Beat(name, i)
		s.Sleep(period)
	}
}

// oneWatched has another writer at work on the object while it is handled.
func oneWatched(s *World) {
	s.Apply(Example("plain"))
	s.beats("plain", 20, 50*time.Millisecond)
	s.Sleep(dwell)
}

// storm has another writer change an object four times a second.
func storm(o *unstructured.Unstructured) func(*World) {
	return func(s *World) {
		s.Apply(o.DeepCopy())
		s.beats(o.GetName(), 44, 250*time.Millisecond)
	}
}

// edits are a storm in which every event is another spec.
func edits(s *World) {
	s.Apply(Poisoned("poisoned"))
	for i := range 24 {
		s.spec("poisoned", "field", fmt.Sprint(i))
		s.Sleep(250 * time.Millisecond)
	}
}

// relisted has another object change every few seconds, so that there are events with which the
// watch can end. Nobody touches the poisoned one.
func relisted(s *World) {
	s.Apply(Poisoned("poisoned"), Example("busy"))
	for i := range 45 {
		s.Sleep(4 * time.Second)
		s.Beat("busy", i)
	}
}

// listens begins under faults, so that the operator may fail to hear of anything.
func listens(s *World) {
	s.Apply(Example("plain"))
	for i := range 5 {
		s.Sleep(time.Minute)
		s.Beat("plain", i)
	}
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

// mended is poisoned until its spec is edited, after some time.
func mended(after, watched time.Duration) func(*World) {
	return func(s *World) {
		s.Apply(Poisoned("mended"))
		s.Sleep(after)
		s.spec("mended", "replicas", nil)
		s.Sleep(watched)
	}
}

// relapse is too wordy, mended, and too wordy again.
func relapse(s *World) {
	s.Apply(Verbose("relapsed", wordy))
	s.Sleep(dwell)
	for _, output := range []int{5, wordy} {
		s.spec("relapsed", "output", output)
		s.Sleep(dwell)
	}
}

// restarted has the operator start anew every five minutes, as for a certificate.
func restarted(s *World) {
	s.Apply(Verbose("wordy", wordy))
	for range 3 {
		s.Sleep(5 * time.Minute)
		s.Stop(Operator)
	}
	s.Sleep(time.Minute)
}

// forced has a user delete an object and take the operator's finalizer off by force.
func forced(s *World) {
	s.Apply(Example("forced"))
	s.Sleep(time.Second)
	s.Remove(Example("forced"))
	s.finalizers("forced", nil)
	s.Sleep(dwell)
}

// noPlace has a kind without a status subresource: the object is there, and its status is not
// found.
func noPlace(s *World) {
	crd := throttle.CRD()
	crd.Spec.Versions[0].Subresources = nil
	s.Apply(crd)
	s.Apply(Example("shown-nowhere"))
	s.Sleep(dwell)
}

// heldByAnother has another controller put its finalizer on the object at the moment when the
// operator does.
func heldByAnother(s *World) {
	s.hold()
	s.Sleep(dwell)
}

func (s *World) hold() {
	s.Apply(Example(held))
	s.read(s.History())
	s.finalizers(held, append(s.named(held).Value().Metadata.Finalizers, foreignFinalizer))
	s.foreign = true
}

// mirrored has somebody show on each object how many children it has.
var mirrored = Setting{Handlers: []string{long, short}, Before: func(s *World) { s.Run("mirror", mirror) }}

// mirror is a program that counts children in an annotation of their object.
func mirror(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	w, err := client.Resource(throttle.Children).Watch(ctx, metav1.ListOptions{LabelSelector: throttle.ParentLabel})
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
		if _, err := client.Resource(throttle.Examples).Namespace(child.GetNamespace()).
			Patch(ctx, parent, types.MergePatchType, change, metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// lively has handlers of both kinds, and a webhook that lets everything pass to begin with.
var lively = Setting{Handlers: []string{long, short}, Before: func(s *World) {
	s.police("kopfexamples")
	s.policy.lifted = true
}}

// everything is all that users may do.
func everything(s *World) {
	s.Apply(Example("plain"), Poisoned("poisoned"), Verbose("verbose", tooMuch))
	s.hold()
	s.Sleep(5 * time.Second)
	s.spec("plain", "field", "other")
	s.spec("verbose", "output", 5)
	s.Settle()
	s.policy.lifted = false
	s.Apply(Example("another"))
	s.Remove(Example("plain"), Example("poisoned"))
	s.Sleep(time.Minute)
	s.policy.lifted = true
	s.Settle()
}
