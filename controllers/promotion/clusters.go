// This file exists for targets in other clusters: a target names a GitopsCluster, which names a
// Secret, which holds a kubeconfig. Each kind of application in each such cluster has a cache of
// its own, which is made on first use, is not in sync at first, and ends when no pipeline needs it
// any more.

package promotion

import (
	"bytes"
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// kubeconfigKey is where a cluster's Secret holds the kubeconfig.
const kubeconfigKey = "kubeconfig"

// A cache that may not be needed any more is looked at after firstLook, and after twice as long
// each time up to lastLook.
const (
	firstLook = 2 * time.Second
	lastLook  = 512 * time.Second
)

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

// lookAt finds where a target's application is read. A cluster that is missing or not ready is no
// error but something to write down, the second result. As in the original the Secret is read when
// a cache is made; only the fix looks again whether it has changed.
func (p *pass) lookAt(ctx context.Context, at place) (*outlook, string, error) {
	o := p.r.apps.outlook(at)
	if at.cluster.Name == "" {
		return o, "", nil
	}
	cluster := newGitopsCluster()
	missing, err := notFound(p.appReader.Get(ctx, at.cluster, cluster))
	switch {
	case err != nil:
		return nil, "", err
	case missing:
		return nil, fmt.Sprintf("GitopsCluster %s does not exist", at.cluster), nil
	case !isReady(cluster):
		return nil, fmt.Sprintf("GitopsCluster %s is not ready", at.cluster), nil
	case o != nil && !p.r.policy.guarded:
		return o, "", nil
	}
	kubeconfig, err := p.kubeconfig(ctx, cluster)
	switch {
	case p.r.policy.guarded && apierrors.IsNotFound(err):
		return nil, err.Error(), nil
	case err != nil:
		return nil, "", err
	case o != nil && bytes.Equal(o.kubeconfig, kubeconfig):
		return o, "", nil
	case o != nil && p.dry:
		return nil, "", errDue // what the cache has of the Secret may be the older one
	}
	if o, err = p.r.apps.connect(at, kubeconfig); err != nil {
		return nil, "", fmt.Errorf("reaching cluster %s: %w", at.cluster, err)
	}
	return o, "", nil
}

// kubeconfig reads how a cluster is to be reached.
func (p *pass) kubeconfig(ctx context.Context, cluster *unstructured.Unstructured) ([]byte, error) {
	secret := &corev1.Secret{}
	key := types.NamespacedName{Namespace: cluster.GetNamespace(), Name: secretOf(cluster)}
	if err := p.reader.Get(ctx, key, secret); err != nil {
		return nil, fmt.Errorf("reading the Secret of cluster %s/%s: %w", key.Namespace, cluster.GetName(), err)
	}
	kubeconfig, ok := secret.Data[kubeconfigKey]
	if !ok {
		return nil, fmt.Errorf("secret %s has no key %q", key, kubeconfigKey)
	}
	return kubeconfig, nil
}

func secretOf(cluster *unstructured.Unstructured) string {
	name, _, _ := unstructured.NestedString(cluster.Object, "spec", "secretRef", "name")
	return name
}

// connect makes the cache of a place, in the stead of the one that there is, if any.
func (a *apps) connect(at place, kubeconfig []byte) (*outlook, error) {
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
func (a *apps) collect(ctx context.Context, at place, o *outlook) {
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

// needed says whether some pipeline has a target in a place; in doubt it has.
func (a *apps) needed(at place) bool {
	pipelines, err := a.pipelines(a.lifetime, client.MatchingFields{clusterIndex: at.cluster.String()})
	needed := err != nil
	for i := range pipelines {
		places(&pipelines[i], func(other place, _ v1alpha1.Target) { needed = needed || other == at })
	}
	return needed
}

// pipelinesIn maps a GitopsCluster to the pipelines with a target in it.
func (a *apps) pipelinesIn(ctx context.Context, cluster client.Object) (out []reconcile.Request) {
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

// pipelinesBehind maps a Secret to the pipelines with a target in a cluster that is reached with
// it.
func (a *apps) pipelinesBehind(ctx context.Context, secret client.Object) (out []reconcile.Request) {
	clusters := &unstructured.UnstructuredList{}
	clusters.SetGroupVersionKind(GitopsCluster.GroupVersion().WithKind(GitopsCluster.Kind + "List"))
	if err := a.cache.List(ctx, clusters, client.InNamespace(secret.GetNamespace())); err != nil {
		log.FromContext(ctx).Error(err, "looking up the clusters of a Secret", "secret", secret.GetName())
	}
	for i := range clusters.Items {
		if secretOf(&clusters.Items[i]) == secret.GetName() {
			out = append(out, a.pipelinesIn(ctx, &clusters.Items[i])...)
		}
	}
	return out
}

// isReady says whether an object's Ready condition is true.
func isReady(obj *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == v1alpha1.ReadyCondition {
			return c["status"] == "True"
		}
	}
	return false
}
