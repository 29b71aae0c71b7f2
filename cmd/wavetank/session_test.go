package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/internal/story"
)

// moods is a package whose runs differ now and then, and which breaks in exact mode alone.
const moods = "./testdata/moods"

// wavetank run names what outlives a crash, and so does the page that wavetank report makes.
func TestRunWarnsOfWhatOutlives(t *testing.T) {
	dir := t.TempDir()
	code, out := do(t, t.Context(), "run", "./testdata/vault", "--runs", "2", "--procs", "1", "--report", dir)
	const want = "vault.go:20: open writes the package variable " +
		"github.com/wavetank/wavetank/cmd/wavetank/testdata/vault.opened: it outlives a crash"
	if code != exitHeld || strings.Count(out, "warning: testdata/vault/"+want) != 1 {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if code, out := do(t, t.Context(), "report", dir); code != exitHeld {
		t.Fatal(out)
	}
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil || !strings.Contains(string(page), "<li>testdata/vault/"+want) {
		t.Errorf("%v:\n%s", err, page)
	}
	if code, out := do(t, t.Context(), "vet", "./testdata/vault"); code != exitBroke || !strings.Contains(out, want) {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// A campaign whose runs differ now and then is made again in exact mode. That exit code counts, and
// both results stay.
//
//make:exact
func TestRunSwitchesToExactMode(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the runtime and the standard library again")
	}
	t.Cleanup(func() { os.RemoveAll(filepath.Join(moods, "testdata")) })
	dir := t.TempDir()
	code, out := do(t, t.Context(), "run", moods, "--runs", "20", "--procs", "1", "--report", dir)
	if code != exitBroke || strings.Count(out, "made again in exact mode") != 1 {
		t.Errorf("exit code %d, want %d, that of the campaign in exact mode:\n%s", code, exitBroke, out)
	}
	for _, want := range []string{"TestMoods: 20 runs", ", complete;",
		"differ now and then: a map range, a random number or a variable that outlives runs, in the scenario itself",
		"moods.TestMoods.func1 (moods_test.go:", "wavetank run --exact", "TestMoods in exact mode: ",
		"no mood is exact", story.Overlaid} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "TestMoods.*.json"))
	var exact []bool
	for _, f := range files {
		r, err := story.ReadResult(f)
		if strings.HasSuffix(f, ".run.json") {
			continue
		}
		if err != nil || r.Exact != (len(r.Findings) > 0) || r.Exact != r.Replays() {
			t.Errorf("%s: %v, %+v", f, err, r)
			continue
		}
		exact = append(exact, r.Exact)
	}
	if len(exact) != 2 || exact[0] == exact[1] {
		t.Errorf("of the results one is to be of exact mode and one not: %q", files)
	}
	code, out = do(t, t.Context(), "report", dir, "--format", "junit")
	if code != exitHeld || strings.Count(out, "<testcase ") != 1 || !strings.Contains(out, "<failure ") {
		t.Errorf("the report is of the campaign in exact mode: exit code %d\n%s", code, out)
	}
	to := filepath.Join(dir, "merged")
	code, out = do(t, t.Context(), "report", "--merge", to, dir)
	if code != exitBroke || !strings.Contains(out, "TestMoods: ") ||
		!strings.Contains(out, "TestMoods in exact mode: ") {
		t.Errorf("merge: exit code %d, want %d and both campaigns:\n%s", code, exitBroke, out)
	}
	if merged, _ := filepath.Glob(filepath.Join(to, "*.json")); len(merged) != 2 {
		t.Errorf("the merged results are %q", merged)
	}
}

// What is merged into the default directory is ignored by git, and a directory that is there stays
// as it is.
func TestDefaultDirectoriesAreIgnored(t *testing.T) {
	dir := t.TempDir()
	r := &story.Result{Test: "TestX", Package: "x", Shards: 1, Complete: true, Runs: 1}
	if err := r.Write(filepath.Join(dir, "results")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	ignored := filepath.Join("reports", "out", "merged", ".gitignore")
	for range 2 {
		if code, out := do(t, t.Context(), "merge", "results"); code != exitHeld {
			t.Fatal(out)
		}
	}
	if data, err := os.ReadFile(ignored); err != nil || !strings.HasSuffix(string(data), "\n*\n") {
		t.Errorf("%q (%v)", data, err)
	}
	if err := os.Remove(ignored); err != nil {
		t.Fatal(err)
	}
	do(t, t.Context(), "merge", "results")
	do(t, t.Context(), "merge", "results", "--to", "named")
	for _, file := range []string{ignored, filepath.Join("named", ".gitignore")} {
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s was written", file)
		}
	}
}

// The same campaign in exact mode is another one: both are merged, and a report has the later one.
func TestExactCampaignsAreMergedApart(t *testing.T) {
	dir := t.TempDir()
	for i, exact := range []bool{false, true} {
		r := &story.Result{Test: "TestX", Package: "x", Shards: 1, Exact: exact, Complete: true, Runs: 1 + i}
		sub := filepath.Join(dir, fmt.Sprint(i))
		if err := r.Write(sub); err != nil {
			t.Fatal(err)
		}
		when := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(filepath.Join(sub, r.FileName()), when, when); err != nil {
			t.Fatal(err)
		}
	}
	all, err := mergeDir(selection{}, dir)
	if err != nil || len(all) != 2 || all[0].FileName() == all[1].FileName() {
		t.Errorf("merged to %+v (%v)", all, err)
	}
	newest, err := mergeDir(selection{newest: true}, dir)
	if err != nil || len(newest) != 1 || !newest[0].Exact || newest[0].Runs != 2 {
		t.Errorf("the newest is %+v (%v)", newest, err)
	}
}
