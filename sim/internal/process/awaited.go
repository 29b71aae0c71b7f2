package process

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// awaited is a cache whose callers, when they have waited for it, go on one at a time (see [Life.inTurn]).
//
// A manager does not wait for it when its life is over. It would do so in a loop without a pause (the select in
// manager/runnable_group.go, Start, goes round once its context is done), and the world would never go quiet.
type awaited struct {
	cache.Cache
	life *Life
}

// WaitForCacheSync implements cache.Informers. Whoever waits with a context of his own that is done is told so as ever.
func (c awaited) WaitForCacheSync(ctx context.Context) bool {
	defer c.life.inTurn("all")()
	until, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life.ctx, cancel)()
	return c.Cache.WaitForCacheSync(until) || ctx.Err() == nil && c.life.ctx.Err() != nil
}

// GetInformer implements cache.Informers.
func (c awaited) GetInformer(ctx context.Context, o client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	defer c.life.inTurn(fmt.Sprintf("%T", o))()
	return c.Cache.GetInformer(ctx, o, opts...)
}

// GetInformerForKind implements cache.Informers.
func (c awaited) GetInformerForKind(ctx context.Context, kind schema.GroupVersionKind, opts ...cache.InformerGetOption) (cache.Informer, error) {
	defer c.life.inTurn(kind.String())()
	return c.Cache.GetInformerForKind(ctx, kind, opts...)
}

// Get implements client.Reader.
func (c awaited) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	defer c.life.inTurn(fmt.Sprintf("%T %s", o, key))()
	return c.Cache.Get(ctx, key, o, opts...)
}

// List implements client.Reader.
func (c awaited) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	defer c.life.inTurn(fmt.Sprintf("%T", list))()
	return c.Cache.List(ctx, list, opts...)
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
