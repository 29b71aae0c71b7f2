package process

import (
	"sort"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/wavetank/wavetank/internal/versions"
)

type informer struct {
	cache.SharedIndexInformer
	sorted sortedIndexer
	kind   schema.GroupKind
	synced *syncState
	wake   func()       // asks for a quiet moment
	spawn  func(func()) // runs a function on a goroutine of the incarnation
	// replacing is set when all objects are requested, until their notifications have come.
	replacing atomic.Bool
	mutationDetector

	mu       sync.Mutex
	handlers []*registration
	over     bool // with its incarnation
}

// HasSynced implements cache.SharedInformer.
func (i *informer) HasSynced() bool { return i.synced.is.Load() }

// Checker implements versions.Informer.
func (i *informer) Checker() versions.DoneChecker { return i.synced.checker() }

// registration is a handler's registration whose HasSynced answers as of the last quiet moment.
type registration struct {
	cache.ResourceEventHandlerRegistration
	handler *orderedHandler
	synced  *syncState
	given   cache.ResourceEventHandlerRegistration // what the program knows it as
}

// HasSynced implements cache.ResourceEventHandlerRegistration.
func (r *registration) HasSynced() bool { return r.synced.is.Load() }

// Checker implements versions.Registration.
func (r *registration) Checker() versions.DoneChecker { return r.synced.checker() }

// end lets those go on who wait for a sync that will not come any more.
func (i *informer) end() {
	i.synced.end()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.over = true
	for _, r := range i.handlers {
		r.synced.end()
	}
}

func (i *informer) GetIndexer() cache.Indexer { return i.sorted }
func (i *informer) GetStore() cache.Store     { return i.sorted }

type sortedIndexer struct{ cache.Indexer }

func (s sortedIndexer) List() []any {
	return sortByKey(s.Indexer.List())
}

func (s sortedIndexer) Index(name string, obj any) ([]any, error) {
	out, err := s.Indexer.Index(name, obj)
	return sortByKey(out), err
}

func (s sortedIndexer) ByIndex(name, value string) ([]any, error) {
	out, err := s.Indexer.ByIndex(name, value)
	return sortByKey(out), err
}

func (s sortedIndexer) ListKeys() []string {
	out := s.Indexer.ListKeys()
	sort.Strings(out)
	return out
}

func (s sortedIndexer) IndexKeys(name, value string) ([]string, error) {
	out, err := s.Indexer.IndexKeys(name, value)
	sort.Strings(out)
	return out, err
}

func sortByKey(objs []any) []any { return sortBy(objs, func(o any) any { return o }) }

// sortBy sorts by the keys of the objects of the elements.
func sortBy[T any](all []T, object func(T) any) []T {
	if len(all) < 2 {
		return all
	}
	keys := make([]string, len(all))
	for i, o := range all {
		keys[i], _ = cache.DeletionHandlingMetaNamespaceKeyFunc(object(o))
	}
	sort.Stable(byKey[T]{keys, all})
	return all
}

type byKey[T any] struct {
	keys []string
	all  []T
}

func (b byKey[T]) Len() int           { return len(b.all) }
func (b byKey[T]) Less(i, j int) bool { return b.keys[i] < b.keys[j] }
func (b byKey[T]) Swap(i, j int) {
	b.keys[i], b.keys[j] = b.keys[j], b.keys[i]
	b.all[i], b.all[j] = b.all[j], b.all[i]
}

// kindOf returns the group and kind of an informer's example object.
func kindOf(scheme *runtime.Scheme, obj runtime.Object) schema.GroupKind {
	if gvk := obj.GetObjectKind().GroupVersionKind(); gvk.Kind != "" {
		return gvk.GroupKind()
	}
	if scheme != nil {
		if kinds, _, err := scheme.ObjectKinds(obj); err == nil && len(kinds) > 0 {
			return kinds[0].GroupKind()
		}
	}
	return schema.GroupKind{}
}

// SetTransform implements cache.SharedInformer. The transformed object is the one that must not be
// changed.
func (i *informer) SetTransform(user cache.TransformFunc) error {
	return i.SharedIndexInformer.SetTransform(func(obj any) (any, error) {
		if user != nil {
			var err error
			if obj, err = user(obj); err != nil {
				return obj, err
			}
		}
		if o, ok := obj.(runtime.Object); ok {
			i.remember(o, i.kind.Group, i.kind.Kind)
		}
		return obj, nil
	})
}

// inspect compares everything that the cache holds, and forgets what it holds no longer.
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
