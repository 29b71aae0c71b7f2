package release

import (
	"context"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// A Deployment is healthy when its rollout is complete, and only one that asks to be looked at is.
func TestIll(t *testing.T) {
	const asks = "apiVersion: apps/v1\nkind: Deployment\n" +
		"metadata: {name: a, namespace: ns, annotations: {wavetank.example/health: available}}\n"
	deployment := func(generation int64, s appsv1.DeploymentStatus) client.Object {
		return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", Generation: generation},
			Status: s}
	}
	done := appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}
	with := func(change func(*appsv1.DeploymentStatus)) appsv1.DeploymentStatus {
		s := done
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		manifest string
		is       client.Object
		ill      string
	}{
		"complete": {asks, deployment(2, done), ""},
		"gone":     {asks, nil, "is gone"},
		"unseen":   {asks, deployment(3, done), "is not available"},
		"not ready": {asks, deployment(2, with(func(s *appsv1.DeploymentStatus) { s.AvailableReplicas = 0 })),
			"is not available"},
		"an old pod": {asks, deployment(2, with(func(s *appsv1.DeploymentStatus) { s.Replicas = 2 })),
			"is not available"},
		"not updated": {asks, deployment(2, with(func(s *appsv1.DeploymentStatus) { s.UpdatedReplicas = 0 })),
			"is not available"},
		"not asked": {strings.Replace(asks, "health", "other", 1), nil, ""},
	} {
		b := fake.NewClientBuilder()
		if c.is != nil {
			b = b.WithObjects(c.is)
		}
		ill, err := Ill(context.Background(), b.Build(), &release.Release{Manifest: c.manifest})
		if err != nil || !strings.HasSuffix(ill, c.ill) || (ill == "") != (c.ill == "") {
			t.Errorf("%s: %q, %v", name, ill, err)
		}
	}
	unknown := &release.Release{Manifest: strings.Replace(asks, "available", "happy", 1)}
	if _, err := Ill(context.Background(), fake.NewClientBuilder().Build(), unknown); err == nil {
		t.Error("an unknown kind of health is no error")
	}
}
