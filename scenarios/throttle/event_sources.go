// This file exists for those who make a hot loop go round: whoever supplies events of an object
// that cannot be written to.

package throttle

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/wavetank/wavetank/controllers/throttle"
)

// mirrored has somebody show on each object how many children it has.
var mirrored = Scene{Handlers: []string{long, short}, Before: func(s *World) { s.Run("mirror", mirror) }}

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

// relisted has another object change every few seconds, so that there are events with which the
// watch can end. Nobody touches the poisoned one.
func relisted(s *World) {
	s.Apply(Poisoned("poisoned"), Example("busy"))
	for i := range 45 {
		s.Sleep(4 * time.Second)
		s.Beat("busy", i)
	}
}

// storm has another writer change a poisoned object four times a second; verboseStorm one whose
// handler returns too much.
func storm(s *World) { s.storm(Poisoned("poisoned")) }

func verboseStorm(s *World) { s.storm(Verbose("verbose")) }

func (s *World) storm(o *unstructured.Unstructured) {
	s.Apply(o)
	for i := range 44 {
		s.Beat(o.GetName(), i)
		s.Sleep(250 * time.Millisecond)
	}
}

// edits are a storm in which every event is another spec.
func edits(s *World) {
	s.Apply(Poisoned("poisoned"))
	for i := range 24 {
		s.Edit("poisoned", map[string]any{"spec": map[string]any{"field": fmt.Sprint(i)}})
		s.Sleep(250 * time.Millisecond)
	}
}

// restarted has the operator start anew every five minutes, as for a certificate.
func restarted(s *World) {
	s.Apply(Wordy("wordy"))
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
	s.Edit("forced", map[string]any{"metadata": map[string]any{"finalizers": nil}})
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
