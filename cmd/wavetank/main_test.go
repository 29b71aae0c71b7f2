package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
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

// tidyStories removes what failing scenarios leave in the folder of their package.
func tidyStories(t *testing.T) {
	t.Cleanup(func() { os.RemoveAll(filepath.Join(shop, "testdata")) })
}

// Commands that have become flags of others still work, and say what to use. The help lists the
// others.
func TestRenamedCommands(t *testing.T) {
	_, help := do(t, t.Context(), "--help")
	for args, now := range map[string]string{"list " + shop: "run --list", "explain none.txtar": "replay --explain",
		"merge " + t.TempDir(): "report --merge"} {
		name, arg, _ := strings.Cut(args, " ")
		code, out := do(t, t.Context(), name, arg)
		if want := "note: wavetank " + name + " is now wavetank " + now + "\n"; !strings.HasPrefix(out, want) {
			t.Errorf("%s: exit code %d, and it does not begin with %q:\n%s", args, code, want, out)
		}
		if strings.Contains(help, "\n  "+name+" ") {
			t.Errorf("the help lists %s:\n%s", name, help)
		}
		if verb, _, _ := strings.Cut(now, " "); !strings.Contains(help, "\n  "+verb+" ") {
			t.Errorf("the help does not list %s:\n%s", verb, help)
		}
	}
}

func TestRunHolds(t *testing.T) {
	dir := t.TempDir()
	code, out := do(t, t.Context(), "run", shop, "--run", "^TestHolds$", "--runs", "40", "--procs", "2", "--report",
		dir)
	if code != exitHeld || !strings.Contains(out, "TestHolds: 40 runs") || !strings.Contains(out, ", complete;") {
		t.Errorf("exit code %d, want %d and 40 runs of two processes together:\n%s", code, exitHeld, out)
	}
}

// One finding on its way through the whole command: two processes find it, then it is merged,
// explained, exported, replayed and shrunk.
func TestRunBreaks(t *testing.T) {
	tidyStories(t)
	dir := t.TempDir()
	again := func(procs string) []string {
		return []string{"run", shop, "--run", "^TestBreaks$", "--runs", "60", "--procs", procs, "--report", dir}
	}
	code, out := do(t, t.Context(), again("2")...)
	if code != exitBroke || !strings.Contains(out, "a greeting stays as it is") ||
		!strings.Contains(out, "replay: go test") {
		t.Fatalf("exit code %d, want %d, the sentence and a replay command:\n%s", code, exitBroke, out)
	}
	for format, want := range map[string]string{
		"html": "index.html", "text": "a greeting stays as it is", "markdown": "sequenceDiagram",
		"json": `"findings"`, "junit": "<testsuite", "annotations": "::error",
	} {
		if code, out := do(t, t.Context(), "report", dir, "--format", format); code != exitHeld ||
			!strings.Contains(out, want) {
			t.Errorf("report --format %s: exit code %d, want %q:\n%s", format, code, want, out)
		}
	}
	merged := filepath.Join(dir, "merged")
	if code, out := do(t, t.Context(), "report", "--merge", merged, dir); code != exitBroke ||
		!strings.Contains(out, ", decided at ") {
		t.Fatalf("merge: exit code %d, want %d and the cause:\n%s", code, exitBroke, out)
	}
	paths, err := story.List(filepath.Join(merged, "stories"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("merge kept no story: %v", err)
	}
	if code, out := do(t, t.Context(), "replay", "--explain", paths[0]); code != exitHeld ||
		!strings.Contains(out, "its cache holds ConfigMap default/visitor") {
		t.Errorf("explain: exit code %d:\n%s", code, out)
	}
	drawn := story.Story{
		Test: "TestX", Kind: "always", Property: "p",
		Choices: []story.Choice{
			{ID: story.ID{Label: story.Label{Kind: story.Draw, Of: "n", What: "1"}, Nth: 1}, Value: 7},
		},
		History: []string{"00:00.001    op/1             fault: Crash(op): before update ConfigMap default/a"},
	}
	_, out = do(t, t.Context(), "replay", "--explain", write(t, drawn))
	if !strings.Contains(out, `random word 2 of draw 2 of "n"`) ||
		!strings.Contains(out, "op/1 meets a fault: Crash(op)") {
		t.Errorf("explain:\n%s", out)
	}
	for _, command := range []string{"replay", "shrink"} {
		want := map[string]int{"replay": exitBroke, "shrink": exitHeld}[command]
		if code, out := do(t, t.Context(), command, paths[0]); code != want ||
			!strings.Contains(out, "a greeting stays as it is") {
			t.Errorf("%s: exit code %d, want %d and the sentence:\n%s", command, code, want, out)
		}
	}
	replayFromElsewhere(t)
	exportAndRun(t, paths[0])

	// Run again, also with another division: findings stay, and the last campaign of a test counts.
	code, out = do(t, t.Context(), again("2")...)
	if code != exitBroke || strings.Contains(out, "no campaign was begun") || !strings.Contains(out, "; first by") {
		t.Errorf("run again: exit code %d, want %d and what was found:\n%s", code, exitBroke, out)
	}
	os.RemoveAll(merged)
	do(t, t.Context(), again("1")...)
	if code, out := do(t, t.Context(), "report", dir, "--format", "junit"); code != exitHeld ||
		strings.Count(out, `<testcase name="TestBreaks"`) != 1 {
		t.Errorf("report of two divisions: exit code %d, want %d and one campaign:\n%s", code, exitHeld, out)
	}
}

// replayFromElsewhere replays the directory of the test's stories from outside the module.
func replayFromElsewhere(t *testing.T) {
	t.Helper()
	kept, err := filepath.Abs(filepath.Join(shop, "testdata", "sim"))
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	paths, err := story.List(filepath.Join(kept, "TestBreaks"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(paths[0])
	if err == nil {
		err = os.WriteFile(filepath.Join(kept, "TestBreaks", "again.txtar"), data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	code, out := do(t, t.Context(), "replay", kept)
	if code != exitBroke || !strings.Contains(out, "a greeting stays as it is") {
		t.Errorf("replay of a directory from elsewhere: exit code %d, want %d and the sentence:\n%s", code, exitBroke,
			out)
	}
	if strings.Count(out, "building the tests of") != 1 || strings.Count(out, "go test ") < 2 {
		t.Errorf("replay builds the tests of a package once for all its stories:\n%s", out)
	}
	t.Chdir(here)
}

// exportAndRun writes the story as a Go test, which must fail as the story does.
func exportAndRun(t *testing.T, path string) {
	t.Helper()
	file := filepath.Join(shop, "exported_test.go")
	defer os.Remove(file)
	if code, out := do(t, t.Context(), "export", path, "--to", file); code != exitHeld {
		t.Fatalf("export: exit code %d:\n%s", code, out)
	}
	if code, out := do(t, t.Context(), "export", path, "--to", file); code != exitUsage ||
		!strings.Contains(out, "exists") {
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

// A story's columns are wider where a run takes days or a name is long.
func TestColumnsOfAStory(t *testing.T) {
	for _, e := range []history.Event{
		{At: time.Second, Process: "op", Incarnation: 1},
		{At: time.Second + 137425215, Process: "op", Incarnation: 12},
		{At: 26*time.Hour + 1, Process: "another writer"},
		{At: time.Minute + 500, Process: "a-process-of-a-long-name", Incarnation: 1},
	} {
		e.Kind, e.Injection = history.Fault, &history.Injection{Class: "Crash", How: "x"}
		h := &history.History{}
		h.Add(e)
		at, who, what := columns(h.Render()[0])
		if at != history.Clock(e.At.Truncate(time.Millisecond)) || who != e.Actor() || what != "fault: Crash: x" {
			t.Errorf("%q is %q, %q, %q", h.Render()[0], at, who, what)
		}
	}
}

// An explanation begins with what happened, and ends with the choices that matter least, in words.
func TestExplainBeginsWithTheStory(t *testing.T) {
	s := story.Story{
		Test: "TestX", Kind: "always", Property: "p",
		History: []string{"00:00.001    user             create ConfigMap default/a → rv 5"},
		Choices: []story.Choice{
			{ID: story.ID{Label: story.Label{Kind: story.Seed}}, Value: 7},
			{ID: story.ID{Label: story.Label{Kind: story.Names}}, Value: 19606},
			{ID: story.ID{Label: story.Label{Kind: story.Next}, Nth: 3}, Value: 1},
			{ID: story.ID{Label: story.Label{Kind: story.Arm, Of: "LostReply"}}, Value: 1},
			{ID: story.ID{Label: story.Label{Kind: story.Inject, Of: "LostReply", Who: "applied op", Verb: "update",
				What: "ConfigMap default/a"}}, Value: 1},
		},
	}
	_, out := do(t, t.Context(), "replay", "--explain", write(t, s))
	at := 0
	for _, part := range []string{
		"What happened", "user creates ConfigMap", "out of the ordinary", "LostReply applied",
		"the fault LostReply may be injected", "in place of the oldest", "math/rand has another seed", "generates " +
			"other UIDs",
	} {
		next := strings.Index(out[at:], part)
		if next < 0 {
			t.Fatalf("%q is not there, or comes too soon:\n%s", part, out)
		}
		at += next
	}
	if strings.Contains(out, "19606") {
		t.Errorf("a raw answer:\n%s", out)
	}
}

func TestList(t *testing.T) {
	code, out := do(t, t.Context(), "run", "--list", shop)
	if code != exitHeld || !strings.Contains(out, "TestHolds") || !strings.Contains(out, "shop_test.go:") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	tidyStories(t)
	for _, test := range []string{"TestBreaks", "TestThatIsNoMore"} {
		s := story.Story{Test: test, Kind: "always", Property: test + " holds",
			Replay: "go test " + shop + " -run '^" + test + "$/^a$' -sim.replay=x"}
		if _, err := s.Write(filepath.Join(shop, "testdata", "sim", test)); err != nil {
			t.Fatal(err)
		}
	}
	_, out = do(t, t.Context(), "run", "--list", shop)
	if !strings.Contains(out, "always \"TestBreaks holds\"\n") ||
		!strings.Contains(out, "\"TestThatIsNoMore holds\" (nothing replays it: no TestThatIsNoMore is built here)\n") {
		t.Errorf("kept stories:\n%s", out)
	}
}

func TestVet(t *testing.T) {
	if code, out := do(t, t.Context(), "vet", shop); code != exitHeld || out != "" {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if code, out := do(t, t.Context(), "vet", "./internal/hazard/testdata/src/a"); code != exitBroke ||
		!strings.Contains(out, "a.go:30: Create inside a range over a map") {
		t.Errorf("exit code %d, want %d:\n%s", code, exitBroke, out)
	}
}

func TestDoctor(t *testing.T) {
	code, out := do(t, t.Context(), "doctor", shop)
	if code != exitHeld && code != exitUsage || !strings.Contains(out, "go1.") ||
		!strings.Contains(out, "controller-runtime") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// doctor says what is wrong with the versions of a module, and what to do.
func TestDoctorOfModulesThatCannotBeTested(t *testing.T) {
	const (
		imports  = "package x\n\nimport _ \"github.com/wavetank/wavetank/sim\"\n"
		vendored = "# k8s.io/api v0.35.0\n## explicit\nk8s.io/api/core/v1\n"
		replaced = "require k8s.io/client-go v0.35.0\nreplace k8s.io/client-go => k8s.io/client-go v0.35.1"
		held     = "require k8s.io/client-go v0.37.2\nreplace k8s.io/client-go => k8s.io/client-go v0.33.0"
	)
	for name, c := range map[string]struct{ mod, file, content, want string }{
		"below the range": {mod: "require sigs.k8s.io/controller-runtime v0.20.4",
			want: "v0.20.4 is older than v0.23.3: go get sigs.k8s.io/controller-runtime@latest; or put the tests"},
		"replaced client-go": {mod: replaced,
			want: "ok       k8s.io/client-go     v0.35.1 (by a replace line; go.mod requires v0.35.0)"},
		"client-go held back": {mod: held, want: "MISSING  k8s.io/client-go     v0.33.0 (by a replace line; go.mod " +
			"requires v0.37.2) is older than v0.35.0: correct the replace line"},
		"no test": {want: "wavetank init writes a first one for each controller"},
		"a module is missing": {file: "x_test.go", content: imports,
			want: "-mod=readonly keeps go from adding it: go get"},
		"vendored": {file: "vendor/modules.txt", content: vendored,
			want: "vendor/ lacks github.com/wavetank/wavetank/sim: go get"},
		"vendored long ago": {file: "vendor/modules.txt", content: vendored,
			want: "vendor/ is older than go.mod: go mod vendor"},
		"a workspace": {file: "go.work", content: "go 1.26.0\n\nuse .\n",
			want: "go.work decides about versions; GOWORK=off"},
		"an older Go": {file: "bin/go", content: "#!/bin/sh\necho go1.25.3\n",
			want: "MISSING  go                   go1.25.3 (go1.26"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			mod := "module example.com/x\n\ngo 1.26.0\n\n" + c.mod + "\n"
			files := map[string]string{"go.mod": mod, "x.go": "package x\n"}
			if c.file != "" {
				files[c.file] = c.content
			}
			for file, content := range files {
				path := filepath.Join(dir, file)
				if err := errors.Join(writeFile(path, []byte(content)), os.Chmod(path, 0o777)); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(dir)
			t.Setenv("GOWORK", map[bool]string{true: "", false: "off"}[c.file == "go.work"])
			t.Setenv("GOFLAGS", "")
			t.Setenv("PATH", filepath.Join(dir, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
			if code, out := do(t, t.Context(), "doctor", "./..."); code != exitUsage || !strings.Contains(out, c.want) {
				t.Errorf("exit code %d, and it does not say %q:\n%s", code, c.want, out)
			}
		})
	}
}

// If a module must not import an operator's internal packages, doctor prints the path that it
// needs.
func TestDoctorOfInternalPackages(t *testing.T) {
	t.Setenv("GOWORK", "off")
	t.Chdir("../../examples/backup")
	if _, out := do(t, t.Context(), "doctor"); !strings.Contains(out, "tests of this module may import "+
		"example.com/backup/internal/controller; so may those of another one with a path below example.com/backup") {
		t.Errorf("it says:\n%s", out)
	}
	const refused = "x.go:3:8: use of internal package example.com/op/pkg/internal/controllers not allowed"
	if m := hiddenPackage.FindStringSubmatch(refused); m == nil || m[2] != "example.com/op/pkg" {
		t.Errorf("of %q it reads %q", refused, m)
	}
}

// doctor says with which Kubernetes the API server of an operator's tests agrees.
func TestDoctorSaysWhichAPIServer(t *testing.T) {
	t.Setenv("GOWORK", "off")
	t.Chdir("../../examples/kro")
	if _, out := do(t, t.Context(), "doctor"); !strings.Contains(out, "Kubernetes 1.37, with validation and defaults "+
		"of your k8s.io/api v0.36") {
		t.Errorf("it says:\n%s", out)
	}
}

// write keeps a story in a file.
func write(t *testing.T, s story.Story) string {
	t.Helper()
	path, err := s.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	junk := filepath.Join(dir, "junk.txtar")
	evil := filepath.Join(dir, "evil.txtar")
	s := story.Story{Test: "TestX", Package: "x", Kind: "always", Property: "p",
		Replay: "go test x -exec=/bin/sh -sim.replay=y"}
	gone, old := filepath.Join(dir, "gone.txtar"), s
	tagged := s
	tagged.Replay = "go test x -race -tags=a,b -run '^T$' -sim.replay=y -sim.max-steps=9"
	args, err := replayArgs(write(t, tagged), nil)
	for _, arg := range []string{"-race", "-tags=a,b", "-sim.max-steps=9"} {
		if err != nil || !slices.Contains(args, arg) {
			t.Errorf("%s of a story is not replayed: %v, %v", arg, args, err)
		}
	}
	tagged.Replay = `go test x -run '^T$' -sim.replay=y -overlay="$(wavetank overlay .wavetank)"`
	for _, extra := range [][]string{nil, {overlaid}} {
		args, err := replayArgs(write(t, tagged), extra)
		if n := strings.Count(strings.Join(args, "\n"), "-overlay="); err != nil || n != 1 ||
			!slices.Contains(args, overlaid) {
			t.Errorf("a story that was found in exact mode, with %q: %v, %v", extra, args, err)
		}
	}
	old.Replay = "go test " + shop + " -run '^TestThatIsNoMore$' -sim.replay=y"
	for path, data := range map[string][]byte{junk: []byte("no story"), evil: s.Encode(), gone: old.Encode()} {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := slices.Clip([]string{"run", shop, "--procs", "1", "--report", filepath.Join(dir, "none")})
	for _, c := range []struct {
		want string
		args []string
	}{
		{"unknown command", []string{"jump"}},
		{"requires at least 1 arg", []string{"replay"}},
		{"not a wavetank story", []string{"replay", junk}},
		{"-exec=/bin/sh", []string{"replay", evil}},
		{"its command selects no test", []string{"replay", gone}},
		{"at least one process", []string{"run", shop, "--procs", "0"}},
		{"neither a number nor", []string{"run", shop, "--seed", "abc"}},
		{"no campaign could begin", append(run, "--run", "^TestBreaks$", "--strategy", "portfolio,burst")},
		{`--strategy "radom" is unknown (did you mean random?); the strategies are portfolio, `,
			append(run, "--strategy", "burst,radom")},
		{"unknown flag: --rums (did you mean --run or --runs?); wavetank run --help lists the flags",
			append(run, "--rums", "7")},
		{"unknown flag: --colour; wavetank run --help", append(run, "--colour")},
		{"would never end", []string{"run", shop, "--runs", "0"}},
		{"no regular expression", []string{"run", shop, "--run", "("}},
		{"shows the scenarios", append(run, "--run", "^Nope$", "--runs", "1")},
		{"has a test that imports", []string{"run", "."}},
		{"no result", []string{"merge", dir}},
		{"not a directory", []string{"report", junk}},
		{"is one run, which has --format text",
			[]string{"report", filepath.Join(dir, "a.run.json"), "--format", "junit"}},
		{"no story (*.txtar) lies below", []string{"replay", t.TempDir()}},
		{"no run", []string{"report", dir, "--format", "text"}},
		{"name a directory, or a story with --issue", []string{"report"}},
		{"not a wavetank story", []string{"report", "--issue", junk}},
		{"not a package name", []string{"export", evil, "--scenario", "f", "--package", "a b"}},
	} {
		code, out := do(t, t.Context(), c.args...)
		if code != exitUsage || !strings.Contains(out, c.want) {
			t.Errorf("%v: exit code %d, want %d and %q:\n%s", c.args, code, exitUsage, c.want, out)
		}
	}
}
