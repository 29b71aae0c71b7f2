package process

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// waitingCache is a cache whose callers, when they have waited for it, go on one at a time (see
// [turns.inTurn]).
//
// A manager does not wait for it when its incarnation is over. It would do so in a loop without a
// pause: the select in manager/runnable_group.go, Start, is always ready once its context is done.
// The world would never go quiet.
type waitingCache struct {
	cache.Cache
	turns *turns
	home  bool // it is of the cluster that the incarnation runs in
}

// WaitForCacheSync implements cache.Informers. If the caller's own context is done it returns false
// as ever.
func (w waitingCache) WaitForCacheSync(ctx context.Context) bool {
	defer w.turns.inTurn("all")()
	until, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.turns.ctx, cancel)()
	return w.Cache.WaitForCacheSync(until) || ctx.Err() == nil && w.turns.ctx.Err() != nil
}

func (w waitingCache) GetInformer(
	ctx context.Context, o client.Object, opts ...cache.InformerGetOption,
) (cache.Informer, error) {
	defer w.turns.inTurn(fmt.Sprintf("%T", o))()
	return w.Cache.GetInformer(ctx, o, opts...)
}

func (w waitingCache) GetInformerForKind(
	ctx context.Context, kind schema.GroupVersionKind, opts ...cache.InformerGetOption,
) (cache.Informer, error) {
	defer w.turns.inTurn(kind.String())()
	return w.Cache.GetInformerForKind(ctx, kind, opts...)
}

func (w waitingCache) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	w.turns.readers.noteRead(o)
	defer w.turns.inTurn(fmt.Sprintf("%T %s", o, key))()
	err := w.Cache.Get(ctx, key, o, opts...)
	if w.home {
		w.turns.noteMissing(key, err)
	}
	return err
}

func (w waitingCache) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	w.turns.readers.noteRead(list)
	defer w.turns.inTurn(fmt.Sprintf("%T", list))()
	return w.Cache.List(ctx, list, opts...)
}

// clusterRunnable is what a manager knows a cluster.Cluster by.
type clusterRunnable interface {
	manager.Runnable
	GetCache() cache.Cache
}

// otherCluster is another cluster that an operator has added to its manager.
type otherCluster struct {
	clusterRunnable
	turns *turns
	n     int // of the runnables that were added
}

func (o otherCluster) Start(ctx context.Context) error {
	o.turns.startInTurn(o.n)
	return o.clusterRunnable.Start(ctx)
}

func (o otherCluster) GetCache() cache.Cache {
	return waitingCache{o.clusterRunnable.GetCache(), o.turns, false}
}
