// This file holds the steps of which workloads are made: what users do, and other programs.

package throttle

import (
	"context"
	"fmt"
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
)

// step is something that happens.
type step = func(*World)

// does has steps happen one after the other.
func does(steps ...step) step {
	return func(s *World) {
		for _, happen := range steps {
			happen(s)
		}
	}
}

// times has steps happen so often, each with its number from 0.
func times(n int, nth func(i int) step) step {
	return func(s *World) {
		for i := range n {
			nth(i)(s)
		}
	}
}

func settle(s *World) { s.Settle() }

func sleep(d time.Duration) step { return func(s *World) { s.Sleep(d) } }

// stop has the operator start anew, as for a certificate.
func stop(s *World) { s.Stop(Operator) }

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

// note applies an object that nobody looks at: properties that measure time judge by the time of
// the last event.
func note(name string) step {
	return apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}})
}

func remove(name string) step { return func(s *World) { s.Remove(Example(name)) } }

// edit has a user change an object by a merge patch. A user to whom a webhook does not answer tries
// again later; if the object is not there, there is nothing to edit.
func edit(name, patch string, args ...any) step {
	return func(s *World) {
		for {
			change := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, patch, args...))
			switch err := s.Client().Patch(s.Context(), Example(name), change); {
			case apierrors.IsInternalError(err):
				s.Sleep(10 * time.Second)
			case client.IgnoreNotFound(err) != nil:
				panic(fmt.Sprintf("editing %s: %v", name, err))
			default:
				return
			}
		}
	}
}

// set changes a field of an object's spec. The value is JSON.
func set(name, field, value string) step { return edit(name, `{"spec":{%q:%s}}`, field, value) }

// release takes all finalizers off by force.
func release(name string) step { return edit(name, `{"metadata":{"finalizers":null}}`) }

// beat is another writer's n-th heartbeat on an object.
func beat(name string, n int) step {
	return edit(name, `{"metadata":{"annotations":{"example.com/beat":"%d"}}}`, n)
}

// beats has another writer at work on an object, once a period.
func beats(name string, n int, period time.Duration) step {
	return times(n, func(i int) step { return does(beat(name, i), sleep(period)) })
}

// lateBeats has another object change every few seconds, so that there are events with which the
// watch can end.
func lateBeats(name string, n int, period time.Duration) step {
	return times(n, func(i int) step { return does(sleep(period), beat(name, i)) })
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
