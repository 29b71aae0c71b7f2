// This file exists to count what no request shows: informers are shared, so a kind that is watched
// twice is listed once, and only its events are handled twice.

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

// watched counts the watches that the operator's present life has begun while it ran, by kind.
type watched struct {
	mu    sync.Mutex
	times map[string]int
}

// by is a life's manager, whose cache is asked once for each watch. The client has a cache of its
// own to ask.
func (c *watched) by(mgr ctrl.Manager) ctrl.Manager {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.times = map[string]int{}
	return watchedManager{mgr, c}
}

// count takes in a watch that began while the operator ran; those that it is set up with are of its
// own types.
func (c *watched) count(o client.Object) {
	if u, ok := o.(*unstructured.Unstructured); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.times[u.GetKind()]++
	}
}

type watchedManager struct {
	ctrl.Manager
	count *watched
}

// GetCache implements ctrl.Manager.
func (m watchedManager) GetCache() cache.Cache { return watchedCache{m.Manager.GetCache(), m.count} }

type watchedCache struct {
	cache.Cache
	count *watched
}

// GetInformer implements cache.Cache.
func (c watchedCache) GetInformer(ctx context.Context, o client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	informer, err := c.Cache.GetInformer(ctx, o, opts...)
	if err == nil {
		c.count.count(o)
	}
	return informer, err
}

// WatchedOnce (S0-T1): a life begins at most one watch of each kind.
func (s *Story) WatchedOnce(*history.History) error {
	s.watched.mu.Lock()
	defer s.watched.mu.Unlock()
	for _, kind := range slices.Sorted(maps.Keys(s.watched.times)) {
		if n := s.watched.times[kind]; n > 1 {
			return fmt.Errorf("the operator has begun %d watches of %s", n, kind)
		}
	}
	return nil
}

// StillWatched (S0-T1): the kinds of what is installed are watched.
func (s *Story) StillWatched(h *history.History) error {
	s.read(h)
	s.watched.mu.Lock()
	defer s.watched.mu.Unlock()
	for _, name := range s.order {
		a := s.accounts[name]
		var missing []string
		for _, ref := range a.holds {
			if a.says().installed() && s.watched.times[ref.Kind] == 0 {
				missing = append(missing, ref.Kind)
			}
		}
		if len(missing) > 0 {
			return fmt.Errorf("%s is installed, and the operator does not watch %s", name, slices.Min(missing))
		}
	}
	return nil
}
