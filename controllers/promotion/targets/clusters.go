// This file is about targets in other clusters: a target names a GitopsCluster, which names a
// Secret, which holds a kubeconfig. Each kind of application in each such cluster has a cache of
// its own, which is made on first use, is not in sync at first, and ends when no pipeline needs it
// any more.

package targets

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

// GitopsCluster is the kind that stands for a cluster. Its spec.secretRef.name is a Secret in its
// namespace, whose key "kubeconfig" says how to reach it; it is to be used only while its Ready
// condition is true.
var GitopsCluster = schema.GroupVersionKind{Group: "gitops.weave.works", Version: "v1alpha1", Kind: "GitopsCluster"}

// A cache that may not be needed any more is looked at after firstLook, and after twice as long
// each time up to lastLook.
const (
	firstLook = 2 * time.Second
	lastLook  = 512 * time.Second
)

// NewGitopsCluster is an empty one.
func NewGitopsCluster() *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(GitopsCluster)
	return obj
}

// clusterOf is the cluster that a target names; the zero value is the operator's own.
func clusterOf(pipeline *v1alpha1.Pipeline, target v1alpha1.Target) types.NamespacedName {
	ref := target.ClusterRef
	switch {
	case ref == nil:
		return types.NamespacedName{}
	case ref.Namespace == "":
		return types.NamespacedName{Namespace: pipeline.Namespace, Name: ref.Name}
	}
	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
}

func secretOf(cluster *unstructured.Unstructured) string {
	name, _, _ := unstructured.NestedString(cluster.Object, "spec", "secretRef", "name")
	return name
}

// connect makes the cache of a place, in the stead of the one that there is, if any.
func (a *Caches) connect(at place, kubeconfig []byte) (*outlook, error) {
	cfg, err := a.dial(kubeconfig)
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme() // applications are read without Go types
	live, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	cached, err := cache.New(cfg, cache.Options{Scheme: scheme, Mapper: live.RESTMapper()})
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(a.lifetime)
	o := &outlook{cached: cached, live: live, kubeconfig: kubeconfig, end: end}
	a.mu.Lock()
	before := a.outlooks[at]
	a.outlooks[at] = o
	a.mu.Unlock()
	if before != nil {
		before.end()
	}
	a.all.Go(func() {
		if err := cached.Start(ctx); err != nil {
			log.FromContext(ctx).Error(err, "a cache has ended", "cluster", at.cluster)
		}
	})
	a.all.Go(func() { a.collect(ctx, at, o) })
	return o, nil
}

// collect ends a cache when no pipeline needs it any more.
func (a *Caches) collect(ctx context.Context, at place, o *outlook) {
	for wait := firstLook; ; wait = min(2*wait, lastLook) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		if !a.needed(at) {
			a.mu.Lock()
			if a.outlooks[at] == o {
				delete(a.outlooks, at)
			}
			a.mu.Unlock()
			o.end()
			return
		}
	}
}

// needed reports whether some pipeline has a target in a place; in doubt it has.
func (a *Caches) needed(at place) bool {
	pipelines, err := a.pipelines(a.lifetime, client.MatchingFields{clusterIndex: at.cluster.String()})
	needed := err != nil
	for i := range pipelines {
		places(&pipelines[i], func(other place, _ v1alpha1.Target) { needed = needed || other == at })
	}
	return needed
}

// PipelinesIn maps a GitopsCluster to the pipelines with a target in it.
func (a *Caches) PipelinesIn(ctx context.Context, cluster client.Object) (out []reconcile.Request) {
	key := client.ObjectKeyFromObject(cluster).String()
	pipelines, err := a.pipelines(ctx, client.MatchingFields{clusterIndex: key})
	if err != nil {
		log.FromContext(ctx).Error(err, "looking up the pipelines of a cluster", "cluster", key)
	}
	for i := range pipelines {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&pipelines[i])})
	}
	return out
}

// PipelinesBehind maps a Secret to the pipelines with a target in a cluster that is reached with
// it.
func (a *Caches) PipelinesBehind(ctx context.Context, secret client.Object) (out []reconcile.Request) {
	clusters := &unstructured.UnstructuredList{}
	clusters.SetGroupVersionKind(GitopsCluster.GroupVersion().WithKind(GitopsCluster.Kind + "List"))
	if err := a.cache.List(ctx, clusters, client.InNamespace(secret.GetNamespace())); err != nil {
		log.FromContext(ctx).Error(err, "looking up the clusters of a Secret", "secret", secret.GetName())
	}
	for i := range clusters.Items {
		if secretOf(&clusters.Items[i]) == secret.GetName() {
			out = append(out, a.PipelinesIn(ctx, &clusters.Items[i])...)
		}
	}
	return out
}

// isReady reports whether an object's Ready condition is true.
func isReady(obj *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == v1alpha1.ReadyCondition {
			return c["status"] == "True"
		}
	}
	return false
}
