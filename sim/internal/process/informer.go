package process

import (
	"context"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/wavetank/wavetank/internal/versions"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// newInformer makes client-go's own shared informer and wraps it where its answers depend on the
// order of goroutines or maps:
//
//   - Its indexer lists by key; client-go lists in map order. Its handlers get in key order what
//     client-go goes through in map order (see [orderedHandler]).
//   - Whether it and its handlers have synced is answered as of the last quiet moment.
//     controller-runtime polls for that every 100 ms. A poll in the phase in which the first
//     objects arrive would see one or the other, depending on which goroutine ran first.
func (i *Incarnation) newInformer(
	scheme *runtime.Scheme, lw cache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers cache.Indexers,
) cache.SharedIndexInformer {
	kind := kindOf(scheme, obj)
	in := &informer{kind: kind, wake: i.world.Sched.Wake, spawn: i.spawn,
		mutationDetector: mutationDetector{incarnation: i, known: map[string]cachedObject{}}}
	if plain, ok := lw.(*cache.ListWatch); ok {
		_, loose := obj.(runtime.Unstructured)
		lw = in.marked(plain, loose)
	}
	if i.Process.settings.ListThenWatch {
		lw = plainLister{cache.ToListerWatcherWithContext(lw), lw}
	}
	in.SharedIndexInformer = cache.NewSharedIndexInformer(lw, obj, i.resync(kind, resync), indexers)
	in.sorted = sortedIndexer{in.SharedIndexInformer.GetIndexer()}
	in.synced = newSyncState(kind.String())
	in.SetTransform(nil) //nolint:errcheck // it has not been started
	i.mu.Lock()
	i.informers = append(i.informers, in)
	over := i.released
	i.mu.Unlock()
	if over {
		in.end()
	}
	return versions.WithChecker(in)
}

// marked marks the requests of an informer: what it lists is sorted, and its objects are
// unstructured or not. An informer of Go's types beside it sends the same requests. It also notes
// when all objects are requested.
func (i *informer) marked(lw *cache.ListWatch, unstructured bool) *cache.ListWatch {
	list, watching, out := lw.ListWithContextFunc, lw.WatchFuncWithContext, *lw
	if list == nil || watching == nil {
		return lw
	}
	mark := func(ctx context.Context) context.Context {
		if unstructured {
			ctx = wire.WithVariant(ctx, "unstructured")
		}
		return wire.WithSortedInformer(ctx)
	}
	out.ListWithContextFunc = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		i.replacing.Store(true)
		return list(mark(ctx), o)
	}
	out.WatchFuncWithContext = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		if o.SendInitialEvents != nil && *o.SendInitialEvents {
			i.replacing.Store(true)
		}
		return watching(mark(ctx), o)
	}
	return &out
}

// plainLister makes a reflector list first and watch then, as client-go did by default before 0.35
// and does where its feature WatchListClient is off.
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

func (i *informer) register(
	h *orderedHandler, r cache.ResourceEventHandlerRegistration,
) cache.ResourceEventHandlerRegistration {
	own := &registration{ResourceEventHandlerRegistration: r, handler: h, synced: newSyncState(i.kind.String())}
	own.given = versions.RegistrationWithChecker(own)
	i.mu.Lock()
	i.handlers = append(i.handlers, own)
	over := i.over
	i.mu.Unlock()
	if over {
		own.synced.end()
	}
	i.wake() // or the informer would not look before something else happens
	return own.given
}

// AddEventHandler implements cache.SharedInformer.
func (i *informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	o := i.ordered(h)
	r, err := i.SharedIndexInformer.AddEventHandler(o)
	if err != nil {
		return r, err
	}
	return i.register(o, r), nil
}

// AddEventHandlerWithResyncPeriod implements cache.SharedInformer.
func (i *informer) AddEventHandlerWithResyncPeriod(
	h cache.ResourceEventHandler, d time.Duration,
) (cache.ResourceEventHandlerRegistration, error) {
	o := i.ordered(h)
	r, err := i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(o, d)
	if err != nil {
		return r, err
	}
	return i.register(o, r), nil
}

// AddEventHandlerWithOptions implements cache.SharedInformer.
func (i *informer) AddEventHandlerWithOptions(
	h cache.ResourceEventHandler, opts cache.HandlerOptions,
) (cache.ResourceEventHandlerRegistration, error) {
	o := i.ordered(h)
	r, err := i.SharedIndexInformer.AddEventHandlerWithOptions(o, opts)
	if err != nil {
		return r, err
	}
	return i.register(o, r), nil
}

// RemoveEventHandler implements cache.SharedInformer.
func (i *informer) RemoveEventHandler(r cache.ResourceEventHandlerRegistration) error {
	i.mu.Lock()
	if at := slices.IndexFunc(i.handlers, func(h *registration) bool { return h.given == r }); at >= 0 {
		r = i.handlers[at].ResourceEventHandlerRegistration
		i.handlers = slices.Delete(i.handlers, at, at+1)
	}
	i.mu.Unlock()
	return i.SharedIndexInformer.RemoveEventHandler(r)
}

// onQuiet releases the notifications that handlers wait for, and notes what has synced. It is
// called when the bubble is quiet, and reports whether a goroutine can go on because of that.
func (i *informer) onQuiet() (woke bool) {
	if !i.synced.is.Load() && i.SharedIndexInformer.HasSynced() {
		woke = i.synced.set()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, r := range i.handlers {
		if r.handler.release() {
			woke = true
			i.replacing.Store(false)
		}
		if !r.synced.is.Load() && !r.handler.behind() && r.ResourceEventHandlerRegistration.HasSynced() {
			woke = r.synced.set() || woke
		}
	}
	return woke
}

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
