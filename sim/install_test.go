package sim_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// Definitions are kept from run to run, but a file that has changed is read again.
func TestInstallReadsChangedFiles(t *testing.T) {
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
func TestInstallReadsWebhooks(t *testing.T) {
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
		w.Start("keeper", keeps)
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

// generated is the config/webhook directory that kubebuilder makes for an operator that guards one
// kind.
func generated(t *testing.T, resource string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), resource)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n"+
		"metadata: {name: validating-webhook-configuration}\nwebhooks:\n- admissionReviewVersions: [v1]\n"+
		"  clientConfig: {service: {name: webhook-service, namespace: system, path: /validate-%s}}\n"+
		"  failurePolicy: Ignore\n  name: v%[1]s.example.org\n  sideEffects: None\n"+
		"  rules: [{apiGroups: [\"\"], apiVersions: [v1], operations: [CREATE], resources: [%[1]s]}]\n", resource)
	if err := os.WriteFile(filepath.Join(dir, "manifests.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// configurationIn reads the configuration in such a directory.
func configurationIn(t *testing.T, dir string) *admissionregv1.ValidatingWebhookConfiguration {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "manifests.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	out := &admissionregv1.ValidatingWebhookConfiguration{}
	if err := yaml.Unmarshal(text, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Kubebuilder calls the webhook configurations of all operators alike. The second must not remove
// the first in silence.
var replacements = func() []misuse {
	const says = `ValidatingWebhookConfiguration "validating-webhook-configuration" of `
	return []misuse{
		{"two operators in two calls", func(t *testing.T) {
			first, second := generated(t, "configmaps"), generated(t, "secrets")
			sim.Check(t, func(w *sim.World) {
				w.Install(first)
				w.Install(second)
			}, sim.Stories(t.TempDir()))
		}, []string{says, "secrets/manifests.yaml differs from the one of ",
			"configmaps/manifests.yaml, which it would replace",
			"set namePrefix in the operator's config/default/kustomization.yaml",
			"set its name and give it to w.Install"}},
		{"two operators in one call", func(t *testing.T) {
			first, second := generated(t, "configmaps"), generated(t, "secrets")
			sim.Check(t, func(w *sim.World) { w.Install(first, second) }, sim.Stories(t.TempDir()))
		}, []string{says, "secrets/manifests.yaml differs from the one of ", "configmaps/manifests.yaml"}},
		{"in another cluster", func(t *testing.T) {
			first, second := generated(t, "configmaps"), generated(t, "secrets")
			sim.Check(t, func(w *sim.World) { w.Cluster("prod.example").Install(first, second) },
				sim.Stories(t.TempDir()))
		}, []string{says, "secrets/manifests.yaml differs from the one of "}},
		{"one that was applied", func(t *testing.T) {
			first, second := generated(t, "configmaps"), generated(t, "secrets")
			sim.Check(t, func(w *sim.World) {
				w.Apply(configurationIn(t, first))
				w.Install(second)
			}, sim.Stories(t.TempDir()))
		}, []string{says, "secrets/manifests.yaml differs from the one of an object given to w.Apply"}},
		{"two definitions of a kind", func(t *testing.T) {
			var files []string
			for _, most := range []string{"3", "5"} {
				file := filepath.Join(t.TempDir(), most+".yaml")
				text := baskets("v1", "scope: Cluster", "{type: integer, maximum: "+most+"}")
				if err := os.WriteFile(file, text, 0o600); err != nil {
					t.Fatal(err)
				}
				files = append(files, file)
			}
			sim.Check(t, func(w *sim.World) { w.Install(files[0], files[1]) }, sim.Stories(t.TempDir()))
		}, []string{`CustomResourceDefinition "baskets.shop.example" of `, "5.yaml differs from the one of ",
			"3.yaml, which it would replace",
			"install one of the two", "w.Apply the new one"}},
	}
}()

// What the message tells to do is possible: another name, the same twice, and a change or a
// deletion that is asked for.
func TestInstallReplacesOnlyOnRequest(t *testing.T) {
	first, second := generated(t, "configmaps"), generated(t, "secrets")
	simtest.Holds(t, func(w *sim.World) {
		w.Install(first, generated(t, "configmaps"))
		w.Install(first)
		prefixed := configurationIn(t, second)
		prefixed.Name = "second-" + prefixed.Name
		w.Install(prefixed)

		var all admissionregv1.ValidatingWebhookConfigurationList
		if err := w.Client().List(w.Context(), &all); err != nil || len(all.Items) != 2 {
			t.Errorf("%v, %d configurations", err, len(all.Items))
		}

		changed := configurationIn(t, second)
		w.Apply(changed)
		var now admissionregv1.ValidatingWebhookConfiguration
		err := w.Client().Get(w.Context(), client.ObjectKeyFromObject(changed), &now)
		if err != nil || len(now.Webhooks) != 1 || now.Webhooks[0].Name != "vsecrets.example.org" {
			t.Errorf("%v, %v", err, now.Webhooks)
		}
		w.Install(second)

		w.Remove(changed)
		w.Install(first)
	}, sim.Runs(2), sim.Verify(1))
}
