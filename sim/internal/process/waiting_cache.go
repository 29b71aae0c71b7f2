package process

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// waitingCache is a cache whose callers, when they have waited for it, continue one at a time (see
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
		w.noteRead(ctx, o, key, err)
	}
	return err
}

func (w waitingCache) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	w.turns.readers.noteRead(list)
	defer w.turns.inTurn(fmt.Sprintf("%T", list))()
	err := w.Cache.List(ctx, list, opts...)
	if w.home {
		of := client.ListOptions{}
		w.noteRead(ctx, list, client.ObjectKey{Namespace: of.ApplyOptions(opts).Namespace}, err)
	}
	return err
}

// noteRead notes a read of a reconcile.
func (w waitingCache) noteRead(ctx context.Context, o runtime.Object, key client.ObjectKey, err error) {
	wire.AddRead(ctx, func() history.Read {
		r := history.Read{Step: w.turns.Sched.Steps(),
			Ref: history.Ref{Kind: kindName(o), Namespace: key.Namespace, Name: key.Name}}
		switch {
		case err != nil:
		case key.Name != "":
			r.Found = 1
		default:
			r.Found = meta.LenList(o)
		}
		return r
	})
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
