package process

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
