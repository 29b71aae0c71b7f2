package process

import (
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// newInformer makes client-go's own shared informer and wraps it only where it answers in map order: what its indexer
// lists is sorted by key, so that a cached List gives the same order in every run of one seed.
func (l *Life) newInformer(scheme *runtime.Scheme, lw cache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	inner := cache.NewSharedIndexInformer(lw, obj, resync, indexers)
	in := &informer{SharedIndexInformer: inner, sorted: sortedIndexer{inner.GetIndexer()}, kind: kindOf(scheme, obj)}
	l.mu.Lock()
	l.informers = append(l.informers, in)
	l.mu.Unlock()
	return in
}

type informer struct {
	cache.SharedIndexInformer
	sorted sortedIndexer
	kind   schema.GroupKind
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

func sortByKey(objs []any) []any {
	if len(objs) < 2 {
		return objs
	}
	keys := make(map[any]string, len(objs))
	for _, o := range objs {
		keys[o], _ = cache.DeletionHandlingMetaNamespaceKeyFunc(o)
	}
	sort.SliceStable(objs, func(i, j int) bool { return keys[objs[i]] < keys[objs[j]] })
	return objs
}
