package process

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// awaited is a cache for which a manager does not wait when its life is over. It would do so in a loop without a pause (the
// select in manager/runnable_group.go, Start, goes round once its context is done), and the world would never go quiet.
type awaited struct {
	cache.Cache
	life *Life
}

// WaitForCacheSync implements cache.Informers. Whoever waits with a context of his own that is done is told so as ever.
func (c awaited) WaitForCacheSync(ctx context.Context) bool {
	until, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life.ctx, cancel)()
	return c.Cache.WaitForCacheSync(until) || ctx.Err() == nil && c.life.ctx.Err() != nil
}

// caching is what a manager tells a cluster.Cluster by.
type caching interface {
	manager.Runnable
	GetCache() cache.Cache
}

// foreign is another cluster that an operator has added to its manager.
type foreign struct {
	caching
	life *Life
}

// GetCache implements caching.
func (f foreign) GetCache() cache.Cache { return awaited{f.caching.GetCache(), f.life} }
