package sim_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wavetank/wavetank/sim"
)

// Definitions are kept from run to run, but a file that has changed is read anew.
func TestDefinitionsChange(t *testing.T) {
	file := filepath.Join(t.TempDir(), "baskets.yaml")
	for _, most := range []int{3, 3, 5} {
		text := baskets("v1", "scope: Cluster", fmt.Sprintf("{type: integer, maximum: %d}", most))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		withoutFailure(t, sim.Explore(t, func(w *sim.World) {
			w.Install(file)
			for apples := range 8 {
				u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "shop.example/v1", "kind": "Basket",
					"metadata": map[string]any{"name": fmt.Sprint("with-", apples)}, "spec": int64(apples)}}
				if err := w.Client().Create(w.Context(), u); (err == nil) != (apples <= most) {
					t.Errorf("at most %d apples: %d: %v", most, apples, err)
				}
			}
		}, sim.Runs(3)))
	}
}

// What a world costs whose operator brings definitions by path, as kubebuilder projects have them.
func BenchmarkInstall(b *testing.B) {
	ok := testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: b.Name(), F: func(t *testing.T) {
		withoutFailure(t, sim.Explore(t, func(w *sim.World) { w.Install("../controllers/reposync/crds", "../controllers/promotion/crds") }, sim.Runs(b.N), sim.For(0), sim.Verify(0)))
	}}})
	if !ok {
		b.Fatal("the definitions are not installed")
	}
}
