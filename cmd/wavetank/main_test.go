package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim/story"
)

// shop is the package that these tests drive.
const shop = "./testdata/shop"

// do runs one command line.
func do(t *testing.T, ctx context.Context, args ...string) (code int, out string) {
	t.Helper()
	var b bytes.Buffer
	code = execute(ctx, args, &b, &b)
	return code, b.String()
}

// tidyStories removes what failing scenarios leave beside their package.
func tidyStories(t *testing.T) {
	t.Cleanup(func() { os.RemoveAll(filepath.Join(shop, "testdata")) })
}

func TestRunHolds(t *testing.T) {
	dir := t.TempDir()
	code, out := do(t, t.Context(), "run", shop, "--run", "^TestHolds$", "--runs", "40", "--procs", "2", "--report", dir)
	if code != exitHeld || !strings.Contains(out, "TestHolds: 40 runs") || !strings.Contains(out, ", complete;") {
		t.Errorf("exit code %d, want %d and 40 runs of two processes together:\n%s", code, exitHeld, out)
	}
}

// One finding on its way through the whole command: found by two processes, merged, told, exported, replayed, shrunk.
func TestRunBreaks(t *testing.T) {
	tidyStories(t)
	dir := t.TempDir()
	code, out := do(t, t.Context(), "run", shop, "--run", "^TestBreaks$", "--runs", "60", "--procs", "2", "--report", dir)
	if code != exitBroke || !strings.Contains(out, "a greeting stays as it is") || !strings.Contains(out, "replay: go test") {
		t.Fatalf("exit code %d, want %d, the sentence and a replay command:\n%s", code, exitBroke, out)
	}
	for format, want := range map[string]string{"html": "index.html", "text": "a greeting stays as it is", "markdown": "sequenceDiagram",
		"json": `"findings"`, "junit": "<testsuite", "annotations": "::error"} {
		if code, out := do(t, t.Context(), "report", dir, "--format", format); code != exitHeld || !strings.Contains(out, want) {
			t.Errorf("report --format %s: exit code %d, want %q:\n%s", format, code, want, out)
		}
	}
	merged := filepath.Join(dir, "merged")
	if code, out := do(t, t.Context(), "merge", "--to", merged, dir); code != exitBroke || !strings.Contains(out, ", under RacingRequeue and StaleCache") {
		t.Fatalf("merge: exit code %d, want %d and the cause:\n%s", code, exitBroke, out)
	}
	paths, err := story.List(filepath.Join(merged, "stories"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("merge kept no story: %v", err)
	}
	if code, out := do(t, t.Context(), "explain", paths[0]); code != exitHeld || !strings.Contains(out, "its cache holds ConfigMap default/guest") {
		t.Errorf("explain: exit code %d:\n%s", code, out)
	}
	for _, command := range []string{"replay", "shrink"} {
		want := map[string]int{"replay": exitBroke, "shrink": exitHeld}[command]
		if code, out := do(t, t.Context(), command, paths[0]); code != want || !strings.Contains(out, "a greeting stays as it is") {
			t.Errorf("%s: exit code %d, want %d and the sentence:\n%s", command, code, want, out)
		}
	}
	exportAndRun(t, paths[0])
}

// exportAndRun writes the story as a Go test, which must fail as the story does.
func exportAndRun(t *testing.T, path string) {
	t.Helper()
	file := filepath.Join(shop, "exported_test.go")
	defer os.Remove(file)
	if code, out := do(t, t.Context(), "export", path, "--to", file); code != exitHeld {
		t.Fatalf("export: exit code %d:\n%s", code, out)
	}
	if code, out := do(t, t.Context(), "export", path, "--to", file); code != exitUsage || !strings.Contains(out, "exists") {
		t.Errorf("export over a file: exit code %d, want %d:\n%s", code, exitUsage, out)
	}
	out, err := exec.Command("go", "test", shop, "-run", "^TestStoryBreaks", "-count=1").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "a greeting stays as it is") {
		t.Errorf("the exported test should break as the story does (%v):\n%s", err, out)
	}
}

func TestInterruptedRunLeavesAReport(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	go func() { // interrupt it as soon as there is something to lose
		for ctx.Err() == nil {
			if found, _ := filepath.Glob(filepath.Join(dir, "*", "*.json")); len(found) > 0 {
				cancel()
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	code, out := do(t, ctx, "run", shop, "--run", "^TestHolds$", "--for", "10m", "--procs", "1", "--report", dir)
	if code != exitInterrupted || !strings.Contains(out, "not complete") {
		t.Errorf("exit code %d, want %d and a partial report:\n%s", code, exitInterrupted, out)
	}
}

func TestList(t *testing.T) {
	code, out := do(t, t.Context(), "list", shop)
	if code != exitHeld || !strings.Contains(out, "TestHolds") || !strings.Contains(out, "shop_test.go:") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

func TestVet(t *testing.T) {
	if code, out := do(t, t.Context(), "vet", shop); code != exitHeld || out != "" {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if code, out := do(t, t.Context(), "vet", "./hazard/testdata/src/a"); code != exitBroke || !strings.Contains(out, "a.go:23: Create inside a range over a map") {
		t.Errorf("exit code %d, want %d:\n%s", code, exitBroke, out)
	}
}

func TestDoctor(t *testing.T) {
	code, out := do(t, t.Context(), "doctor", shop)
	if code != exitHeld && code != exitUsage || !strings.Contains(out, "go1.") || !strings.Contains(out, "controller-runtime") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	junk := filepath.Join(dir, "junk.txtar")
	evil := filepath.Join(dir, "evil.txtar")
	s := story.Story{Test: "TestX", Package: "x", Temper: "always", Property: "p", Replay: "go test x -exec=/bin/sh -sim.replay=y"}
	gone, old := filepath.Join(dir, "gone.txtar"), s
	old.Replay = "go test " + shop + " -run '^TestThatIsNoMore$' -sim.replay=y"
	for path, data := range map[string][]byte{junk: []byte("no story"), evil: s.Encode(), gone: old.Encode()} {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"unknown command", []string{"jump"}},
		{"requires at least 1 arg", []string{"replay"}},
		{"not a wavetank story", []string{"replay", junk}},
		{"-exec=/bin/sh", []string{"replay", evil}},
		{"its command chooses no test any more", []string{"replay", gone}},
		{"at least one process", []string{"run", shop, "--procs", "0"}},
		{"would never end", []string{"run", shop, "--runs", "0"}},
		{"no regular expression", []string{"run", shop, "--run", "("}},
		{"shows the scenarios", []string{"run", shop, "--run", "^Nope$", "--runs", "1", "--procs", "1", "--report", filepath.Join(dir, "none")}},
		{"has a test that imports", []string{"run", "."}},
		{"no result", []string{"merge", dir}},
		{"not a directory", []string{"report", junk}},
		{"no run", []string{"report", dir, "--format", "text"}},
		{"not a package name", []string{"export", evil, "--scenario", "f", "--package", "a b"}},
	} {
		code, out := do(t, t.Context(), c.args...)
		if code != exitUsage || !strings.Contains(out, c.want) {
			t.Errorf("%v: exit code %d, want %d and %q:\n%s", c.args, code, exitUsage, c.want, out)
		}
	}
}
