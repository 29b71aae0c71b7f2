package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/cmd/wavetank/internal/scaffold"
	"github.com/wavetank/wavetank/internal/story"
)

// backupProject is a kubebuilder project without a trace of Wavetank, except for the place of this
// checkout in go.mod. The archives of testdata have more files.
func backupProject(t *testing.T, archives ...string) string {
	t.Helper()
	t.Setenv("GOWORK", "off")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/backup")); err != nil {
		t.Fatal(err)
	}
	for _, archive := range append([]string{"init.txtar"}, archives...) {
		unpack(t, archive, dir)
	}
	tests, _ := filepath.Glob(filepath.Join(dir, "internal", "*", "*_sim_test.go"))
	for _, test := range tests {
		if err := os.Remove(test); err != nil {
			t.Fatal(err)
		}
	}
	here, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := goCommand(t.Context(), dir, "mod", "edit", "-replace="+ours+"="+here, "-require="+ours+"@v0.1.0",
		"-replace="+ginkgoModule+"="+filepath.Join(here, "sim", "simginkgo"),
		"-require="+ginkgoModule+"@v0.1.0", "-require=github.com/onsi/ginkgo/v2@v2.27.2",
		"-require=github.com/onsi/gomega@v1.38.2"); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	return dir
}

// danglingClaim is what is found in the project.
const danglingClaim = `"status names what exists" broke`

func lines(t *testing.T, file string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(data, []byte("\n"))
}

// In a project of kubebuilder's, the first finding comes without a line being written: the claim
// that a user deletes stays in the status. A test that is there is not replaced.
//
//make:campaigns
func TestInit(t *testing.T) {
	dir := backupProject(t)
	code, out := do(t, t.Context(), "init")
	file := filepath.Join(dir, "cmd", "backup_sim_test.go")
	if code != exitBroke || !strings.Contains(out, danglingClaim) || strings.Count(out, "guess") != 1 ||
		!strings.Contains(out, "guess: the operator runs as cluster administrator") { // the project has no roles
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	if n := lines(t, file); n > 35 {
		t.Errorf("%d lines were written", n)
	}
	stories, err := story.List(filepath.Join(dir, "cmd", "testdata", "sim", "TestSimulatedBackup"))
	if err != nil || len(stories) == 0 {
		t.Fatalf("no story is kept: %v", err)
	}
	code, out = do(t, t.Context(), "export", stories[0])
	if code != exitHeld || !strings.Contains(out, "(t, backup, ") {
		t.Errorf("export: exit code %d:\n%s", code, out)
	}
	if err := os.WriteFile(file, []byte("package main\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, out = do(t, t.Context(), "init", "--no-run")
	if !strings.Contains(out, "has been edited, and stays as it is") || lines(t, file) != 1 {
		t.Errorf("what was there:\n%s", out)
	}
}

// Until it is edited, a test is renewed: it gets what init knows now, and keeps the hosts that were
// guessed.
func TestInitRenewsItsTests(t *testing.T) {
	dir := backupProject(t)
	file := filepath.Join(dir, "cmd", "backup_sim_test.go")
	initAgain := func(want string, parts ...string) {
		t.Helper()
		_, out := do(t, t.Context(), "init", "--no-run")
		source, err := os.ReadFile(file)
		if err != nil || !strings.Contains(out, want) {
			t.Fatalf("it does not say %q (%v):\n%s", want, err, out)
		}
		for _, part := range parts {
			if !strings.Contains(string(source), part) {
				t.Errorf("the test has no %q:\n%s", part, source)
			}
		}
	}
	initAgain(": written", "func TestSimulatedBackup(t *testing.T) {\n\tsim.Check(t, backup, sim.KeepGoing())\n}",
		"func backup(w *sim.World) {")
	moved := filepath.Join("internal", "controller", "backup_sim_test.go") // where an earlier init wrote it
	mine := filepath.Join("internal", "controller", "mine_sim_test.go")
	for path, source := range map[string]string{moved: "", mine: "// mine\n"} {
		source = string(scaffold.Marked([]byte("package controller\n"))) + source
		if err := os.WriteFile(filepath.Join(dir, path), []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	initAgain(moved+": removed, as another test has taken its place", "sim.Check(t, backup, sim.KeepGoing())")
	for path, stays := range map[string]bool{moved: false, mine: true} {
		if _, err := os.Stat(filepath.Join(dir, path)); (err == nil) != stays {
			t.Errorf("%s: %v", path, err)
		}
	}
	initAgain(": is up to date")
	old := []byte("package main\n\nvar _ = w.External(\"mail.example\", auto.REST())\n")
	if err := os.WriteFile(file, scaffold.Marked(old), 0o666); err != nil {
		t.Fatal(err)
	}
	initAgain(": renewed", "sim.Check(t, backup, sim.KeepGoing())", `w.External("mail.example", auto.REST())`)
	edited, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	edited = append(edited, "\n// mine\n"...)
	if err := os.WriteFile(file, edited, 0o666); err != nil {
		t.Fatal(err)
	}
	initAgain("has been edited, and stays as it is", "// mine")
}

// A module that cannot be had leaves no file behind, and a checkout helps.
func TestInitWithoutTheModule(t *testing.T) {
	dir := backupProject(t, "init-ginkgo.txtar")
	t.Setenv("GOPROXY", "off")
	edit := func(args ...string) {
		t.Helper()
		if err := goCommand(t.Context(), dir, append([]string{"mod", "edit"}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
	edit("-dropreplace="+ours, "-droprequire="+ours, "-dropreplace="+ginkgoModule, "-droprequire="+ginkgoModule)
	code, out := do(t, t.Context(), "init", "--no-run")
	here := checkout()
	if code != exitUsage || !strings.Contains(out, "go mod edit -replace="+ours+"="+here+"\n") ||
		!strings.Contains(out, "nothing is written") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "internal", "controller", "simulation")); err == nil {
		t.Error("a test was written that cannot be built")
	}
	relative, err := filepath.Rel(dir, here)
	if err != nil {
		t.Fatal(err)
	}
	edit("-replace=" + ours + "=" + filepath.ToSlash(relative)) // and the one for Ginkgo is not needed
	code, out = do(t, t.Context(), "init", "--no-run")
	if code != exitHeld || strings.Contains(out, "go get") {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	for _, want := range []string{ours + " v", ginkgoModule + " v",
		ginkgoModule + " => " + filepath.ToSlash(relative) + "/sim/simginkgo\n"} {
		if err != nil || !strings.Contains(string(mod), want) {
			t.Errorf("go.mod lacks %q (%v):\n%s", want, err, mod)
		}
	}
}

// Where the tests are Ginkgo's, with a suite that starts etcd, the spec of a controller that no
// main starts is in a package without one.
//
//make:campaigns
func TestInitWithGinkgo(t *testing.T) {
	dir := backupProject(t, "init-ginkgo.txtar")
	code, out := do(t, t.Context(), "init")
	if code != exitBroke || !strings.Contains(out, danglingClaim) || !strings.Contains(out, "Ran 1 of 1 Specs") ||
		strings.Count(out, "go test ./internal/controller/simulation") != 1 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	for _, file := range []string{"cmd/backup_sim_test.go", "internal/controller/simulation/note_sim_test.go",
		"internal/controller/simulation/suite_test.go"} {
		if n := lines(t, filepath.Join(dir, filepath.FromSlash(file))); n > 35 {
			t.Errorf("%s has %d lines", file, n)
		}
	}
}

// What main does not say is guessed, and the guess is named. A scenario whose every reconcile fails
// says why, and what to do.
//
//make:campaigns
func TestInitGuesses(t *testing.T) {
	backupProject(t, "init-guesses.txtar")
	code, out := do(t, t.Context(), "init")
	for _, want := range []string{
		"no call of ctrl.NewManager was seen", "the scheme of the manager was not seen",
		"no file below config/samples has an object of kind Backup", "a field is an HTTP client",
		"SetupWithManager gets controller.Options{} as o", "SetupWithManager gets false as on",
		`every reconcile of process "post" failed`,
		`to do: if a user or an installer makes ServiceAccount "login", w.Apply it before w.Settle`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("exit code %d, and it does not say %q:\n%s", code, want, out)
		}
	}
}

// A tool of the module that is not reachable does not keep the tests from being built.
func TestInitWhereTidyFails(t *testing.T) {
	dir := backupProject(t)
	t.Setenv("GOPROXY", "off")
	const tools = "//go:build tools\n\npackage hack\n\nimport _ \"example.com/unreachable/tool\"\n"
	if err := errors.Join(writeFile("hack/tools.go", []byte(tools)),
		goCommand(t.Context(), dir, "mod", "edit", "-droprequire="+ours)); err != nil {
		t.Fatal(err)
	}
	code, out := do(t, t.Context(), "init", "--no-run")
	if code != exitHeld || !strings.Contains(out, "note: go mod tidy failed, so go get -t has added") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if err := goCommand(t.Context(), dir, "list", "-test", "./internal/controller"); err != nil {
		t.Errorf("the tests cannot be built: %v", err)
	}
}

// Outside of a module, every command says where there is one.
func TestOutsideOfModules(t *testing.T) {
	t.Setenv("GOWORK", "off")
	dir := t.TempDir()
	err := writeFile(filepath.Join(dir, "operator", "go.mod"), []byte("module example.com/operator\n"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, command := range []string{"list", "run", "ci", "vet", "doctor"} {
		code, out := do(t, t.Context(), command)
		if code != exitUsage || !strings.Contains(out, "has no go.mod; there are other modules below it, name the "+
			"operator's: cd operator\n") {
			t.Errorf("%s: exit code %d:\n%s", command, code, out)
		}
	}
}

// Where there is nothing to read, it says what was looked for and what to do.
func TestInitOfNothing(t *testing.T) {
	t.Setenv("GOWORK", "off")
	dir := t.TempDir()
	says := func(dir, want string) {
		t.Helper()
		if code, out := do(t, t.Context(), "init", dir); code != exitUsage || !strings.Contains(out, want) {
			t.Errorf("%d, and it does not say %q: %s", code, want, out)
		}
	}
	file := func(name, text string) {
		t.Helper()
		if err := writeFile(filepath.Join(dir, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	const none = "no directory above or below it has one"
	says(dir, none)
	file("b/go.mod", "module example.com/b\n\ngo 1.26.0\n")
	file("a/go.mod", "module example.com/a\n\ngo 1.26.0\n")
	file("a/x.go", "package x\n")
	file("a/deep/down/x.go", "package x\n")
	says(dir, filepath.Join(dir, "a")+", or wavetank init "+filepath.Join(dir, "b"))
	for i := range 12 {
		file(fmt.Sprintf("many/m%02d/go.mod", i), "module example.com/m\n")
	}
	says(filepath.Join(dir, "many"), filepath.Join(dir, "many", "m09")+", or one of 2 others\n")
	says(filepath.Join(dir, "a", "deep"), "it is in the module "+filepath.Join(dir, "a")+": run wavetank init")
	file("a/y.go", "package x\n\nimport \"sigs.k8s.io/controller-runtime\"\n\nvar a int = (\n")
	says(filepath.Join(dir, "a"), "cannot be read; go build ./... must pass before its controllers can be run:\n"+
		filepath.Join(dir, "a", "y.go")+":5:15: expected operand")
	if err := os.Remove(filepath.Join(dir, "a", "y.go")); err != nil {
		t.Fatal(err)
	}
	const missing = "has a method SetupWithManager(ctrl.Manager) error and a method Reconcile; write a test by hand"
	says(filepath.Join(dir, "a"), missing)
	file("a/operator/go.mod", "module example.com/a/operator\n\ngo 1.26.0\n")
	says(filepath.Join(dir, "a"), "there are other modules below it, name the operator's: wavetank init ")
}
