// This file exists to hold the means of promotion to what they promise, over a fake client.

package promotion

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

// notifying is a pass over a pipeline that promotes by Events.
func notifying(t *testing.T, v Variant) (*pass, order, client.Client) {
	t.Helper()
	policy, err := v.policy()
	if err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().Build()
	pipeline := &v1alpha1.Pipeline{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u1"}}
	return &pass{r: &Reconciler{Client: c, policy: policy}, reader: c, pipeline: pipeline},
		order{Environment: "staging", Revision: "v1",
			strategy: v1alpha1.Strategy{Notification: &v1alpha1.NotificationStrategy{}}}, c
}

func events(t *testing.T, c client.Client) int {
	t.Helper()
	var list corev1.EventList
	if err := c.List(context.Background(), &list); err != nil {
		t.Fatal(err)
	}
	return len(list.Items)
}

func TestAnEventIsRepeatedWithoutAKeyOnly(t *testing.T) {
	for key, want := range map[string]int{"": 2, "web-0123": 1} {
		p, o, c := notifying(t, V8)
		o.IdempotencyKey = key
		for range 2 {
			if _, err := p.carryOut(context.Background(), o); err != nil {
				t.Fatal(err)
			}
		}
		if n := events(t, c); n != want {
			t.Errorf("with key %q two orders make %d Events, not %d", key, n, want)
		}
	}
}

func TestAnOrderIsFoundByItsKey(t *testing.T) {
	p, o, _ := notifying(t, V8)
	o.IdempotencyKey = "web-0123"
	for _, want := range []bool{false, true} {
		if found, _, err := p.find(context.Background(), o); found != want || err != nil {
			t.Errorf("found: %v, %v; want %v", found, err, want)
		}
		if _, err := p.carryOut(context.Background(), o); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNoMeansAtAll(t *testing.T) {
	for v, refuses := range map[Variant]bool{V3: false, V8: true} {
		p, o, _ := notifying(t, v)
		o.strategy = v1alpha1.Strategy{}
		if _, err := p.carryOut(context.Background(), o); (err != nil) != refuses {
			t.Errorf("%s without a strategy: %v", v, err)
		}
	}
}

func TestWhatAPipelineHasWhere(t *testing.T) {
	pipeline := &v1alpha1.Pipeline{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec: v1alpha1.PipelineSpec{
			AppRef: v1alpha1.LocalAppReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
			Environments: []v1alpha1.Environment{{Targets: []v1alpha1.Target{
				{Namespace: "dev"},
				{Namespace: "dev", ClusterRef: &v1alpha1.CrossNamespaceClusterReference{Name: "a"}},
				{Namespace: "dev", ClusterRef: &v1alpha1.CrossNamespaceClusterReference{Name: "a", Namespace: "fleet"}},
				{Namespace: "two", ClusterRef: &v1alpha1.CrossNamespaceClusterReference{Name: "a"}},
			}}},
		}}
	if got := strings.Join(indexClusters(pipeline), " "); got != "shop/a fleet/a" {
		t.Errorf("clusters: %s", got)
	}
	keys := indexTargets(pipeline)
	seen := map[string]bool{}
	for _, key := range keys {
		seen[key] = true
	}
	if len(keys) != 4 || len(seen) != 4 {
		t.Errorf("targets in different places must have different keys: %q", keys)
	}
	pipeline.Spec.AppRef.APIVersion = "a/b/c"
	if indexTargets(pipeline) != nil || indexClusters(pipeline) != nil {
		t.Error("a pipeline whose applications cannot be read has targets")
	}
}
