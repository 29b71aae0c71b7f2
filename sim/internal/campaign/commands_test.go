package campaign_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/result"
)

// The command that a failing Check prints replays the failure each time. The next Check plays its
// story before it searches. The story follows its test to another name. A story whose choices the
// code no longer asks for is named.
func TestReplayCommandReplays(t *testing.T) {
	if simtest.InChild() {
		sim.Check(t, simtest.SendsTwice)
		return
	}
	dir := t.TempDir()
	run := func(args ...string) string {
		out, _ := simtest.Child(dir, t.Name(), append([]string{"-test.v=false"}, args...), nil)
		return out
	}
	const sentence = `always "each mail is sent at most once" broke at step `
	part := func(out, end string) string {
		_, after, _ := strings.Cut(out, sentence)
		before, _, _ := strings.Cut(after, end)
		return before
	}
	first := run()
	args := simtest.ReplayArgs(t, first)
	file := strings.TrimPrefix(args[len(args)-1], "-sim.replay=")
	simtest.Contains(t, first, "replay: go test github.com/wavetank/wavetank/sim/internal/campaign -run '^"+t.Name()+
		"$' -sim.replay=testdata/sim/"+t.Name()+"/")
	for i := range 3 {
		if out := run(args...); part(out, "found by") != part(first, "shrunk from") {
			t.Fatalf("replay %d differs:\n%s\nfirst:\n%s", i, out, first)
		}
	}
	simtest.Contains(t, run(), "story:  "+file)
	path := filepath.Join(dir, file)
	original, err := story.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text := string(original.Encode())
	for _, c := range []struct {
		test    string // in the story's file, as before the test got another name
		adopted bool
	}{
		{"TestUnderAnotherName", true},
		{t.Name(), true},
		{"Testreplaycommandreplays", false}, // comes last: the search then keeps a story of its own
	} {
		write(strings.Replace(text, "test: "+original.Test+"\n", "test: "+c.test+"\n", 1))
		out := run("-sim.runs=1", "-sim.seed=2", "-sim.strategy=random")
		if strings.Contains(out, "story:  "+file) != c.adopted {
			t.Errorf("story of %s: adopted is %v\n%s", c.test, !c.adopted, out)
		}
		if out := run(args...); strings.Contains(out, sentence) != c.adopted {
			t.Errorf("replay of a story of %s:\n%s", c.test, out)
		}
	}
	crash := story.Label{Kind: story.Inject, Of: "Crash(mailer)", Who: "before mailer", Verb: "delete",
		What: "ConfigMap default/gone"}
	original.Choices = append(original.Choices, story.Choice{ID: story.ID{Label: crash}, Value: 1})
	write(string(original.Encode()))
	simtest.Contains(t, run(args...),
		`has drifted: the code no longer asks for "Crash(mailer) before mailer delete ConfigMap default/gone #1"`)
}

// The stories that a campaign has kept do not end one that keeps going. It keeps one of each cause
// and length, not one of each failing run.
func TestKeptStoriesDoNotEndKeepGoing(t *testing.T) {
	dir := t.TempDir()
	keepGoing := func() result.Report {
		return simtest.InAProcess(t, func(on sim.ExploreOption) result.Report {
			return sim.Explore(t, simtest.SendsTwice, sim.Runs(60), sim.For(0), sim.Verify(0), sim.KeepGoing(),
				sim.Shrink(time.Second), sim.Stories(dir), on)
		})
	}
	first := keepGoing()
	files, _ := filepath.Glob(filepath.Join(dir, "*.txtar"))
	failing := 0
	for _, f := range first.Findings {
		failing += f.Count
	}
	if len(files) == 0 || len(files) >= failing {
		t.Errorf("of %d failing runs with %d causes, %d stories were kept", failing, len(first.Findings), len(files))
	}
	if again := keepGoing(); again.Runs != first.Runs+len(files) || len(again.Findings) != len(first.Findings) {
		t.Errorf("%d runs with %d causes, and then, with %d stories, %d with %d", first.Runs, len(first.Findings),
			len(files), again.Runs, len(again.Findings))
	}
}

// If a kept story passes only because the code no longer reaches the request that its fault was
// injected at, go test shows a warning, and the result has it. With -sim.drift=fail the test fails.
// A story whose fault was injected and changes nothing is no warning.
func TestDriftedStoryIsNamed(t *testing.T) {
	if simtest.InChild() {
		sim.Check(t, func(w *sim.World) {
			w.Start("mailer", simtest.Mailer{}.Setup)
			w.Inject(fault.LostReply(fault.OnVerb("create")))
			w.Always("all is well", func(*history.History) error { return nil })
			w.Settle()
		}, sim.Runs(2))
		return
	}
	dir := t.TempDir()
	s := story.Story{Test: t.Name(), Kind: "always", Property: "all is well", Replay: "go test . -run x"}
	s.Choices = []story.Choice{
		{ID: story.ID{Label: story.Label{Kind: story.Arm, Of: "LostReply", What: " on create"}}, Value: 2},
		{ID: story.ID{Label: story.Label{Kind: story.Request, Who: "mailer", Verb: "list", What: "ConfigMap"}, Nth: 8},
			Value: 1},
	}
	kept := filepath.Join("testdata", "sim", t.Name())
	if _, err := s.Write(filepath.Join(dir, kept)); err != nil {
		t.Fatal(err)
	}
	if out, ok := simtest.Child(dir, t.Name(), []string{"-test.v=false", "-sim.drift=fail"}, nil); !ok ||
		strings.Contains(out, "no longer asks") {
		t.Errorf("a story all of whose faults were asked for:\n%s", out)
	}
	s.Choices = append(s.Choices, story.Choice{ID: story.ID{Label: story.Label{Kind: story.Inject, Of: "LostReply",
		Who: "applied mailer", Verb: "create", What: "ConfigMap default/gone"}}, Value: 1})
	path, err := s.Write(filepath.Join(dir, kept))
	if err != nil {
		t.Fatal(err)
	}
	const lost = `the code no longer asks for "LostReply applied mailer create ConfigMap default/gone #1"; ` +
		`so it may test nothing any more`
	for _, args := range [][]string{{"-test.v=false"}, {"-test.v"}, {"-sim.replay=" + path}} {
		if out, ok := simtest.Child(dir, t.Name(), args, nil); !ok || strings.Count(out, lost) != 1 ||
			!strings.Contains(out, filepath.Base(path)) {
			t.Errorf("%v:\n%s", args, out)
		}
	}
	for _, env := range [][]string{{"SIM_DRIFT=fail"}, {"SIM_DRIFT=fail", "SIM_REPLAY=" + path}} {
		if out, ok := simtest.Child(dir, t.Name(), nil, env); ok || strings.Count(out, lost) != 1 {
			t.Errorf("%v:\n%s", env, out)
		}
	}
	to := t.TempDir()
	simtest.Child(dir, t.Name(), []string{"-sim.report=" + to}, nil)
	files, _ := filepath.Glob(filepath.Join(to, "*.json"))
	if len(files) != 1 {
		t.Fatalf("results: %v", files)
	}
	r, err := story.ReadResult(files[0])
	if err != nil || len(r.Drifted) != 1 || !strings.HasSuffix(r.Drifted[0].File, filepath.Base(path)) {
		t.Errorf("the result has %+v (%v)", r.Drifted, err)
	}
	if m, err := story.Merge([]*story.Result{r}); err != nil || len(m.Drifted) != 1 {
		t.Errorf("merged: %+v, %v", m, err)
	}
}

// Another shard may reach what one shard does not: only the undivided campaign fails.
func TestShardLeavesUnreachedToTheMerge(t *testing.T) {
	if simtest.InChild() {
		sim.Check(t, func(w *sim.World) {
			w.Sometimes("pigs fly", func(*history.History) bool { return false })
			w.Settle()
		}, sim.Runs(4), sim.For(0))
		return
	}
	if out, ok := simtest.Child(t.TempDir(), t.Name(), nil, nil); ok ||
		!strings.Contains(out, `sometimes "pigs fly" was not reached in 4 runs`) {
		t.Errorf("undivided:\n%s", out)
	}
	if out, ok := simtest.Child(t.TempDir(), t.Name(), nil, []string{"SIM_SHARD=1/2"}); !ok ||
		!strings.Contains(out, `sometimes "pigs fly" was not reached in 2 runs`) ||
		!strings.Contains(out, "unless another shard does") {
		t.Errorf("a shard:\n%s", out)
	}
}

// Bazel's rules_go distributes whole tests to shards, so each test makes all of its runs.
func TestBazelDistributesTests(t *testing.T) {
	if simtest.InChild() {
		sim.Check(t, func(w *sim.World) { w.Settle() }, sim.Runs(6), sim.For(0))
		return
	}
	shards := []string{"TEST_SHARD_INDEX=0", "TEST_TOTAL_SHARDS=2"}
	if out, ok := simtest.Child(t.TempDir(), t.Name(), nil, shards); !ok ||
		!strings.Contains(out, "nothing broke in 3 runs") {
		t.Errorf("another engine's shard:\n%s", out)
	}
	if out, ok := simtest.Child(t.TempDir(), t.Name(), nil, append(shards, "GO_TEST_RUN_FROM_BAZEL=1")); !ok ||
		!strings.Contains(out, "nothing broke in 6 runs") {
		t.Errorf("a shard of rules_go:\n%s", out)
	}
}

// scatter creates a ConfigMap for each entry of a source, in the order of a map.
func scatter(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (reconcile.Result, error) {
	if cm.Labels["role"] == "" {
		return reconcile.Result{}, nil
	}
	for k, v := range cm.Data {
		part := simtest.ConfigMap("part-"+cm.Name+k, "v", v)
		if err := c.Create(ctx, part); client.IgnoreAlreadyExists(err) != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{}, nil
}

// Writes in the order of a map are found by a doubled run, which names the first step that differs.
// The story is played until two runs differ, by the printed command and before each search.
func TestMapRangeIsNamedAndReplays(t *testing.T) {
	if simtest.InChild() {
		sim.Check(t, func(w *sim.World) {
			w.Start("scatterer", simtest.Reconciles(scatter))
			for s := range 5 { // two ranges over one map may be alike, and then the runs do not always differ
				source := simtest.Source(fmt.Sprint("src", s))
				source.Data = map[string]string{}
				for i := range 20 {
					source.Data[fmt.Sprint(i)] = "v"
				}
				w.Apply(source)
			}
			w.Settle()
		}, sim.Verify(1))
		return
	}
	dir := t.TempDir()
	const sentence = "two runs of one choice sequence differ"
	out, _ := simtest.Child(dir, t.Name(), nil, nil)
	simtest.Contains(t, out, sentence, "map range", "scatterer", "create ConfigMap default/part-")
	again, _ := simtest.Child(dir, t.Name(), simtest.ReplayArgs(t, out), nil)
	simtest.Contains(t, again, "--- FAIL", sentence)
	next, _ := simtest.Child(dir, t.Name(), nil, nil)
	simtest.Contains(t, next, "--- FAIL", "story:  testdata")
}

// The commands that a test with subtests, and a test that plays another's story, print reach their
// stories.
func TestCommandsReachTheirStories(t *testing.T) {
	if from := os.Getenv("WAVETANK_TEST_CATALOGUE"); from != "" {
		sim.Check(t, simtest.SendsTwice, sim.Replay(from))
		return
	}
	if simtest.InChild() {
		sim.Check(t, simtest.Mailing(simtest.Mailer{}), sim.Runs(2))
		t.Run("crash", func(t *testing.T) { sim.Check(t, simtest.SendsTwice) })
		return
	}
	dir := t.TempDir()
	const sentence = `"each mail is sent at most once" broke`
	out, ok := simtest.Child(dir, t.Name(), nil, nil)
	if ok || !strings.Contains(out, sentence) {
		t.Fatalf("nothing was found:\n%s", out)
	}
	args := simtest.ReplayArgs(t, out)
	if again, ok := simtest.Child(dir, t.Name()+"$/^crash", args, nil); ok || strings.Count(again, sentence) != 1 {
		t.Errorf("the subtest's command:\n%s", again)
	}
	file := strings.TrimPrefix(args[len(args)-1], "-sim.replay=")
	s, err := story.Read(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	s.Test = t.Name()
	whole, err := s.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if again, ok := simtest.Child(dir, t.Name(), []string{"-sim.replay=" + whole}, nil); !ok ||
		!strings.Contains(again, "replayed 1 stories of "+t.Name()+"; none breaks") {
		t.Errorf("a story of the test itself, whose subtest is not asked:\n%s", again)
	}
	catalogue := []string{"WAVETANK_TEST_CATALOGUE=" + file}
	shown, ok := simtest.Child(dir, t.Name(), nil, catalogue)
	if ok || !strings.Contains(shown, sentence) {
		t.Fatalf("the catalogue's story holds:\n%s", shown)
	}
	if again, ok := simtest.Child(dir, t.Name(), simtest.ReplayArgs(t, shown), catalogue); ok ||
		!strings.Contains(again, sentence) {
		t.Errorf("the command of the catalogue's test, %v:\n%s", simtest.ReplayArgs(t, shown), again)
	}
}

// The logs of programs are shown with -sim.log alone, also if the suite has set a logger, as
// kubebuilder's scaffold does.
func TestLogsNeedTheFlag(t *testing.T) {
	if simtest.InChild() {
		if simtest.Case() == "suite" {
			ctrllog.SetLogger(funcr.New(func(_, args string) { fmt.Println(args) }, funcr.Options{}))
			ctrllog.Log.Info("the suite's own line")
		}
		sim.Check(t, copying(applyCopy), sim.Runs(3))
		return
	}
	const line = `"level"=0 "msg"="Starting workers" "process"="copier/1" "controller"="op"`
	for _, c := range []struct {
		name   string
		args   []string
		levels int
	}{{"", nil, 0}, {"suite", nil, 1}, {"", []string{"-sim.log"}, -1}} {
		out, ok := simtest.ChildOf(t, c.name, c.args...)
		if n := strings.Count(out, `"level"=`); !ok || n != c.levels && c.levels >= 0 ||
			strings.Contains(out, line) != (c.levels < 0) {
			t.Errorf("%q %v: %d lines of logs:\n%.3000s", c.name, c.args, n, out)
		}
	}
}
