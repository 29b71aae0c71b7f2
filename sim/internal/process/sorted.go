package process

import (
	"reflect"
	"sort"
	"strings"
	"time"
	"unsafe"

	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// This file is for caches that a program makes itself: cluster.New, or cache.New next to the
// manager's own. client-go lists what a cache holds in map order. The manager's cache has an
// informer that sorts (see newInformer) and a program's own has not. An operator that goes through
// such a list would send its requests in another order each time.
//
// The indexers are in unexported fields, so they are set through unsafe pointers.
// TestOwnCachesListInOrder fails when controller-runtime moves them. Lists then come in map order
// again, which doubled runs detect; nothing else breaks.

type informerMaker = func(
	toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers,
) toolscache.SharedIndexInformer

var (
	indexerType = reflect.TypeFor[toolscache.Indexer]()
	makerType   = reflect.TypeFor[informerMaker]()
)

// sortLists makes the cache that a program adds to its manager, alone or with its cluster, list by
// key.
func sortLists(r manager.Runnable) {
	switch r := r.(type) {
	case clusterRunnable:
		sortFields(reflect.ValueOf(r.GetCache()))
	case cache.Cache:
		sortFields(reflect.ValueOf(r))
	}
}

// sortFields replaces the indexers in controller-runtime's own structs, those that are there and
// those of future informers.
func sortFields(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			sortFields(v.Elem())
		}
		return
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			sortFields(entries.Value())
		}
		return
	case reflect.Struct:
	default:
		return
	}
	if !v.CanAddr() || !strings.HasPrefix(v.Type().PkgPath(), "sigs.k8s.io/controller-runtime/pkg/cache") {
		return
	}
	for i := range v.NumField() {
		f := v.Field(i)
		settable := reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
		switch f.Type() {
		case indexerType:
			if !f.IsNil() {
				settable.Set(reflect.ValueOf(sortedIndexer{settable.Interface().(toolscache.Indexer)}))
			}
		case makerType:
			if !f.IsNil() {
				inner := settable.Interface().(informerMaker)
				settable.Set(reflect.ValueOf(func(lw toolscache.ListerWatcher, o runtime.Object, d time.Duration,
					ix toolscache.Indexers,
				) toolscache.SharedIndexInformer {
					return sortedInformer{inner(lw, o, d, ix)}
				}))
			}
		default:
			sortFields(f)
		}
	}
}

// sortedInformer is an informer whose lists are sorted.
type sortedInformer struct{ toolscache.SharedIndexInformer }

func (s sortedInformer) GetIndexer() toolscache.Indexer {
	return sortedIndexer{s.SharedIndexInformer.GetIndexer()}
}

func (s sortedInformer) GetStore() toolscache.Store { return s.GetIndexer() }

// sortedIndexer lists by key.
type sortedIndexer struct{ toolscache.Indexer }

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
		keys[i], _ = toolscache.DeletionHandlingMetaNamespaceKeyFunc(object(o))
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
