// This file is about targets in other clusters: a target names a GitopsCluster, which names a
// Secret, which holds a kubeconfig. A cache is not in sync when it is first asked.

package promotion

import (
	"context"

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

// GitopsCluster is the kind of a cluster. Its spec.secretRef.name is a Secret in its namespace with
// a key "kubeconfig". It is used only while its Ready condition is true.
var GitopsCluster = schema.GroupVersionKind{Group: "gitops.weave.works", Version: "v1alpha1", Kind: "GitopsCluster"}

// newGitopsCluster is an empty one.
func newGitopsCluster() *unstructured.Unstructured {
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
func (c *caches) connect(at place, kubeconfig []byte) (*outlook, error) {
	cfg, err := c.dial(kubeconfig)
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
	ctx, end := context.WithCancel(c.lifetime)
	o := &outlook{cached: cached, live: live, kubeconfig: kubeconfig, end: end}
	c.mu.Lock()
	before := c.outlooks[at]
	c.outlooks[at] = o
	c.mu.Unlock()
	if before != nil {
		before.end()
	}
	c.all.Go(func() {
		if err := cached.Start(ctx); err != nil {
			log.FromContext(ctx).Error(err, "a cache has ended", "cluster", at.cluster)
		}
	})
	return o, nil
}

// pipelinesIn maps a GitopsCluster to the pipelines with a target in it.
func (c *caches) pipelinesIn(ctx context.Context, cluster client.Object) (out []reconcile.Request) {
	key := client.ObjectKeyFromObject(cluster).String()
	pipelines, err := c.pipelines(ctx, client.MatchingFields{clusterIndex: key})
	if err != nil {
		log.FromContext(ctx).Error(err, "looking up the pipelines of a cluster", "cluster", key)
	}
	for i := range pipelines {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&pipelines[i])})
	}
	return out
}

// pipelinesBehind maps a Secret to the pipelines with a target in a cluster that is reached with
// it.
func (c *caches) pipelinesBehind(ctx context.Context, secret client.Object) (out []reconcile.Request) {
	clusters := &unstructured.UnstructuredList{}
	clusters.SetGroupVersionKind(GitopsCluster.GroupVersion().WithKind(GitopsCluster.Kind + "List"))
	if err := c.cache.List(ctx, clusters, client.InNamespace(secret.GetNamespace())); err != nil {
		log.FromContext(ctx).Error(err, "looking up the clusters of a Secret", "secret", secret.GetName())
	}
	for i := range clusters.Items {
		if secretOf(&clusters.Items[i]) == secret.GetName() {
			out = append(out, c.pipelinesIn(ctx, &clusters.Items[i])...)
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
