package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/result"
)

// part says which of this file's tests and targets a child process is to play in earnest.
const part = "WAVETANK_TEST_REPLAY_AGAIN"

// child runs one test of this binary in a process of its own, in a directory.
func child(dir, test string, args, env []string) (out string, ok bool) {
	cmd := exec.Command(os.Args[0], append([]string{"-test.v", "-test.run=^" + test + "$"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), part+"="+test), env...)
	text, err := cmd.CombinedOutput()
	return string(text), err == nil
}

// typed are the arguments of the replay command that a test has printed.
func typed(t *testing.T, out string) []string {
	t.Helper()
	_, command, ok := strings.Cut(out, "replay: ")
	if !ok {
		t.Fatalf("no replay command was printed:\n%s", out)
	}
	command, _, _ = strings.Cut(command, "\n")
	_, args, _ := strings.Cut(command, "' ")
	return strings.Fields(args)
}

// A campaign that keeps going is not ended by the stories that it, or another shard, has kept, and
// keeps one of each cause and length, not one of each failing run.
func TestKeptStoriesDoNotEndACampaignThatKeepsGoing(t *testing.T) {
	dir := t.TempDir()
	keepGoing := func() result.Report {
		return inAProcess(t, func(on sim.ExploreOption) result.Report {
			return sim.Explore(t, sendsTwice, sim.Runs(60), sim.For(0), sim.Verify(0), sim.KeepGoing(),
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

// What time the kept stories take is not the search's.
func TestKeptStoriesLeaveTimeToSearch(t *testing.T) {
	dir := t.TempDir()
	inAProcess(t, func(on sim.ExploreOption) result.Report { return result.Report{Failure: find(t, dir, on)} })
	r := sim.Explore(t, mailing(mailer{}), sim.Stories(dir), sim.Runs(100), sim.For(1))
	if len(r.Strategies) == 0 || r.Failure != nil {
		t.Errorf("no strategy has made a run: %+v", r.Strategies)
	}
}

// A kept story that holds only because the code no longer comes to what its fault struck is said to
// have lost its teeth: where go test shows it, in the result, and with an exit code where that is
// asked for. One whose fault strikes in vain has not.
func TestAStoryWhoseFaultNoLongerStrikesIsNamed(t *testing.T) {
	if os.Getenv(part) != "" {
		sim.Check(t, func(w *sim.World) {
			w.Start("mailer", func(mgr ctrl.Manager) error { return (&mailer{}).SetupWithManager(mgr) })
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
	if out, ok := child(dir, t.Name(), []string{"-test.v=false", "-sim.drift=fail"}, nil); !ok ||
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
		if out, ok := child(dir, t.Name(), args, nil); !ok || strings.Count(out, lost) != 1 ||
			!strings.Contains(out, filepath.Base(path)) {
			t.Errorf("%v:\n%s", args, out)
		}
	}
	for _, env := range [][]string{{"SIM_DRIFT=fail"}, {"SIM_DRIFT=fail", "SIM_REPLAY=" + path}} {
		if out, ok := child(dir, t.Name(), nil, env); ok || strings.Count(out, lost) != 1 {
			t.Errorf("%v:\n%s", env, out)
		}
	}
	to := t.TempDir()
	child(dir, t.Name(), []string{"-sim.report=" + to}, nil)
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
	if out, _ := child(dir, t.Name(), []string{"-sim.drift=never"}, nil); !strings.Contains(out,
		`-sim.drift="never" is unknown; write warn or fail`) {
		t.Errorf("a word that is none:\n%s", out)
	}
}

// What one shard does not reach, another may: only the undivided campaign fails.
func TestAShardLeavesTheUnreachedToTheMerge(t *testing.T) {
	if os.Getenv(part) != "" {
		sim.Check(t, func(w *sim.World) {
			w.Sometimes("pigs fly", func(*history.History) bool { return false })
			w.Settle()
		}, sim.Runs(4), sim.For(0))
		return
	}
	if out, ok := child(t.TempDir(), t.Name(), nil, nil); ok ||
		!strings.Contains(out, `sometimes "pigs fly" was not reached in 4 runs`) {
		t.Errorf("undivided:\n%s", out)
	}
	if out, ok := child(t.TempDir(), t.Name(), nil, []string{"SIM_SHARD=1/2"}); !ok ||
		!strings.Contains(out, `sometimes "pigs fly" was not reached in 2 runs`) ||
		!strings.Contains(out, "unless another shard does") {
		t.Errorf("a shard:\n%s", out)
	}
}

// Bazel's rules_go has the test's main function share out the tests, so that each makes all of its
// runs.
func TestBazelSharesOutTests(t *testing.T) {
	if os.Getenv(part) != "" {
		sim.Check(t, func(w *sim.World) { w.Settle() }, sim.Runs(6), sim.For(0))
		return
	}
	shards := []string{"TEST_SHARD_INDEX=0", "TEST_TOTAL_SHARDS=2"}
	if out, ok := child(t.TempDir(), t.Name(), nil, shards); !ok || !strings.Contains(out, "nothing broke in 3 runs") {
		t.Errorf("another engine's shard:\n%s", out)
	}
	if out, ok := child(t.TempDir(), t.Name(), nil, append(shards, "GO_TEST_RUN_FROM_BAZEL=1")); !ok ||
		!strings.Contains(out, "nothing broke in 6 runs") {
		t.Errorf("a shard of rules_go:\n%s", out)
	}
}

// scatterer copies what it is given into parts, in the order of a map.
type scatterer struct{ client.Client }

func (s *scatterer) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	cm := &corev1.ConfigMap{}
	if err := s.Get(ctx, req.NamespacedName, cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	for k, v := range cm.Data {
		if err := s.Create(ctx, configMap("part-"+cm.Name+k, "v", v)); client.IgnoreAlreadyExists(err) != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{}, nil
}

// The story of two runs that differ is played until they do, by the printed command and before each
// search.
func TestTheStoryOfAMapRangeReplays(t *testing.T) {
	if os.Getenv(part) != "" {
		sim.Check(t, func(w *sim.World) {
			w.Start("scatterer", func(mgr ctrl.Manager) error {
				return ctrl.NewControllerManagedBy(mgr).Named("scatterer").For(&corev1.ConfigMap{},
					role("source")).Complete(&scatterer{mgr.GetClient()})
			})
			for s := range 5 { // two ranges over one map may go alike, and then the runs do not always differ
				source := withRole("source", configMap(fmt.Sprint("src", s)))
				source.Data = map[string]string{}
				for i := range 10 {
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
	out, ok := child(dir, t.Name(), nil, nil)
	if ok || !strings.Contains(out, sentence) {
		t.Fatalf("nothing was found:\n%s", out)
	}
	if again, ok := child(dir, t.Name(), typed(t, out), nil); ok || !strings.Contains(again, sentence) {
		t.Errorf("the printed command:\n%s", again)
	}
	if next, ok := child(dir, t.Name(), nil, nil); ok || !strings.Contains(next, "story:  testdata") {
		t.Errorf("the next test:\n%s", next)
	}
}

// FuzzBreaks is a target with a bug, for the children of TestAFuzzTargetsStoryReplays.
func FuzzBreaks(f *testing.F) {
	if os.Getenv(part) == "" {
		f.Skip("it is meant to break, in a process of its own")
	}
	sim.Fuzz(f, sendsTwice)
}

// FuzzNothing has no scenario, for the child of TestAFuzzTargetNeedsAScenario.
func FuzzNothing(f *testing.F) {
	if os.Getenv(part) == "" {
		f.Skip("it is meant to fail, in a process of its own")
	}
	sim.Fuzz(f, nil)
}

func TestAFuzzTargetNeedsAScenario(t *testing.T) {
	if out, ok := child(t.TempDir(), "FuzzNothing", nil, nil); ok || !strings.Contains(out, "replay_test.go") ||
		!strings.Contains(out, "sim: Fuzz needs a scenario") {
		t.Errorf("it says:\n%s", out)
	}
}

// What a fuzz target finds is replayed by the printed command, and tried again by plain go test.
func TestAFuzzTargetsStoryReplays(t *testing.T) {
	dir := t.TempDir()
	corpus := filepath.Join(dir, "testdata", "fuzz", "FuzzBreaks")
	if err := os.MkdirAll(corpus, 0o777); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 40 { // as go test -fuzz would leave them
		data := make([]byte, 400)
		for j := range data {
			if random.IntN(5) == 0 {
				data[j] = byte(200 + random.IntN(56))
			}
		}
		if err := os.WriteFile(filepath.Join(corpus, fmt.Sprint(i)),
			fmt.Appendf(nil, "go test fuzz v1\n[]byte(%q)\n", data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const sentence = `"each mail is sent at most once" broke`
	out, ok := child(dir, "FuzzBreaks", nil, nil)
	if ok || !strings.Contains(out, sentence) {
		t.Fatalf("nothing was found:\n%s", out)
	}
	args := typed(t, out)
	again, ok := child(dir, "FuzzBreaks", append(args, "-sim.v"), nil)
	if ok || strings.Count(again, "replay: ") != 1 || !strings.Contains(again, sentence) ||
		!strings.Contains(again, "dequeue mailer/1") {
		t.Errorf("%v:\n%s", args, again)
	}
	if next, ok := child(dir, "FuzzBreaks", nil, nil); ok || !strings.Contains(next, "--- FAIL: FuzzBreaks/seed#0") {
		t.Errorf("the kept story was not tried before the first input, which is the dull run:\n%s", next)
	}
	if none, ok := child(dir, "FuzzBreaks", []string{"-sim.replay=no/such/file"}, nil); ok ||
		!strings.Contains(none, "there is no such file") {
		t.Errorf("a file that is not there:\n%s", none)
	}
}

// The printed commands of a catalogue's tests, of a test with subtests, and of subtests reach their
// stories.
func TestCommandsReachTheirStories(t *testing.T) {
	if from := os.Getenv("WAVETANK_TEST_CATALOGUE"); from != "" {
		sim.Check(t, sendsTwice, sim.Replay(from))
		return
	}
	if os.Getenv(part) != "" {
		sim.Check(t, mailing(mailer{}), sim.Runs(2))
		t.Run("crash", func(t *testing.T) { sim.Check(t, sendsTwice) })
		return
	}
	dir := t.TempDir()
	const sentence = `"each mail is sent at most once" broke`
	out, ok := child(dir, t.Name(), nil, nil)
	if ok || !strings.Contains(out, sentence) {
		t.Fatalf("nothing was found:\n%s", out)
	}
	args := typed(t, out)
	if again, ok := child(dir, t.Name()+"$/^crash", args, nil); ok || strings.Count(again, sentence) != 1 {
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
	if again, ok := child(dir, t.Name(), []string{"-sim.replay=" + whole}, nil); !ok ||
		!strings.Contains(again, "replayed 1 stories of "+t.Name()+"; none breaks") {
		t.Errorf("a story of the test itself, whose subtest is not asked:\n%s", again)
	}
	catalogue := []string{"WAVETANK_TEST_CATALOGUE=" + file}
	shown, ok := child(dir, t.Name(), nil, catalogue)
	if ok || !strings.Contains(shown, sentence) {
		t.Fatalf("the catalogue's story holds:\n%s", shown)
	}
	if again, ok := child(dir, t.Name(), typed(t, shown), catalogue); ok || !strings.Contains(again, sentence) {
		t.Errorf("the command of the catalogue's test, %v:\n%s", typed(t, shown), again)
	}
}
