package process

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/wavetank/wavetank/history"
)

// waitingCache is a cache whose callers, when they have waited for it, go on one at a time (see
// [Incarnation.inTurn]).
//
// A manager does not wait for it when its incarnation is over. It would do so in a loop without a
// pause: the select in manager/runnable_group.go, Start, is always ready once its context is done.
// The world would never go quiet.
type waitingCache struct {
	cache.Cache
	incarnation *Incarnation
	home        bool // it is of the cluster that the incarnation runs in
}

// WaitForCacheSync implements cache.Informers. If the caller's own context is done it returns false
// as ever.
func (w waitingCache) WaitForCacheSync(ctx context.Context) bool {
	defer w.incarnation.inTurn("all")()
	until, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.incarnation.ctx, cancel)()
	return w.Cache.WaitForCacheSync(until) || ctx.Err() == nil && w.incarnation.ctx.Err() != nil
}

// GetInformer implements cache.Informers.
func (w waitingCache) GetInformer(
	ctx context.Context, o client.Object, opts ...cache.InformerGetOption,
) (cache.Informer, error) {
	defer w.incarnation.inTurn(fmt.Sprintf("%T", o))()
	return w.Cache.GetInformer(ctx, o, opts...)
}

// GetInformerForKind implements cache.Informers.
func (w waitingCache) GetInformerForKind(
	ctx context.Context, kind schema.GroupVersionKind, opts ...cache.InformerGetOption,
) (cache.Informer, error) {
	defer w.incarnation.inTurn(kind.String())()
	return w.Cache.GetInformerForKind(ctx, kind, opts...)
}

// Get implements client.Reader.
func (w waitingCache) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	w.incarnation.noteRead(o)
	defer w.incarnation.inTurn(fmt.Sprintf("%T %s", o, key))()
	err := w.Cache.Get(ctx, key, o, opts...)
	if w.home {
		w.incarnation.world.noteMissing(key, err)
	}
	return err
}

// noteMissing remembers what a cache was asked for and did not have. The error says of which kind
// it is.
func (s *Supervisor) noteMissing(key client.ObjectKey, err error) {
	var said apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &said) || said.Status().Details == nil {
		return
	}
	of := said.Status().Details
	s.missing.Store(history.Ref{Group: of.Group, Kind: of.Kind, Namespace: key.Namespace, Name: key.Name}, true)
}

// Missing are the objects that caches were asked for and did not have, in order.
func (s *Supervisor) Missing() (out []history.Ref) {
	s.missing.Range(func(ref, _ any) bool {
		out = append(out, ref.(history.Ref))
		return true
	})
	slices.SortFunc(out, history.Ref.Compare)
	return out
}

// List implements client.Reader.
func (w waitingCache) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	w.incarnation.noteRead(list)
	defer w.incarnation.inTurn(fmt.Sprintf("%T", list))()
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
	incarnation *Incarnation
	n           int // of the runnables that were added
}

// Start implements manager.Runnable.
func (o otherCluster) Start(ctx context.Context) error {
	o.incarnation.startInTurn(o.n)
	return o.clusterRunnable.Start(ctx)
}

// GetCache implements clusterRunnable.
func (o otherCluster) GetCache() cache.Cache {
	return waitingCache{o.clusterRunnable.GetCache(), o.incarnation, false}
}
