package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/wavetank/wavetank/cmd/wavetank/internal/scaffold"
)

// unpack writes the files of an archive in testdata to a directory.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	files, err := txtar.ParseFile(filepath.Join("testdata", archive))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files.Files {
		if err := writeFile(filepath.Join(dir, f.Name), f.Data); err != nil {
			t.Fatal(err)
		}
	}
}

// layOut lays out the operator of an archive in testdata and enters its directory. go.mod has this
// checkout in place of a release.
func layOut(t *testing.T, archive string) {
	t.Helper()
	t.Setenv("GOWORK", "off")
	here, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	unpack(t, archive, dir)
	t.Chdir(dir)
	err = goCommand(t.Context(), dir, "mod", "edit", "-replace="+ours+"="+here, "-require="+ours+"@v0.1.0")
	if err := errors.Join(err, goCommand(t.Context(), dir, "mod", "tidy")); err != nil {
		t.Fatal(err)
	}
}

// painted is what the written test gets as a question of its own: whether the two controllers share
// their colours, and whether flags, environment and chart reach them.
const painted = `	w.Sometimes("a wall is painted", func(h *history.History) bool {
		o, ok := h.Object("paint.example.com", "Wall", "default", "north")
		var wall v1.Wall
		return ok && o.Into(&wall) == nil && wall.Status.Paint == "rough satin here red"
	})
	auto.Scenario(`

// In a project that is laid out unlike kubebuilder's, README's one command tests what main starts:
// all controllers are one process, wired as in main, with the rights and the flags of the chart.
//
//make:campaigns
func TestInitOfAnotherStyle(t *testing.T) {
	layOut(t, "paint.txtar")
	file := filepath.Join("cmd", "operator", "paint_sim_test.go")
	code, out := do(t, t.Context(), "init")
	if code != exitHeld || strings.Contains(out, "guess:") || !strings.Contains(out, "nothing broke in 100 runs") ||
		!strings.Contains(out, "rights that no run has used") {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(source), "\tauto.Scenario(", painted, 1)
	text = strings.Replace(text, "import (\n", "import (\n\t\"github.com/wavetank/wavetank/history\"\n", 1)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	code, out = do(t, t.Context(), "run", "./...", "--runs", "20")
	if code != exitHeld || !strings.Contains(out, "20 runs") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// A nil that is dereferenced where the test left something empty is the test's fault.
func TestBlamed(t *testing.T) {
	dir := t.TempDir()
	err := writeFile(filepath.Join(dir, "internal", "rule.go"), []byte("package rule\n\nvar _ = r.Rules.Get()\n"))
	if err != nil {
		t.Fatal(err)
	}
	const text = "always \"no panic\" broke: runtime error: invalid memory address or nil pointer dereference " +
		"at internal/rule.go:3"
	empty := []scaffold.Empty{{Name: "Rules", Why: "Rules was left nil"}, {Name: "Get", Why: "Get"}, {Name: "Other"}}
	got := blamed(text, filepath.Join(dir, "cmd"), empty)
	if strings.Join(got, ", ") != "Rules was left nil, Get" {
		t.Errorf("to blame are %q", got)
	}
	for _, other := range []string{strings.ReplaceAll(text, "rule.go:3", "rule.go:1"), "no nil at internal/rule.go:3"} {
		if got := blamed(other, dir, empty); len(got) > 0 {
			t.Errorf("%q blames %q", other, got)
		}
	}
}

// A setup that fails is the fault of the values that the test has.
func TestValuesAreBlamed(t *testing.T) {
	spec := &scaffold.Test{File: "cmd/a_sim_test.go", Guesses: []string{"REGION is eu, because …"}}
	got := valuesBlamed(`sim: the setup function of process "a" failed: --url is required`+"\nmore", spec)
	if len(got) != 2 || !strings.Contains(got[0], "(--url is required)") || !strings.Contains(got[0],
		"into cmd/a_sim_test.go") || got[1] != "the guess may be to blame: REGION is eu, because …" {
		t.Errorf("it says %q", got)
	}
	if got := valuesBlamed("another failure", spec); got != nil {
		t.Errorf("%q are blamed", got)
	}
}
