package definitions_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/sim/internal/definitions"
)

const things = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
`

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Of a directory all files are read in order, and documents of other kinds are left out.
func TestOfDirectory(t *testing.T) {
	path := write(t, "b.yaml", "# nothing\n---\nkind: Deployment\napiVersion: apps/v1\n---\n"+things)
	hook := "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n" +
		"metadata: {name: guard}\n"
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "a.yml"), []byte(hook), 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := definitions.Of(filepath.Dir(path))
	var names []string
	for _, d := range got {
		names = append(names, d.Object.GetName())
	}
	if err != nil || !slices.Equal(names, []string{"guard", "things.example.com"}) {
		t.Errorf("%v, %v", names, err)
	}
}

// A file that cannot be read is refused with a hint, at once and without much memory. Among them
// are aliases that stand for a billion entries, and documents that are nested too deeply.
func TestHostileFiles(t *testing.T) {
	bomb, last := things+"a: &a [x,x,x,x,x,x,x,x,x,x]\n", "a"
	for i := range 12 {
		name := fmt.Sprintf("b%d", i)
		bomb += fmt.Sprintf("%s: &%s [%s]\n", name, name, strings.TrimSuffix(strings.Repeat("*"+last+",", 10), ","))
		last = name
	}
	for name, c := range map[string]struct{ file, text, want string }{
		"aliases":       {"crd.yaml", bomb, "excessive aliasing"},
		"deep YAML":     {"crd.yaml", things + "a: " + strings.Repeat("[", 20000), "max depth"},
		"deep JSON":     {"crd.json", strings.Repeat(`{"a":`, 200000) + "1" + strings.Repeat("}", 200000), "max depth"},
		"no YAML":       {"crd.yaml", "\x00\x01", "control characters"},
		"an old API":    {"crd.yaml", strings.Replace(things, "/v1", "/v1beta1", 1), "a server knows"},
		"no definition": {"crd.yaml", "apiVersion: v1\nkind: Pod\n", "w.Apply takes objects of all other kinds"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := definitions.Of(write(t, c.file, c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d definitions, and the error %v does not say %q", len(got), err, c.want)
			}
		})
	}
	for _, arg := range []any{7, nil, "/nowhere"} {
		if _, err := definitions.Of(arg); err == nil || !strings.Contains(err.Error(), "w.Install") {
			t.Errorf("%v: %v", arg, err)
		}
	}
}
