package upstream

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
)

func init() { klog.SetLogger(logr.Discard()) }

// connected is what kube-controller-manager gives its controllers
// (cmd/kube-controller-manager/app).
type connected struct {
	client   kubernetes.Interface
	metadata metadata.Interface
	typed    informers.SharedInformerFactory
	untyped  metadatainformer.SharedInformerFactory
	cfg      *rest.Config
}

func connect(cfg *rest.Config) (*connected, error) {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	meta, err := metadata.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	return &connected{client, meta, informers.NewSharedInformerFactory(client, 0),
		metadatainformer.NewSharedInformerFactory(meta, 0), cfg}, nil
}

// start runs the informers that have been asked for; the function that it returns waits for their
// end.
func (c *connected) start(ctx context.Context) func() {
	c.typed.Start(ctx.Done())
	c.untyped.Start(ctx.Done())
	return func() { c.typed.Shutdown(); c.untyped.Shutdown() }
}

// namespaceController is newNamespaceController of core.go, with the defaults of its component
// config.
func namespaceController(ctx context.Context, cfg *rest.Config) error {
	c, err := connect(cfg)
	if err != nil {
		return err
	}
	n := namespace.NewNamespaceController(ctx, c.client, c.metadata,
		c.client.Discovery().ServerPreferredNamespacedResources,
		c.typed.Core().V1().Namespaces(), 5*time.Minute, corev1.FinalizerKubernetes)
	defer c.start(ctx)()
	n.Run(ctx, 10)
	return nil
}

// garbageCollector is newGarbageCollectorController of core.go, with the defaults of its component
// config.
func garbageCollector(ctx context.Context, cfg *rest.Config) error {
	c, err := connect(cfg)
	if err != nil {
		return err
	}
	started := make(chan struct{})
	close(started)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.client.Discovery()))
	g, err := garbagecollector.NewGarbageCollector(ctx, c.client, c.metadata, mapper,
		garbagecollector.DefaultIgnoredResources(),
		informerfactory.NewInformerFactory(c.typed, c.untyped), started)
	if err != nil {
		return err
	}
	defer c.start(ctx)()
	const period = 30 * time.Second
	var both sync.WaitGroup
	both.Go(func() { g.Run(ctx, 20, period) })
	both.Go(func() { g.Sync(ctx, c.client.Discovery(), period) })
	both.Wait()
	return nil
}
