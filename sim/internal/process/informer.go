package process

import (
	"context"
	"slices"
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

type informer struct {
	cache.SharedIndexInformer
	sorted  sortedIndexer
	kind    schema.GroupKind
	waiters *waiters
	synced  *syncState
	// receiver takes the objects of its watches; nil if client-go decodes them.
	receiver *wire.Receiver
	// replacing is set when all objects are requested, until their notifications have come.
	replacing atomic.Bool
	mutationDetector

	mu       sync.Mutex
	handlers []*registration
	over     bool // with its incarnation
}

func (i *informer) HasSynced() bool               { return i.synced.is.Load() }
func (i *informer) Checker() versions.DoneChecker { return i.synced.checker() }

// registration is a handler's registration whose HasSynced answers as of the last quiet moment.
type registration struct {
	cache.ResourceEventHandlerRegistration
	handler *orderedHandler
	synced  *syncState
	given   cache.ResourceEventHandlerRegistration // what the program knows it as
}

func (r *registration) HasSynced() bool               { return r.synced.is.Load() }
func (r *registration) Checker() versions.DoneChecker { return r.synced.checker() }

// end resumes the goroutines that wait for a sync that will not come any more.
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

// SetTransform implements cache.SharedInformer. The transformed object is the one that must not be
// changed.
func (i *informer) SetTransform(user cache.TransformFunc) error {
	return i.SharedIndexInformer.SetTransform(func(obj any) (any, error) {
		var p wire.Passed
		if o, ok := obj.(runtime.Object); ok {
			if p, ok = i.receiver.Take(o); ok {
				obj = p.Object
			}
		}
		if user != nil {
			var err error
			if obj, err = user(obj); err != nil {
				return obj, err
			}
			p = wire.Passed{} // it may have been transformed in place
		}
		if o, ok := obj.(runtime.Object); ok {
			i.remember(o, p, i.kind.Group, i.kind.Kind)
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

// register adds a handler that gets its notifications in order.
func (i *informer) register(
	h cache.ResourceEventHandler,
	add func(cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error),
) (cache.ResourceEventHandlerRegistration, error) {
	ordered := &orderedHandler{ResourceEventHandler: h, waiters: i.waiters, replacing: &i.replacing}
	r, err := add(ordered)
	if err != nil {
		return r, err
	}
	own := &registration{ResourceEventHandlerRegistration: r, handler: ordered, synced: newSyncState(i.kind.String())}
	own.given = versions.RegistrationWithChecker(own)
	i.mu.Lock()
	i.handlers = append(i.handlers, own)
	over := i.over
	i.mu.Unlock()
	if over {
		own.synced.end()
	}
	i.waiters.Sched.Wake() // or the informer would not look before something else happens
	return own.given, nil
}

func (i *informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.register(h, i.SharedIndexInformer.AddEventHandler)
}

func (i *informer) AddEventHandlerWithResyncPeriod(
	h cache.ResourceEventHandler, d time.Duration,
) (cache.ResourceEventHandlerRegistration, error) {
	return i.register(h, func(o cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
		return i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(o, d)
	})
}

func (i *informer) AddEventHandlerWithOptions(
	h cache.ResourceEventHandler, opts cache.HandlerOptions,
) (cache.ResourceEventHandlerRegistration, error) {
	return i.register(h, func(o cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
		return i.SharedIndexInformer.AddEventHandlerWithOptions(o, opts)
	})
}

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
// called when the bubble is quiet, and reports whether that made a goroutine runnable.
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

// marked marks the requests of an informer: what it lists is sorted, and its objects are
// unstructured or not. An informer of Go's types next to it sends the same requests. It also notes
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
		if ctx = mark(ctx); i.receiver != nil {
			ctx = wire.WithReceiver(ctx, i.receiver)
		}
		return watching(ctx, o)
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

// syncState reports whether an informer or a handler had synced at the last quiet moment.
//
// Its channel also closes when the incarnation is over. controller-runtime's caches of several
// namespaces wait for it without a context: in production the end of the process ends that wait.
type syncState struct {
	name   string
	is     atomic.Bool
	asked  atomic.Bool // a goroutine may wait for the channel
	done   chan struct{}
	closed sync.Once
}

func newSyncState(name string) *syncState {
	return &syncState{name: name, done: make(chan struct{})}
}

// checker is for those who wait for the channel.
func (s *syncState) checker() versions.DoneChecker {
	s.asked.Store(true)
	return s
}

func (s *syncState) Name() string          { return s.name }
func (s *syncState) Done() <-chan struct{} { return s.done }

// set notes that it has synced. It reports whether that may have made a goroutine runnable.
func (s *syncState) set() (woke bool) {
	s.is.Store(true)
	s.end()
	return s.asked.Load()
}

// end resumes the goroutines that wait.
func (s *syncState) end() { s.closed.Do(func() { close(s.done) }) }
