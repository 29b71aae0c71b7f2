// This file reads the targets of pipelines: applications of any kind, in the operator's own cluster
// or in others.

package promotion

import (
	"bytes"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

// kubeconfigKey is where a cluster's Secret holds the kubeconfig.
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
