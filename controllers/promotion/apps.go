// This file exists to watch applications of any kind without knowing their Go types. An informer for a kind is created
// when the first pipeline asks for that kind; what it sees is turned into events for the pipelines that use the object,
// and reaches the controller's queue through a channel.

package promotion

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

// appIndex finds the pipelines that have an application among their targets.
const appIndex = ".spec.targets"

// apps watches the applications of the local cluster.
type apps struct {
	cache  cache.Cache
	events chan event.GenericEvent
	// life ends with the manager. Informer handlers outlive the pass that registered them, so a pass's context
	// would not do.
	life context.Context
	end  context.CancelFunc

	mu      sync.Mutex
	watched map[schema.GroupVersionKind]bool
}

// newApps prepares the index and ties the handlers' life to the manager's.
func newApps(mgr ctrl.Manager) (*apps, error) {
	a := &apps{
		cache:   mgr.GetCache(),
		events:  make(chan event.GenericEvent),
		watched: map[schema.GroupVersionKind]bool{},
	}
	a.life, a.end = context.WithCancel(context.Background())
	if err := mgr.GetCache().IndexField(a.life, &v1alpha1.Pipeline{}, appIndex, indexTargets); err != nil {
		return nil, fmt.Errorf("indexing pipelines by their targets: %w", err)
	}
	return a, mgr.Add(a)
}

// Start implements manager.Runnable.
func (a *apps) Start(ctx context.Context) error {
	<-ctx.Done()
	a.end()
	return nil
}

// watch makes sure that a kind is watched and says whether its informer has caught up with the server.
func (a *apps) watch(ctx context.Context, gvk schema.GroupVersionKind) (bool, error) {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(gvk)
	informer, err := a.cache.GetInformer(ctx, obj, cache.BlockUntilSynced(false))
	if err != nil {
		return false, err
	}
	if a.claim(gvk) {
		_, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    a.wake,
			UpdateFunc: func(_, obj any) { a.wake(obj) },
			DeleteFunc: a.wake,
		})
		if err != nil {
			a.disclaim(gvk)
			return false, err
		}
	}
	return informer.HasSynced(), nil
}

// claim reports whether the caller is the first to ask for a kind. The lock is never held over a call to anything else.
func (a *apps) claim(gvk schema.GroupVersionKind) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	first := !a.watched[gvk]
	a.watched[gvk] = true
	return first
}

func (a *apps) disclaim(gvk schema.GroupVersionKind) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.watched, gvk)
}

// wake sends an event for every pipeline that has the object among its targets, in the order of their names.
func (a *apps) wake(obj any) {
	if gone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	app, ok := obj.(client.Object)
	if !ok {
		return
	}
	var pipelines v1alpha1.PipelineList
	key := indexKey(app.GetObjectKind().GroupVersionKind(), app.GetNamespace(), app.GetName())
	if err := a.cache.List(a.life, &pipelines, client.MatchingFields{appIndex: key}); err != nil {
		log.FromContext(a.life).Error(err, "looking up the pipelines of an application", "application", key)
		return
	}
	slices.SortFunc(pipelines.Items, func(x, y v1alpha1.Pipeline) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	for i := range pipelines.Items {
		select {
		case a.events <- event.GenericEvent{Object: &pipelines.Items[i]}:
		case <-a.life.Done():
			return
		}
	}
}

// indexTargets lists the applications that a pipeline looks at.
func indexTargets(obj client.Object) []string {
	pipeline, ok := obj.(*v1alpha1.Pipeline)
	if !ok {
		return nil
	}
	gv, err := schema.ParseGroupVersion(pipeline.Spec.AppRef.APIVersion)
	if err != nil {
		return nil // such a pipeline has no targets that could be read
	}
	var keys []string
	for _, env := range pipeline.Spec.Environments {
		for _, target := range env.Targets {
			if target.ClusterRef == nil {
				keys = append(keys, indexKey(gv.WithKind(pipeline.Spec.AppRef.Kind), target.Namespace, pipeline.Spec.AppRef.Name))
			}
		}
	}
	return keys
}

func indexKey(gvk schema.GroupVersionKind, namespace, name string) string {
	return gvk.GroupVersion().String() + "/" + gvk.Kind + " " + namespace + "/" + name
}
