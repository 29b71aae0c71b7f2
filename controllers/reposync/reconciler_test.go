// This file tests parts of the operator over a fake client.

package reposync

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
)

var shop = types.NamespacedName{Namespace: "shop", Name: "repo-sync"}

// over is a writer over a fake client in which these objects are.
func over(t *testing.T, objects ...client.Object) writer {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1beta1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(newSync(shop)).Build()
	return writer{client: c, live: c}
}

func named(key types.NamespacedName) *v1beta1.RepoSync {
	return &v1beta1.RepoSync{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
}

func TestNothingIsCreatedInATerminatingNamespace(t *testing.T) {
	for phase, want := range map[corev1.NamespacePhase]bool{corev1.NamespaceActive: true,
		corev1.NamespaceTerminating: false} {
		sync := named(shop)
		home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: shop.Namespace},
			Status: corev1.NamespaceStatus{Phase: phase}}
		declared := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"namespace": shop.Namespace, "name": "a"}}}
		r := &Reconciler{Sync: shop, policy: policies()[V10], writer: over(t, sync, home),
			Source: func(context.Context, v1beta1.Sync) ([]*unstructured.Unstructured, error) {
				return []*unstructured.Unstructured{declared}, nil
			}}
		if err := r.sync(context.Background(), sync); err != nil {
			t.Fatal(err)
		}
		err := r.client.Get(context.Background(), client.ObjectKeyFromObject(declared), declared.DeepCopy())
		if there := err == nil; there != want || client.IgnoreNotFound(err) != nil {
			t.Errorf("in a namespace that is %s the object is created: %v, %v; want %v", phase, there, err, want)
		}
	}
}

// A Deployment in the background of whose deletion pods still end has not gone.
func TestADeploymentHasGoneWhenTheServerSaysSo(t *testing.T) {
	d := &appsv1.Deployment{ObjectMeta: in(shop, "")}
	d.Finalizers = []string{metav1.FinalizerDeleteDependents}
	m := &Manager{writer: over(t, d)}
	for _, want := range []bool{false, true} {
		gone, err := m.undeploy(context.Background(), named(shop))
		if err != nil || gone != want {
			t.Errorf("the Deployment has gone: %v, %v; want %v", gone, err, want)
		}
		now := &appsv1.Deployment{}
		if err := m.live.Get(context.Background(), client.ObjectKeyFromObject(d), now); err == nil {
			now.Finalizers = nil
			if err := m.client.Update(context.Background(), now); err != nil {
				t.Fatal(err)
			}
		} else if !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
}

func TestABindingServesTheOthersThatAreLeft(t *testing.T) {
	other := types.NamespacedName{Namespace: shop.Namespace, Name: "other"}
	p := policies()[V10]
	b := p.binding(false, shop.Namespace)
	*b.subjects = []rbacv1.Subject{subject(shop), subject(other)}
	m := &Manager{policy: p, writer: over(t, b.Object)}
	for _, c := range []struct {
		sync types.NamespacedName
		left []rbacv1.Subject
	}{{shop, []rbacv1.Subject{subject(other)}}, {other, nil}} {
		if err := m.revoke(context.Background(), named(c.sync)); err != nil {
			t.Fatal(err)
		}
		now := &rbacv1.RoleBinding{}
		err := m.live.Get(context.Background(), client.ObjectKeyFromObject(b), now)
		if diff := cmp.Diff(c.left, now.Subjects); diff != "" || apierrors.IsNotFound(err) != (c.left == nil) {
			t.Errorf("without %s: %v, subjects (-want +got):\n%s", c.sync.Name, err, diff)
		}
	}
}
