//go:build conformance

package serve_test

// kubectl, compiled, against the model: what it prints is what people look at, and what it sends is
// more than most controllers send. It runs with `go test -tags conformance` and needs the binary
// that conformance needs.

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const definitionYAML = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.x.example}
spec:
  group: x.example
  scope: Namespaced
  names: {plural: foos, singular: foo, kind: Foo, listKind: FooList, shortNames: [fo]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Color, type: string, jsonPath: .spec.color}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}, color: {type: string}}}
          status: {type: object, properties: {ready: {type: boolean}}}
`

const objectsYAML = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  selector: {matchLabels: {app: x}}
  template: {metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: IMAGE}]}}
---
apiVersion: x.example/v1
kind: Foo
metadata: {name: f}
spec: {size: SIZE, color: red}
`

// kubectl runs commands in one directory against one server.
type kubectl struct {
	t        *testing.T
	dir, bin string
}

func newKubectl(t *testing.T) *kubectl {
	dir := os.Getenv("KUBEBUILDER_ASSETS")
	if dir == "" {
		dir = "../../../bin/envtest"
	}
	bin, err := filepath.Abs(filepath.Join(dir, "kubectl"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bin); err != nil {
		t.Fatalf("%v: run `make envtest-assets`", err)
	}
	k := &kubectl{t: t, dir: t.TempDir(), bin: bin}
	if err := start(t).WriteKubeconfig(filepath.Join(k.dir, "config")); err != nil {
		t.Fatal(err)
	}
	return k
}

// run runs a command and returns its exit code and what it printed.
func (k *kubectl) run(args ...string) (int, string) {
	ctx, cancel := context.WithTimeout(k.t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, k.bin, args...)
	cmd.Dir = k.dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(k.dir, "config"), "HOME="+k.dir)
	out, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(out)
}

// expect runs a command that must succeed and print all of the texts.
func (k *kubectl) expect(line string, texts ...string) {
	k.t.Helper()
	k.code(0, line, texts...)
}

func (k *kubectl) code(want int, line string, texts ...string) {
	k.t.Helper()
	code, out := k.run(strings.Fields(line)...)
	if code != want {
		k.t.Errorf("kubectl %s: exit code %d, want %d:\n%s", line, code, want, out)
		return
	}
	for _, text := range texts {
		if !strings.Contains(out, text) {
			k.t.Errorf("kubectl %s: it does not say %q:\n%s", line, text, out)
		}
	}
}

func (k *kubectl) file(name, content string) {
	k.t.Helper()
	if err := os.WriteFile(filepath.Join(k.dir, name), []byte(content), 0o600); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kubectl) objects(image, size string) {
	k.t.Helper()
	k.file("objects.yaml", strings.NewReplacer("IMAGE", image, "SIZE", size).Replace(objectsYAML))
}

func TestKubectl(t *testing.T) {
	k := newKubectl(t)
	k.file("crd.yaml", definitionYAML)
	k.expect("apply -f crd.yaml", "created")
	k.expect("wait --for=condition=Established crd/foos.x.example --timeout=10s", "condition met")
	k.objects("i", "3")
	k.expect("apply -f objects.yaml", "deployment.apps/d created", "foo.x.example/f created")
	k.expect("apply -f objects.yaml", "deployment.apps/d unchanged", "foo.x.example/f unchanged")
	k.objects("j", "4")
	k.code(1, "diff -f objects.yaml", "-      - image: i", "+      - image: j", "-  size: 3", "+  size: 4")
	k.expect("apply -f objects.yaml", "deployment.apps/d configured", "foo.x.example/f configured")
	k.code(0, "diff -f objects.yaml")

	t.Run("server-side apply", func(t *testing.T) {
		k.t = t
		k.expect("apply --server-side -f objects.yaml", "serverside-applied")
		k.expect("get foo f -o yaml --show-managed-fields", "manager: kubectl", "operation: Apply")
		k.expect("apply --server-side --field-manager=other -f objects.yaml --dry-run=server --validate=strict",
			"server dry run")
		k.objects("k", "4") // another value is another matter
		k.code(1, "apply --server-side --field-manager=other -f objects.yaml", "conflict", ".image")
		k.expect("apply --server-side --field-manager=other --force-conflicts -f objects.yaml", "serverside-applied")
	})
	t.Run("patch", func(t *testing.T) {
		k.t = t
		k.expect(`patch foo f --type merge -p {"spec":{"size":9}}`, "patched")
		k.expect(`patch deploy d --type strategic -p {"spec":{"template":{"spec":{"containers":[{"name":"z",`+
			`"image":"q"}]}}}}`, "patched")
		k.expect(`patch deploy d --type json -p [{"op":"replace","path":"/spec/replicas","value":4}]`, "patched")
		k.expect("get deploy d -o jsonpath={.spec.replicas}{.spec.template.spec.containers[*].name}", "4z c")
		k.expect("scale deploy d --replicas=2", "scaled")
		k.expect("label foo f a=b", "labeled")
		k.expect("annotate foo f a=b", "annotated")
	})
	t.Run("look", func(t *testing.T) {
		k.t = t
		k.expect("get foo", "NAME", "SIZE", "COLOR", "f      9      red")
		k.expect("get deploy d", "NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE", "0/2")
		k.expect("get svc", "No resources found")
		k.expect("describe deploy d", "Replicas:               2 desired")
		k.expect("describe foo f", "Size:   9")
		k.expect("wait --for=jsonpath={.spec.size}=9 foo/f --timeout=5s", "condition met")
		k.expect("explain foo.spec", "size", "<integer>")
		k.expect("explain deploy.spec.replicas", "<integer>", "Number of desired pods")
		k.expect("explain pod.spec --recursive", "containers", "<[]Container> -required-", "imagePullPolicy")
		k.code(1, "explain foo --output=plaintext-openapiv2", "Error from server")
		k.expect("create cm a --from-literal=k=v", "created")
	})
	t.Run("watch", func(t *testing.T) { k.t = t; k.watch() })
	t.Run("delete", func(t *testing.T) {
		k.t = t
		k.expect("delete foo f", "deleted")
		k.expect("delete cm a --cascade=background", "deleted")
		k.expect("delete deploy d --cascade=foreground --wait=false", "deleted")
		k.expect("get deploy d -o jsonpath={.metadata.finalizers}", "foregroundDeletion")
		k.expect("create cm b", "created")
		k.expect("delete cm b --cascade=orphan --wait=false", "deleted")
		k.expect("get cm b -o jsonpath={.metadata.finalizers}", "orphan")
		k.expect("delete crd foos.x.example", "deleted")
		k.code(1, "get foo", "could not find the requested resource")
	})
}

// watch sees a change that another kubectl makes.
func (k *kubectl) watch() {
	ctx, cancel := context.WithTimeout(k.t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, k.bin, "get", "foo", "-w", "-o", "jsonpath={.spec.size}{' '}")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(k.dir, "config"), "HOME="+k.dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	seen, buf := "", make([]byte, 100)
	for changed := false; !strings.Contains(seen, "11 "); {
		n, err := out.Read(buf)
		if err != nil {
			k.t.Errorf("kubectl get -w saw %q: %v", seen, err)
			break
		}
		if seen += string(buf[:n]); !changed {
			changed = true
			k.expect(`patch foo f --type merge -p {"spec":{"size":11}}`, "patched")
		}
	}
	cancel()
	_ = cmd.Wait()
}
