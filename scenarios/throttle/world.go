// This file exists to set the scene, so that each workload of the story is only about what happens
// in it.

package throttle

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/sim"
)

// Operator is the name of the process that runs the operator.
const Operator = "operator"

// Names of handlers. The annotation of the long one is not legal as it is; it is called for objects
// with replicas.
const (
	short = "provision"
	long  = "provision_one_persistent_volume_claim_for_every_replica_of_the_database"
)

// World is a world with the operator in it.
type World struct {
	*sim.World
	// Record read this run's history.
	*Record
	// policy is the webhook of the workloads that have one.
	policy *policy
}

// Scene is what differs between workloads before anything happens.
type Scene struct {
	// Handlers by name, called in this order.
	Handlers []string
	// Echo has handlers write to the object that they are called for.
	Echo bool
	// Workers is the operator's cap; 0 for none.
	Workers int
	// Before is what happens before the operator starts; nil for nothing.
	Before func(*World)
	// Early has faults strike from the start, where nothing is written later.
	Early bool
}

// Begin installs the kind and starts the operator; it applies nothing but what the scene says.
func Begin(w *sim.World, v throttle.Variant, scene Scene) *World {
	w.Install(crd)
	s := &World{World: w, Record: NewRecord(scene.Handlers...)}
	s.serveCallLog()
	if scene.Before != nil {
		scene.Before(s)
	}
	w.Run(Operator, func(ctx context.Context, config *rest.Config) error {
		o := &throttle.Operator{Variant: v, Workers: scene.Workers}
		for i, id := range scene.Handlers {
			h := throttle.Handler{ID: id, Do: provision(config, i, scene.Echo)}
			if id == long {
				h.When = replicated
			}
			o.Handlers = append(o.Handlers, h)
		}
		return o.Run(ctx, config)
	})
	return s
}

var crd = throttle.CRD()

func replicated(o *unstructured.Unstructured) bool {
	_, found, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "replicas")
	return found
}

// tooMuch is more than all annotations of an object may come to.
const tooMuch = 263_000

// Example is an object of the operator's kind.
func Example(name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"field": "value"}}}
	o.SetAPIVersion("kopf.dev/v1")
	o.SetKind("KopfExample")
	o.SetNamespace(metav1.NamespaceDefault)
	o.SetName(name)
	return o
}

// Poisoned is an object for which the handler with the long name is called.
func Poisoned(name string) *unstructured.Unstructured {
	o := Example(name)
	o.Object["spec"] = map[string]any{"replicas": int64(3)}
	return o
}

// Verbose is an object whose handler returns more than can be written down.
func Verbose(name string) *unstructured.Unstructured {
	o := Example(name)
	o.Object["spec"] = map[string]any{"output": int64(tooMuch)}
	return o
}

// note is an object that nobody looks at: properties that measure time judge by the time of the
// last event.
func note(name string) client.Object {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}}
}

// Edit changes the object as a user does: a merge patch, and nothing else is touched. A user to
// whom a webhook does not answer tries again later; if the object is not there, there is nothing to
// edit.
func (s *World) Edit(name string, change map[string]any) {
	data, err := json.Marshal(change)
	if err != nil {
		panic(err)
	}
	for {
		err := s.Client().Patch(s.Context(), Example(name), client.RawPatch(types.MergePatchType, data))
		switch {
		case apierrors.IsInternalError(err):
			s.Sleep(10 * time.Second)
		case client.IgnoreNotFound(err) != nil:
			panic(fmt.Sprintf("editing %s: %v", name, err))
		default:
			return
		}
	}
}

// Beat is another writer's heartbeat on the object.
func (s *World) Beat(name string, n int) {
	s.Edit(name,
		map[string]any{"metadata": map[string]any{"annotations": map[string]any{"example.com/beat": fmt.Sprint(n)}}})
}
