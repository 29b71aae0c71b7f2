// This file watches applications of any kind in any cluster without their Go types. Their events
// become events of the pipelines that use them.

package promotion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

// The indices find the pipelines that have an application among their targets, and those with a
// target in a cluster.
const (
	appIndex     = ".spec.targets"
	clusterIndex = ".spec.clusters"
)

// place is what one cache is for: a kind of application in a cluster. No cluster is the operator's
// own.
type place struct {
	cluster types.NamespacedName
	gvk     schema.GroupVersionKind
}

// outlook is where the applications of one place are read.
type outlook struct {
	cached  cache.Cache
	live    client.Reader
	watched bool

	// kubeconfig is how another cluster is reached, end ends its cache. Unset for the operator's
	// own.
	kubeconfig []byte
	end        context.CancelFunc
}

// caches watches the applications: those of the operator's own cluster by the manager's cache,
// those of every other place by a cache that is made on first use.
type caches struct {
	cache cache.Cache
	live  client.Reader
	dial  func(kubeconfig []byte) (*rest.Config, error)
	// events has one for every pipeline of which an application has changed.
	events chan event.GenericEvent
	// lifetime ends with the manager. Informer handlers outlive the pass that registered them, so a
	// pass's context would not do.
	lifetime context.Context
	end      context.CancelFunc
	all      sync.WaitGroup // the caches of other clusters, and those who look after them

	mu       sync.Mutex // never held over a call to anything else
	outlooks map[place]*outlook
}

// newCaches prepares the indices and ties the handlers' life to the manager's.
func newCaches(mgr ctrl.Manager, dial func([]byte) (*rest.Config, error)) (*caches, error) {
	c := &caches{
		cache: mgr.GetCache(), live: mgr.GetAPIReader(), dial: dial,
		events: make(chan event.GenericEvent), outlooks: map[place]*outlook{},
	}
	c.lifetime, c.end = context.WithCancel(context.Background())
	err := errors.Join(c.index(appIndex, indexTargets), c.index(clusterIndex, indexClusters))
	if err != nil {
		c.end()
		return nil, err
	}
	return c, mgr.Add(c)
}

func (c *caches) index(name string, keys func(*v1alpha1.Pipeline) []string) error {
	err := c.cache.IndexField(c.lifetime, &v1alpha1.Pipeline{}, name, func(obj client.Object) []string {
		return keys(obj.(*v1alpha1.Pipeline))
	})
	if err != nil {
		return fmt.Errorf("indexing pipelines by %s: %w", name, err)
	}
	return nil
}

// Start implements manager.Runnable.
func (c *caches) Start(ctx context.Context) error {
	<-ctx.Done()
	c.end()
	c.all.Wait()
	return nil
}

// outlook is the one on a place, nil if there is none.
func (c *caches) outlook(at place) *outlook {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.cluster.Name == "" && c.outlooks[at] == nil {
		c.outlooks[at] = &outlook{cached: c.cache, live: c.live}
	}
	return c.outlooks[at]
}

// watch makes sure that the applications of a place are watched, and reports whether the cache has
// caught up with the server.
func (c *caches) watch(ctx context.Context, at place, o *outlook) (bool, error) {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(at.gvk)
	informer, err := o.cached.GetInformer(ctx, obj, cache.BlockUntilSynced(false))
	if err != nil {
		return false, err
	}
	if !c.setWatched(o, true) {
		wake := func(obj any) { c.wake(at, obj) }
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: wake, UpdateFunc: func(_, obj any) { wake(obj) }, DeleteFunc: wake,
		})
		if err != nil {
			c.setWatched(o, false)
		}
	}
	return informer.HasSynced(), err
}

// setWatched returns what it was before.
func (c *caches) setWatched(o *outlook, watched bool) (before bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, o.watched = o.watched, watched
	return before
}

// wake sends an event for every pipeline that has the object among its targets.
func (c *caches) wake(at place, obj any) {
	if gone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	app, ok := obj.(client.Object)
	if !ok {
		return
	}
	pipelines, err := c.pipelines(c.lifetime,
		client.MatchingFields{appIndex: at.key(app.GetNamespace(), app.GetName())})
	if err != nil {
		log.FromContext(c.lifetime).Error(err, "looking up the pipelines of an application")
		return
	}
	for i := range pipelines {
		select {
		case c.events <- event.GenericEvent{Object: &pipelines[i]}:
		case <-c.lifetime.Done():
			return
		}
	}
}

// pipelines lists the pipelines that the cache has, in the order of their names.
func (c *caches) pipelines(ctx context.Context, which ...client.ListOption) ([]v1alpha1.Pipeline, error) {
	var list v1alpha1.PipelineList
	if err := c.cache.List(ctx, &list, which...); err != nil {
		return nil, err
	}
	slices.SortFunc(list.Items, func(x, y v1alpha1.Pipeline) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	return list.Items, nil
}

// places lists where the applications of a pipeline are, target by target.
func places(pipeline *v1alpha1.Pipeline, visit func(at place, target v1alpha1.Target)) {
	gv, err := schema.ParseGroupVersion(pipeline.Spec.AppRef.APIVersion)
	if err != nil {
		return // such a pipeline has no targets that could be read
	}
	for _, env := range pipeline.Spec.Environments {
		for _, target := range env.Targets {
			visit(place{clusterOf(pipeline, target), gv.WithKind(pipeline.Spec.AppRef.Kind)}, target)
		}
	}
}

// indexTargets lists the applications that a pipeline looks at.
func indexTargets(pipeline *v1alpha1.Pipeline) (keys []string) {
	places(pipeline, func(at place, target v1alpha1.Target) {
		keys = append(keys, at.key(target.Namespace, pipeline.Spec.AppRef.Name))
	})
	return keys
}

// indexClusters lists the clusters that a pipeline has targets in, without the operator's own.
func indexClusters(pipeline *v1alpha1.Pipeline) (keys []string) {
	places(pipeline, func(at place, _ v1alpha1.Target) {
		if key := at.cluster.String(); at.cluster.Name != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	})
	return keys
}

func (at place) key(namespace, name string) string {
	return fmt.Sprintf("%s %s/%s %s/%s", at.cluster, at.gvk.GroupVersion(), at.gvk.Kind, namespace, name)
}
