// This file tests by which keys pipelines are found.

package promotion

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

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
