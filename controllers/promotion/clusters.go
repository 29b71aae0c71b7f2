// This file is about targets in other clusters: a target names a GitopsCluster, which names a
// Secret, which holds a kubeconfig. A cache is not in sync when it is first asked.

package promotion

import (
	"bytes"
	"context"
	"fmt"

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

// GitopsCluster is the kind of a cluster. Its spec.secretRef.name is a Secret in its namespace with
// a key "kubeconfig". It is used only while its Ready condition is true.
var GitopsCluster = schema.GroupVersionKind{Group: "gitops.weave.works", Version: "v1alpha1", Kind: "GitopsCluster"}

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

func isReady(obj *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == v1alpha1.ReadyCondition {
			return c["status"] == "True"
		}
	}
	return false
}

const kubeconfigKey = "kubeconfig"

// target reads one target of a pipeline. An application that is missing, or of a kind whose cache
// has not caught up, is no error but something to write down; ok is false then.
func (p *pass) target(ctx context.Context, target v1alpha1.Target) (status v1alpha1.TargetStatus, ok bool, err error) {
	ref := p.pipeline.Spec.AppRef
	status.ClusterAppRef = v1alpha1.ClusterAppReference{LocalAppReference: ref, ClusterRef: target.ClusterRef}
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		status.Error = err.Error()
		return status, false, nil
	}
	app := &unstructured.Unstructured{}
	app.SetGroupVersionKind(gv.WithKind(ref.Kind))

	// The watch is wanted in any case, because it wakes this controller; what it has seen so far
	// matters only to those that read from it.
	at := place{clusterOf(p.pipeline, target), app.GroupVersionKind()}
	from, trouble, err := p.lookAt(ctx, at)
	if err != nil || trouble != "" {
		status.Error = trouble
		return status, false, err
	}
	synced, err := p.r.caches.watch(ctx, at, from)
	if err != nil {
		return status, false, err
	}
	var reader client.Reader = from.cached
	if p.live {
		reader = from.live
	} else if !synced {
		status.Error = fmt.Sprintf("the cache of %s is not synced yet", ref.Kind)
		return status, false, nil
	}
	err = reader.Get(ctx, types.NamespacedName{Namespace: target.Namespace, Name: ref.Name}, app)
	switch {
	case apierrors.IsNotFound(err):
		status.Error = fmt.Sprintf("%s %s/%s does not exist", ref.Kind, target.Namespace, ref.Name)
		return status, false, nil
	case err != nil:
		return status, false, err
	}
	describe(&status, app)
	return status, true, nil
}

// describe fills in what an application says of itself, in the manner of Flux: a Ready condition
// and the last applied revision. Ready without a revision is not usable, and is said to be so.
func describe(status *v1alpha1.TargetStatus, app *unstructured.Unstructured) {
	status.Ready = isReady(app)
	status.Revision, _, _ = unstructured.NestedString(app.Object, "status", "lastAppliedRevision")
	if status.Ready && status.Revision == "" {
		status.Ready = false
		status.Error = "the application is ready but names no lastAppliedRevision"
	}
}

// lookAt finds where a target's application is read. A cluster that is missing or not ready is no
// error but something to write down, the second result.
func (p *pass) lookAt(ctx context.Context, at place) (*outlook, string, error) {
	o := p.r.caches.outlook(at)
	if at.cluster.Name == "" {
		return o, "", nil
	}
	cluster := newGitopsCluster()
	err := p.untyped.Get(ctx, at.cluster, cluster)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Sprintf("GitopsCluster %s does not exist", at.cluster), nil
	case err != nil:
		return nil, "", err
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
	if o, err = p.r.caches.connect(at, kubeconfig); err != nil {
		return nil, "", fmt.Errorf("reaching cluster %s: %w", at.cluster, err)
	}
	return o, "", nil
}

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
