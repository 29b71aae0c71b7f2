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
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// mutationDetector remembers the objects of one informer's cache as they came, to detect changes in
// place. client-go has such a detector (KUBE_CACHE_MUTATION_DETECTOR), but it is switched on for
// whole processes, panics, and compares by real time.
//
// An object is compared when its next version arrives and whenever the world is quiescent: a change
// in place remains for as long as the object is in the cache.
type mutationDetector struct {
	*core
	lock sync.Mutex
	// known are the objects that the cache holds, or was about to hold, by key.
	known map[string]cachedObject
}

type cachedObject struct {
	object runtime.Object // shared with the cache
	copied runtime.Object
}

// remember remembers an object that is about to be stored, and compares the one that it replaces.
// The object is copied, unless it was passed with an equal one.
func (m *mutationDetector) remember(obj runtime.Object, p wire.Passed, group, kind string) {
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		return
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.known == nil {
		return // its incarnation is over
	}
	if old, ok := m.known[key]; ok {
		if old.object == obj {
			return // it was transformed before
		}
		m.compare(old, group, kind)
	}
	if p.Object != obj {
		p.Shared = obj.DeepCopyObject()
	}
	m.known[key] = cachedObject{obj, p.Shared}
}

// forget forgets everything: nothing reads this cache any more.
func (m *mutationDetector) forget() {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.known = nil
}

// compare records in the history that an object has changed since it came. It does so once for each
// change.
func (m *mutationDetector) compare(was cachedObject, group, kind string) {
	if reflect.DeepEqual(was.object, was.copied) || equality.Semantic.DeepEqual(was.object, was.copied) {
		return // a Quantity, for one, remembers how it was written last, which is no change
	}
	o, err := meta.Accessor(was.copied)
	if err != nil {
		return
	}
	ref := history.Ref{Group: group, Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}
	revision, _ := strconv.ParseInt(o.GetResourceVersion(), 10, 64)
	note := inPlace(was.copied, was.object)
	key, _ := cache.MetaNamespaceKeyFunc(was.object)
	if now, ok := m.known[key]; ok && now.object == was.object {
		m.known[key] = cachedObject{was.object, was.object.DeepCopyObject()}
	}
	m.Sched.Note(m.Name()+" "+ref.String(), func() {
		if !m.Port.Dead() {
			e := m.Wire.Event(m.Port, history.Mutation)
			e.Ref, e.Revision, e.Note = ref, revision, note
			m.History.Add(e)
		}
	})
}

// inPlace returns the fields of an object that differ, in words.
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
