// This file keeps the README of Wavetank true; an operator's own tests need nothing of it.

package controller

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/sim"
)

// withBug is the variable that makes a child process of this test test the operator with the bug
// that it once had.
const withBug = "WAVETANK_TEST_GENERATED"

var generated = os.Getenv(withBug) != ""

// The bug that the operator once had is found.
func TestGeneratedNames(t *testing.T) {
	was := generated
	t.Cleanup(func() { generated = was })
	generated = true
	if r := sim.Explore(t, oneClaim); r.Failure == nil || r.Failure.Property != "a backup has at most one claim" {
		t.Errorf("%d runs found %+v", r.Runs, r.Failure)
	}
}

// With the bug, the README's example fails as the README says. The texts are compared where they do
// not depend on which run was found.
func TestReadmeShowsAFailure(t *testing.T) {
	config, err := filepath.Abs("../../config")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir() // stories are kept next to the test
	dir := filepath.Join(root, "internal", "controller")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(config, filepath.Join(root, "config")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestOneClaim$")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), withBug+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("the bug is not caught:\n%s", out)
	}
	readme, err := os.ReadFile("../../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		" broke at step ", "backup/1         reconciles backup default/a #1", "create PersistentVolumeClaim default/a-",
		"there are 2 claims", "shrunk from ", "story:  testdata/sim/TestOneClaim/",
		"replay: go test example.com/backup/internal/controller -run '^TestOneClaim$' " +
			"-sim.replay=testdata/sim/TestOneClaim/",
	} {
		if !strings.Contains(string(out), part) {
			t.Errorf("the failure does not say %q:\n%s", part, out)
		}
		if !strings.Contains(string(readme), part) {
			t.Errorf("README.md does not say %q", part)
		}
	}
}
