package world

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/process"
)

// This file is what package auto asks of a world besides the methods that package sim shows.

// Misuse ends the run because the scenario asks for something that cannot be.
func (w *World) Misuse(format string, args ...any) { w.misuse(format, args...) }

// Choose draws one of n alternatives. The label is whose choice it is, and what of it is chosen;
// all choices of one label are removed together when a run is shrunk. A random source leaves the
// first alternative once in odds; at 0 all are equally likely.
func (w *World) Choose(label, what string, n, odds int) int {
	return w.choices.Rarely(story.Label{Kind: story.Draw, Of: label, What: what}, n, odds)
}

// Drew adds to the history what a draw meant.
func (w *World) Drew(label, value string) {
	w.history.Drew(history.Draw{At: w.sched.Now(), Label: label, Value: value})
}

// Definitions are the custom resource definitions that were given to the cluster, by name.
func (w *World) Definitions() (out []*apiextensionsv1.CustomResourceDefinition) {
	for _, d := range w.user.Definitions() {
		if crd, ok := d.Object.(*apiextensionsv1.CustomResourceDefinition); ok {
			out = append(out, crd)
		}
	}
	slices.SortFunc(out, func(a, b *apiextensionsv1.CustomResourceDefinition) int {
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// Processes are the names of the programs under test.
func (w *World) Processes() (names []string) {
	for _, p := range w.procs.Processes() {
		names = append(names, p.Name)
	}
	return names
}

// HasAccounts reports whether a program under test runs as a ServiceAccount.
func (w *World) HasAccounts() bool {
	return slices.ContainsFunc(w.procs.Processes(), func(p *process.Process) bool { return p.Account() != "" })
}

// LookedFor are the objects that programs under test have looked for and not found, in their caches
// or at the server, in order. Some of them may be there by now.
func (w *World) LookedFor() []history.Ref {
	out := w.procs.Missing()
	for i := range w.history.Events {
		e := &w.history.Events[i]
		if e.Kind == history.Request && e.Incarnation > 0 && e.Verb == "get" && e.Code == http.StatusNotFound &&
			e.Sub == "" && e.Host == "" && e.Ref.Cluster == "" {
			out = append(out, e.Ref)
		}
	}
	slices.SortFunc(out, history.Ref.Compare)
	return slices.Compact(out)
}

// Applied are the objects that the scenario has applied and not removed.
func (a *actions) Applied() (out []client.Object) {
	for _, applied := range a.user.Applied() {
		out = append(out, applied.Object)
	}
	return out
}

// HasOutside reports whether the scenario has declared a host outside the cluster.
func (w *World) HasOutside() bool { return w.wire.Hosts.HasOutside() }

// Objects are those in a file or directory, as [World.ApplyFiles] reads them.
func (w *World) Objects(path string) ([]client.Object, error) { return w.user.Objects(path) }

// TryApply applies an object as [World.Apply] does, and returns the error of the server if it
// refuses the object.
func (a *actions) TryApply(obj client.Object) error {
	a.panicIfOver()
	err := a.insist(func() error { return a.user.ApplyClientSide(a.ctx, obj) })
	if err == nil {
		a.user.Remember(obj, false, a.history.Len())
	}
	return err
}

// TryRemove deletes an object as [World.Remove] does, and returns the error of the server if it
// refuses that.
func (a *actions) TryRemove(obj client.Object) error {
	a.panicIfOver()
	err := a.insist(func() error { return client.IgnoreNotFound(a.user.Delete(a.ctx, obj)) })
	if err == nil {
		a.user.Forget(obj)
	}
	return err
}

// Kept is what the programs' own type keeps of an object: a program that updates the object writes
// no more. Where the type cannot hold it, as a definition may allow any text for a duration, it
// says why. Of a kind for which no program has a type, all is kept.
func (w *World) Kept(obj *unstructured.Unstructured) (map[string]any, error) {
	typed := w.user.Typed(obj.GroupVersionKind())
	if typed == nil {
		return obj.Object, nil
	}
	data, err := json.Marshal(obj.Object)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, typed); err != nil {
		return nil, err
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
}
