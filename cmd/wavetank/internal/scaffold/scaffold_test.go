package scaffold_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/cmd/wavetank/internal/scaffold"
)

// project is a project of few lines, with more files in it.
func project(t *testing.T, more map[string]string) string {
	t.Helper()
	t.Setenv("GOWORK", "off")
	files, _ := projectFiles(t, "testdata/libraries.txtar")
	maps.Copy(files, more)
	return unpacked(t, files)
}

// unpacked is a directory with files.
func unpacked(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666))
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Samples are those that the kustomization names, and those that do not say that they fail. What is
// left out is named.
func TestSamplesThatAreLeftOut(t *testing.T) {
	const sample = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n"
	files := map[string]string{"config/samples/a.yaml": sample, "config/samples/b-fail.yaml": sample,
		"config/samples/failover.yaml": sample}
	read := func(want string, notes ...string) {
		t.Helper()
		p, err := scaffold.Read(project(t, files))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range p.Samples {
			got = append(got, filepath.Base(s.File))
		}
		said := strings.Join(p.Notes, "\n")
		if strings.Join(got, " ") != want || strings.Count(said, "is left out") != len(notes) {
			t.Errorf("the samples are %q, want %q:\n%s", got, want, said)
		}
		for _, note := range notes {
			if !strings.Contains(said, note) {
				t.Errorf("it does not say %q:\n%s", note, said)
			}
		}
	}
	read("a.yaml failover.yaml", "config/samples/b-fail.yaml is left out, because it fails by its name")
	files["config/samples/kustomization.yaml"] = "resources:\n- b-fail.yaml\n"
	read("b-fail.yaml", "config/samples/a.yaml is left out, because the kustomization.yaml next to it",
		"config/samples/failover.yaml is left out")
	files["config/samples/kustomization.yaml"] = "resources: []\n"
	read("a.yaml failover.yaml", "config/samples/b-fail.yaml is left out")
	files["config/samples/kustomization.yaml"] = "resources: [a.yaml, gone.yaml]\n"
	read("a.yaml", "config/samples/b-fail.yaml is left out", "config/samples/failover.yaml is left out",
		"config/samples/kustomization.yaml names gone.yaml, which is left out: there is no such file")
	files["config/samples/kustomization.yaml"] = "resources: 7\n"
	read("a.yaml failover.yaml", "config/samples/b-fail.yaml is left out")
	files["config/samples/failover.yaml"] = "a: ["
	read("a.yaml", "b-fail.yaml is left out", "config/samples/failover.yaml is left out, because it cannot be read (")
}

// A project is read without a compiler, so code that does not compile, and code of another platform
// or another module, is no obstacle.
func TestNothingIsCompiled(t *testing.T) {
	const runtimeImport = "\"sigs.k8s.io/controller-runtime\"\n"
	files, _ := projectFiles(t, "testdata/mail.txtar")
	mail := files["internal/mail/mail.go"]
	maps.Copy(files, map[string]string{
		"internal/broken/broken.go":      "package broken\n\nvar a int = \"\"\n",
		"internal/controller/typo.go":    "package controller\n\nfunc typo() { undefined.Call() }\n",
		"internal/controller/other.go":   "//go:build plan9\n\npackage controller\n\ntype BackupReconciler int\n",
		"hack/tools.go":                  "//go:build tools\n\npackage tools\n\nimport _ " + runtimeImport,
		"hack/gen/main.go":               "//go:build ignore\n\npackage main\n\nimport (" + runtimeImport,
		"testdata/mail/mail.go":          mail,
		"vendor2/go.mod":                 "module example.com/elsewhere\n",
		"vendor2/mail/mail.go":           mail,
		"internal/mail/testdata/mail.go": mail,
	})
	dir := project(t, files)
	t.Setenv("GOFLAGS", "-toolexec=false") // every compilation fails
	p, err := scaffold.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, process := range p.Processes {
		names = append(names, process.Name)
		if text := source(t, p, process); process.Name == "Letter" &&
			!strings.Contains(text, "examplev1.AddToScheme(scheme)") {
			t.Errorf("the scheme of main is not seen:\n%s", text)
		}
	}
	if got := strings.Join(names, " "); got != "Letter Backup" {
		t.Errorf("the controllers are %q", got)
	}
}

// Without its imports a project cannot be read, and it says which are missing.
func TestMissingImports(t *testing.T) {
	dir := project(t, nil)
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	without := strings.ReplaceAll(string(mod), "sigs.k8s.io/controller-runtime", "example.com/another")
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(without), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = scaffold.Read(dir)
	if err == nil || !strings.Contains(err.Error(), "imports are not found; go mod tidy may add them:\n") ||
		!strings.Contains(err.Error(), "sigs.k8s.io/controller-runtime") {
		t.Errorf("%v", err)
	}
}

// A file that cannot be parsed is named, with the line.
func TestMainThatDoesNotParse(t *testing.T) {
	files, _ := projectFiles(t, "testdata/mail.txtar")
	files["cmd/main.go"] = strings.Replace(files["cmd/main.go"], "flag.Parse()", "flag.Parse(", 1)
	dir := project(t, files)
	_, err := scaffold.Read(dir)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "cmd/main.go")+":3") ||
		!strings.Contains(err.Error(), "go build ./... must pass") {
		t.Errorf("%v", err)
	}
}

// What cannot be read is named, with what to do.
func TestBadManifest(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "PROJECT"), []byte("resources: 7\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := scaffold.Read(dir)
	if err == nil || !strings.Contains(err.Error(), "PROJECT cannot be read") ||
		!strings.Contains(err.Error(), "move it away") {
		t.Errorf("%v", err)
	}
}
