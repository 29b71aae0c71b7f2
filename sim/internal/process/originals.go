package process

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/wavetank/wavetank/history"
)

// originals remembers the objects of one informer's cache as they came, to find those that somebody has changed in place.
// client-go has such a detector (KUBE_CACHE_MUTATION_DETECTOR), but it is switched on for whole processes, panics, and
// compares by the wall clock.
//
// An object is compared when the next version of it arrives and whenever the world has settled: what was changed in
// place stays changed for as long as it is in the cache.
type originals struct {
	life *Life
	lock sync.Mutex
	// known is by key what the cache holds, or was about to hold.
	known map[string]original
}

type original struct {
	object runtime.Object // shared with the cache
	copied runtime.Object
}

// SetTransform implements cache.SharedInformer: what the transformer makes of an object is what must not be changed.
func (i *informer) SetTransform(user cache.TransformFunc) error {
	return i.SharedIndexInformer.SetTransform(func(obj any) (any, error) {
		if user != nil {
			var err error
			if obj, err = user(obj); err != nil {
				return obj, err
			}
		}
		if o, ok := obj.(runtime.Object); ok {
			i.keep(o, i.kind.Group, i.kind.Kind)
		}
		return obj, nil
	})
}

// keep remembers an object that is about to be stored, and looks at the one whose place it takes.
func (o *originals) keep(obj runtime.Object, group, kind string) {
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		return
	}
	o.lock.Lock()
	defer o.lock.Unlock()
	if o.known == nil {
		return // its life is over
	}
	if old, ok := o.known[key]; ok {
		if old.object == obj {
			return // it was transformed before
		}
		o.compare(old, group, kind)
	}
	o.known[key] = original{obj, obj.DeepCopyObject()}
}

// inspect compares everything that the cache holds, and forgets what it no longer holds.
func (i *informer) inspect() {
	i.lock.Lock()
	defer i.lock.Unlock()
	for key, o := range i.known {
		i.compare(o, i.kind.Group, i.kind.Kind)
		if held, ok, _ := i.sorted.GetByKey(key); !ok || held != any(o.object) {
			delete(i.known, key)
		}
	}
}

// forget lets go of everything: nobody will read this cache any more.
func (o *originals) forget() {
	o.lock.Lock()
	defer o.lock.Unlock()
	o.known = nil
}

// compare tells the history if an object has changed since it came. It tells it once: the change becomes the original.
func (o *originals) compare(was original, group, kind string) {
	if reflect.DeepEqual(was.object, was.copied) || equality.Semantic.DeepEqual(was.object, was.copied) {
		return // a Quantity, for one, remembers how it was written last, which is no change
	}
	m, err := meta.Accessor(was.copied)
	if err != nil {
		return
	}
	ref := history.Ref{Group: group, Kind: kind, Namespace: m.GetNamespace(), Name: m.GetName()}
	revision, _ := strconv.ParseInt(m.GetResourceVersion(), 10, 64)
	l, note := o.life, inPlace(was.copied, was.object)
	key, _ := cache.MetaNamespaceKeyFunc(was.object)
	if now, ok := o.known[key]; ok && now.object == was.object {
		o.known[key] = original{was.object, was.object.DeepCopyObject()}
	}
	l.world.Sched.Note(l.Name()+" "+ref.String(), func() {
		if !l.Port.Dead() {
			l.world.History.Add(history.Event{Step: l.world.Sched.Steps(), At: l.world.Sched.Now(), Kind: history.Mutation,
				Process: l.Process.Name, Life: l.N, Ref: ref, Revision: revision, Note: note, Server: l.world.Wire.Server().Revision()})
		}
	})
}

// inPlace says which fields of an object differ.
func inPlace(before, after runtime.Object) string {
	var a, b map[string]any
	for o, into := range map[runtime.Object]*map[string]any{before: &a, after: &b} {
		data, _ := json.Marshal(o)
		json.Unmarshal(data, into) //nolint:errcheck // it was encoded a moment ago
	}
	var out []string
	var walk func(path string, a, b any)
	walk = func(path string, a, b any) {
		x, isMap := a.(map[string]any)
		y, both := b.(map[string]any)
		if !isMap || !both {
			if !reflect.DeepEqual(a, b) {
				from, _ := json.Marshal(a)
				to, _ := json.Marshal(b)
				out = append(out, fmt.Sprintf("%s was %s and is %s", strings.TrimPrefix(path, "."), from, to))
			}
			return
		}
		for k := range x {
			walk(path+"."+k, x[k], y[k])
		}
		for k := range y {
			if _, known := x[k]; !known {
				walk(path+"."+k, nil, y[k])
			}
		}
	}
	walk("", a, b)
	if len(out) == 0 {
		return "a field that its JSON does not show"
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// Inspect looks at all caches of living processes for objects that were changed in place.
func (w *World) Inspect() {
	for _, l := range w.lives {
		l.mu.Lock()
		informers := l.informers
		l.mu.Unlock()
		for _, i := range informers {
			if l.Port.Dead() {
				i.forget()
			} else {
				i.inspect()
			}
		}
	}
}
