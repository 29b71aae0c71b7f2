package process

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/versions"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// caches are the informers of an incarnation's managers.
type caches struct {
	*waiters
	turns         *turns
	listThenWatch bool // see [Settings]

	mu        sync.Mutex
	informers []*informer
	resyncs   map[schema.GroupKind]time.Duration // if there are caches of several namespaces: see resync
	over      bool                               // with the incarnation
}

func (c *caches) all() []*informer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.informers
}

// newInformer makes client-go's own shared informer and wraps it where its answers depend on the
// order of goroutines or maps:
//
//   - Its indexer lists by key; client-go lists in map order. Its handlers get in key order what
//     client-go goes through in map order (see [orderedHandler]).
//   - Whether it and its handlers have synced is answered as of the last quiet moment.
//     controller-runtime polls for that every 100 ms. A poll in the phase in which the first
//     objects arrive would see one or the other, depending on which goroutine ran first.
func (c *caches) newInformer(
	scheme *runtime.Scheme,
	lw toolscache.ListerWatcher,
	obj runtime.Object,
	resync time.Duration,
	indexers toolscache.Indexers,
	receiver *wire.Receiver,
) toolscache.SharedIndexInformer {
	kind := kindOf(scheme, obj)
	in := &informer{kind: kind, waiters: c.waiters, receiver: receiver,
		mutationDetector: mutationDetector{core: c.core, known: map[string]cachedObject{}}}
	if plain, ok := lw.(*toolscache.ListWatch); ok {
		_, loose := obj.(runtime.Unstructured)
		lw = in.marked(plain, loose)
	}
	if c.listThenWatch {
		lw = plainLister{toolscache.ToListerWatcherWithContext(lw), lw}
	}
	in.SharedIndexInformer = toolscache.NewSharedIndexInformer(lw, obj, c.resync(kind, resync), indexers)
	in.sorted = sortedIndexer{in.SharedIndexInformer.GetIndexer()}
	in.synced = newSyncState(kind.String())
	in.SetTransform(nil) //nolint:errcheck // it has not been started
	c.mu.Lock()
	c.informers = append(c.informers, in)
	over := c.over
	c.mu.Unlock()
	if over {
		in.end()
	}
	return versions.WithChecker(in)
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

// inOrder makes caches of several namespaces do the same in each run.
func (c *caches) inOrder(create cache.NewCacheFunc) cache.NewCacheFunc {
	if create == nil {
		create = cache.New
	}
	return func(cfg *rest.Config, o cache.Options) (cache.Cache, error) {
		made, err := create(cfg, o)
		several := len(o.DefaultNamespaces) > 1
		for _, by := range o.ByObject {
			several = several || len(by.Namespaces) > 1
		}
		if err != nil {
			return nil, err
		}
		if !several {
			return waitingCache{made, c.turns, true}, nil
		}
		c.mu.Lock()
		c.resyncs = map[schema.GroupKind]time.Duration{}
		c.mu.Unlock()
		return waitingCache{cachesInOrder{made, o.Scheme, o.ReaderFailOnMissingInformer}, c.turns, true}, nil
	}
}

// resync is the resync period of the informers of a kind, with the jitter that the first of them
// drew. Which of several draws first is not decided by the harness.
func (c *caches) resync(kind schema.GroupKind, drawn time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resyncs == nil {
		return drawn
	}
	if _, known := c.resyncs[kind]; !known {
		c.resyncs[kind] = drawn
	}
	return c.resyncs[kind]
}

// flush is called at each quiet moment. It reports whether a goroutine can continue because of it.
func (c *caches) flush() (woke bool) {
	for _, in := range c.all() {
		woke = in.onQuiet() || woke
	}
	return woke
}

// release ends what begins to wait for a sync from now on. It returns the informers so far.
func (c *caches) release() []*informer {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	return c.informers
}

// inspect looks for objects that were changed in place, and forgets all objects of a dead
// incarnation.
func (c *caches) inspect() {
	for _, in := range c.all() {
		if c.Port.Dead() {
			in.forget()
		} else {
			in.inspect()
		}
	}
}

// missingWatch says which informer has no open watch; "" when all have one.
func (c *caches) missingWatch() string {
	need := map[schema.GroupKind]int{}
	for _, in := range c.all() {
		if !in.IsStopped() {
			need[in.kind]++
		}
	}
	for _, stream := range c.Wire.Watches.Streams() {
		// An operator's own caches of other clusters are not among the informers.
		if stream.Port == c.Port && stream.Call.Cluster == "" {
			need[schema.GroupKind{Group: stream.Call.Info.Group, Kind: stream.Kind}]--
		}
	}
	for _, in := range c.all() {
		if need[in.kind] > 0 {
			return fmt.Sprintf(
				"%s's informer for %s has no watch, its reflector is backing off",
				c.Name(),
				in.kind.Kind,
			)
		}
	}
	return ""
}

// versionsSeen returns the objects with the key's name of which a cache holds another version than
// the server. If several caches hold an object, the oldest version counts.
func (c *caches) versionsSeen(item request) []history.Seen {
	if c.InChild {
		return nil // the history is in another process
	}
	held := map[history.Ref]int64{}
	for _, in := range c.all() {
		ref := history.Ref{Group: in.kind.Group, Kind: in.kind.Kind, Namespace: item.Namespace, Name: item.Name}
		held[ref] += 0 // it is asked about
		if obj, ok, _ := in.sorted.GetByKey(strings.TrimPrefix(item.String(), "/")); ok {
			if m, err := meta.Accessor(obj); err == nil {
				revision, _ := strconv.ParseInt(m.GetResourceVersion(), 10, 64)
				if known := held[ref]; known == 0 || revision < known {
					held[ref] = revision
				}
			}
		}
	}
	var out []history.Seen
	for ref, revision := range held {
		s := history.Seen{Ref: ref, Cache: revision}
		o, there := c.History.Object(ref.Group, ref.Kind, ref.Namespace, ref.Name)
		if there {
			s.Server = o.Revision
		}
		if s.Cache != s.Server && (s.Cache != 0 || c.covers(ref, o)) {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b history.Seen) int { return a.Ref.Compare(b.Ref) })
	return out
}

// covers reports whether the incarnation watches an object, as far as its open watches tell: caches
// may be of some namespaces, or of objects with some labels.
func (c *caches) covers(ref history.Ref, o history.Object) bool {
	var m *metav1.PartialObjectMetadata
	known := false
	for _, s := range c.Wire.Watches.Streams() {
		if info := s.Call.Info; s.Port != c.Port || s.Kind != ref.Kind || info.Group != ref.Group {
			continue
		}
		if known = true; m == nil {
			m = &metav1.PartialObjectMetadata{}
			if o.Into(m) != nil {
				return true
			}
		}
		if selects(s.Call, m) {
			return true
		}
	}
	return !known
}

// selects reports whether a watch is of an object, by its namespace, labels and name.
func selects(watch *wire.Call, m *metav1.PartialObjectMetadata) bool {
	if ns := watch.Info.Namespace; ns != "" && ns != m.Namespace {
		return false
	}
	query := watch.Request.URL.Query()
	if s, err := labels.Parse(query.Get("labelSelector")); err == nil && !s.Matches(labels.Set(m.Labels)) {
		return false
	}
	s, err := fields.ParseSelector(query.Get("fieldSelector"))
	if err != nil {
		return true
	}
	known := map[string]string{"metadata.name": m.Name, "metadata.namespace": m.Namespace}
	for _, r := range s.Requirements() {
		value, ok := known[r.Field]
		equals := r.Operator == "=" || r.Operator == "=="
		if ok && (value == r.Value) != equals {
			return false
		}
	}
	return true
}
