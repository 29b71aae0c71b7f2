// This file counts what no request shows: informers are shared, so a kind that is watched twice is
// listed once, and only its events are handled twice.

package bundledeployment

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
)

// watches counts by kind the watches that the present incarnation of the operator has begun while
// it ran; those that it is set up with are of its own types.
type watches struct {
	mu    sync.Mutex
	begun map[string]int
}

// of wraps the manager of a new incarnation, whose cache is asked once for each watch. The client
// has a cache of its own to ask.
func (w *watches) of(mgr ctrl.Manager) ctrl.Manager {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun = map[string]int{}
	return watchedManager{mgr, w}
}

type watchedManager struct {
	ctrl.Manager
	watches *watches
}

// GetCache implements ctrl.Manager.
func (m watchedManager) GetCache() cache.Cache { return watchedCache{m.Manager.GetCache(), m.watches} }

type watchedCache struct {
	cache.Cache
	watches *watches
}

// GetInformer implements cache.Cache.
func (c watchedCache) GetInformer(
	ctx context.Context, o client.Object, opts ...cache.InformerGetOption,
) (cache.Informer, error) {
	informer, err := c.Cache.GetInformer(ctx, o, opts...)
	if u, ok := o.(*unstructured.Unstructured); ok && err == nil {
		c.watches.mu.Lock()
		defer c.watches.mu.Unlock()
		c.watches.begun[u.GetKind()]++
	}
	return informer, err
}

// WatchedOnce (S0-T1): an incarnation begins at most one watch of each kind.
func (w *World) WatchedOnce(*history.History) error {
	w.watches.mu.Lock()
	defer w.watches.mu.Unlock()
	for _, kind := range slices.Sorted(maps.Keys(w.watches.begun)) {
		if n := w.watches.begun[kind]; n > 1 {
			return fmt.Errorf("the operator has begun %d watches of %s", n, kind)
		}
	}
	return nil
}

// StillWatched (S0-T1): the kinds of what is installed are watched.
func (w *World) StillWatched(h *history.History) error {
	w.read(h)
	w.watches.mu.Lock()
	defer w.watches.mu.Unlock()
	for _, name := range w.names() {
		for o := range w.installedFor(name) {
			if isTrue(w.says(name)) && o.Exists() && w.watches.begun[o.Ref.Kind] == 0 {
				return fmt.Errorf("%s is installed, and the operator does not watch %s", name, o.Ref.Kind)
			}
		}
	}
	return nil
}
