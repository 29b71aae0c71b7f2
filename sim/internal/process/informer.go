package process

import (
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// newInformer makes client-go's own shared informer and wraps it only where its answers depend on luck:
//
//   - What its indexer lists is sorted by key; client-go lists in map order.
//   - Whether it and its handlers have synced is answered as of the last quiet moment. controller-runtime polls for that
//     every 100 ms, and a poll that fell into the stretch in which the first objects arrive would see one thing or the
//     other, depending on which goroutine ran first.
func (l *Life) newInformer(scheme *runtime.Scheme, lw cache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	if l.Process.settings.ListThenWatch {
		lw = plainLister{cache.ToListerWatcherWithContext(lw), lw}
	}
	kind := kindOf(scheme, obj)
	inner := cache.NewSharedIndexInformer(lw, obj, l.resync(kind, resync), indexers)
	in := &informer{SharedIndexInformer: inner, sorted: sortedIndexer{inner.GetIndexer()}, kind: kind, wake: l.world.Sched.Wake,
		originals: originals{life: l, known: map[string]original{}}}
	in.SetTransform(nil) //nolint:errcheck // it has not been started
	l.mu.Lock()
	l.informers = append(l.informers, in)
	l.mu.Unlock()
	return in
}

// plainLister makes a reflector list first and watch then, as client-go did by default before 0.35 and does where its
// feature WatchListClient is off.
type plainLister struct {
	cache.ListerWatcherWithContext
	cache.ListerWatcher
}

// IsWatchListSemanticsUnSupported is what client-go's reflector asks (util/watchlist).
func (plainLister) IsWatchListSemanticsUnSupported() bool { return true }

type informer struct {
	cache.SharedIndexInformer
	sorted sortedIndexer
	kind   schema.GroupKind
	synced atomic.Bool
	wake   func() // asks for a quiet moment
	originals

	mu       sync.Mutex
	handlers []*registration
}

// HasSynced implements cache.SharedInformer.
func (i *informer) HasSynced() bool { return i.synced.Load() }

// registration is a handler's registration whose HasSynced answers as of the last quiet moment.
type registration struct {
	cache.ResourceEventHandlerRegistration
	synced atomic.Bool
}

// HasSynced implements cache.ResourceEventHandlerRegistration.
func (r *registration) HasSynced() bool { return r.synced.Load() }

func (i *informer) register(r cache.ResourceEventHandlerRegistration, err error) (cache.ResourceEventHandlerRegistration, error) {
	if err != nil {
		return r, err
	}
	own := &registration{ResourceEventHandlerRegistration: r}
	i.mu.Lock()
	i.handlers = append(i.handlers, own)
	i.mu.Unlock()
	i.wake() // or nobody would look until something else happens
	return own, nil
}

// AddEventHandler implements cache.SharedInformer.
func (i *informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.register(i.SharedIndexInformer.AddEventHandler(h))
}

// AddEventHandlerWithResyncPeriod implements cache.SharedInformer.
func (i *informer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, d time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.register(i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(h, d))
}

// AddEventHandlerWithOptions implements cache.SharedInformer.
func (i *informer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.register(i.SharedIndexInformer.AddEventHandlerWithOptions(h, o))
}

// RemoveEventHandler implements cache.SharedInformer.
func (i *informer) RemoveEventHandler(r cache.ResourceEventHandlerRegistration) error {
	if own, ok := r.(*registration); ok {
		r = own.ResourceEventHandlerRegistration
	}
	return i.SharedIndexInformer.RemoveEventHandler(r)
}

// look takes note of what has synced. It is called when the bubble is quiet.
func (i *informer) look() {
	if !i.synced.Load() && i.SharedIndexInformer.HasSynced() {
		i.synced.Store(true)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	waiting := i.handlers[:0]
	for _, r := range i.handlers {
		if r.ResourceEventHandlerRegistration.HasSynced() {
			r.synced.Store(true)
		} else {
			waiting = append(waiting, r)
		}
	}
	i.handlers = waiting
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
