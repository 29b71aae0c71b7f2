package sim_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// Definitions are kept from run to run, but a file that has changed is read anew.
func TestDefinitionsChange(t *testing.T) {
	file := filepath.Join(t.TempDir(), "baskets.yaml")
	for _, most := range []int{3, 3, 5} {
		text := baskets("v1", "scope: Cluster", fmt.Sprintf("{type: integer, maximum: %d}", most))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		simtest.Holds(t, func(w *sim.World) {
			w.Install(file)
			for apples := range 8 {
				u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "shop.example/v1",
					"kind":     "Basket",
					"metadata": map[string]any{"name": fmt.Sprint("with-", apples)}, "spec": int64(apples)}}
				if err := w.Client().Create(w.Context(), u); (err == nil) != (apples <= most) {
					t.Errorf("at most %d apples: %d: %v", most, apples, err)
				}
			}
		}, sim.Runs(3))
	}
}

// What a world costs whose operator brings definitions by path, as kubebuilder projects have them.
func BenchmarkInstall(b *testing.B) {
	files, err := filepath.Glob("../controllers/*/crds/*.yaml")
	if err != nil {
		b.Fatal(err)
	}
	var definitions []any
	for _, file := range files[:min(7, len(files))] {
		definitions = append(definitions, file)
	}
	install := func(w *sim.World) { w.Install(definitions...) }
	ok := testing.RunTests(func(string, string) (bool, error) { return true, nil },
		[]testing.InternalTest{{Name: b.Name(), F: func(t *testing.T) {
			simtest.Holds(t, install, sim.Runs(b.N), sim.For(0), sim.Verify(0))
		}}})
	if !ok {
		b.Fatal("the definitions are not installed")
	}
}

// A file may hold several documents, as kubebuilder's config/webhook/manifests.yaml does; the
// manager that registers their paths serves the webhooks.
func TestWebhooksAreInstalled(t *testing.T) {
	const rules = "  rules:\n  - {apiGroups: [\"\"], apiVersions: [v1], operations: [%s], resources: [configmaps]}\n"
	const hook = "---\napiVersion: admissionregistration.k8s.io/v1\nkind: %sWebhookConfiguration\nmetadata:\n  " +
		"name: %[2]s\nwebhooks:\n- admissionReviewVersions: [v1]\n" +
		"  clientConfig:\n    service: {name: webhook-service, namespace: system, " +
		"path: /%[2]s}\n  failurePolicy: Fail\n  name: %[2]s.example.org\n" + rules + "  sideEffects: None\n"
	dir := t.TempDir()
	for name, text := range map[string]string{
		"manifests.yaml": fmt.Sprintf(hook, "Mutating", "stamp", "CREATE") + fmt.Sprintf(hook, "Validating",
			"keep", "DELETE"),
		"kustomization.yaml": "resources:\n- manifests.yaml\n",
		"service.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: webhook-service, " +
			"namespace: system}\nspec: {ports: [{port: 443}]}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	simtest.Holds(t, func(w *sim.World) {
		w.Install(dir)
		w.Start("keeper", func(mgr ctrl.Manager) error { return (&keeper{mgr.GetAPIReader()}).SetupWithManager(mgr) })
		b := simtest.ConfigMap("b")
		b.Annotations = map[string]string{"after": "a"}
		w.Apply(simtest.ConfigMap("a"), b)
		w.Settle()
		if err := w.Client().Get(w.Context(), client.ObjectKeyFromObject(b), b); err != nil ||
			b.Annotations["stamp"] != "by admin, after 1" {
			t.Errorf("%v, %q", err, b.Annotations)
		}
		if err := w.Client().Delete(w.Context(), b); err == nil || !strings.Contains(err.Error(), "a is still there") {
			t.Errorf("deleting b: %v", err)
		}
	}, sim.Runs(5), sim.Verify(1))
}
