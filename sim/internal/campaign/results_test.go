package campaign_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/result"
)

// A campaign's runs do not depend on the number of shards.
func TestShardsMakeTheSameRuns(t *testing.T) {
	if simtest.InChild() {
		sim.Explore(t, simtest.SendsTwice, sim.Runs(60), sim.For(0), sim.KeepGoing(), sim.Verify(0), sim.Shrink(0))
		return
	}
	dir := t.TempDir()
	run := func(env ...string) {
		t.Helper()
		args := []string{"-sim.strategy=sweep", "-sim.report=" + dir}
		if out, ok := simtest.Child(t.TempDir(), t.Name(), args, env); !ok {
			t.Fatalf("%v:\n%s", env, out)
		}
	}
	run()
	whole := kept(t, dir, "TestShardsMakeTheSameRuns.????????.json")
	var shards []*story.Result
	for i, env := range [][]string{
		{"SIM_SHARD=0/3"},
		{"JOB_COMPLETION_INDEX=1", "SIM_SHARDS=3"},
		{"TEST_SHARD_INDEX=2", "TEST_TOTAL_SHARDS=3"},
	} {
		run(env...)
		shards = append(shards, kept(t, dir, fmt.Sprintf("*.shard-%d-of-3.json", i)))
	}
	merged, err := story.Merge(shards)
	if err != nil {
		t.Fatal(err)
	}
	if merged.Runs != whole.Runs || merged.Steps != whole.Steps || merged.Reconciles != whole.Reconciles ||
		!merged.Complete {
		t.Errorf("three shards make %d runs of %d steps, one process makes %d of %d", merged.Runs, merged.Steps,
			whole.Runs, whole.Steps)
	}
	if len(merged.Findings) == 0 || len(merged.Findings) != len(whole.Findings) {
		t.Errorf("three shards find %d causes, one process finds %d", len(merged.Findings), len(whole.Findings))
	}
	for i := range whole.Findings {
		if a, b := whole.Findings[i], merged.Findings[i]; whole.Findings[i].Count != merged.Findings[i].Count &&
			a.Cause == b.Cause {
			t.Errorf("%s: %d runs in one process, %d in three", a.Cause, a.Count, b.Count)
		}
	}
}

// kept is the one result in a directory whose file's name matches.
func kept(t *testing.T, dir, pattern string) *story.Result {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(dir, pattern))
	if len(paths) != 1 {
		t.Fatalf("%d files match %s", len(paths), pattern)
	}
	r, err := story.ReadResult(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A failure that was found before the process was killed fails the campaign that continues, as long
// as it can be reproduced. What other code has found does not count.
func TestEarlierFindingFailsTheCampaign(t *testing.T) {
	dir := t.TempDir()
	made := 0
	explore := func(scenario func(*sim.World)) result.Report {
		made = 0
		return simtest.InAProcess(t, func(on sim.ExploreOption) result.Report {
			return sim.Explore(t, func(w *sim.World) { made++; scenario(w) }, sim.Runs(40), sim.For(0), sim.Verify(0),
				sim.Shrink(0),
				sim.ReportTo(dir), on)
		})
	}
	first := explore(simtest.SendsTwice)
	if first.Failure == nil {
		t.Fatal("the scenario breaks nothing")
	}
	again := explore(simtest.SendsTwice)
	if again.Runs != first.Runs || again.Err() == nil || again.Failure.Property != first.Failure.Property ||
		again.Failure.Site != first.Failure.Site {
		t.Errorf("the campaign that continued after %d runs made %d and says %v", first.Runs, again.Runs, again.Err())
	}
	if made > 3 { // the undisturbed run, which may be made twice, and the story
		t.Errorf("the campaign that continued made %d runs", made)
	}
	other := kept(t, dir, "Test*.????????.json")
	if fixed := explore(simtest.Mailing(simtest.Mailer{})); fixed.Runs != 40 || fixed.Err() != nil {
		t.Errorf("a campaign whose program reads other files made %d runs and says %v", fixed.Runs, fixed.Err())
	}
	if most := 40 - first.Runs + 3; made > most { // two to plan with, and the story
		t.Errorf("a campaign whose program reads other files made %d runs, want %d at most", made, most)
	}
	other.Build = "another one"
	if err := other.Write(dir); err != nil {
		t.Fatal(err)
	}
	if fresh := explore(simtest.Mailing(simtest.Mailer{})); fresh.Runs != 40 || fresh.Err() != nil {
		t.Errorf("a campaign of other code made %d runs and says %v", fresh.Runs, fresh.Err())
	}
}

// A campaign that ends early leaves a result: in its undisturbed run, in a kept story, and with
// rapid.
func TestEarlyEndLeavesAResult(t *testing.T) {
	broken := func(w *sim.World) {
		w.Always("there is nothing", noConfigMap)
		w.Apply(simtest.ConfigMap("a"))
		w.Settle()
	}
	stories := t.TempDir()
	sim.Explore(t, broken, sim.Runs(1), sim.Stories(stories))
	for name, opts := range map[string][]sim.ExploreOption{
		"an undisturbed run":   {sim.Strategy("portfolio")},
		"rapid":                {sim.Strategy("rapid")},
		"a story that is kept": {sim.Stories(stories)},
	} {
		dir := t.TempDir()
		simtest.InAProcess(t, func(on sim.ExploreOption) result.Report {
			return sim.Explore(t, broken, append(opts, sim.Runs(3), sim.Shrink(0), sim.ReportTo(dir), on)...)
		})
		if r := kept(t, dir, "Test*.????????.json"); len(r.Findings) != 1 ||
			r.Findings[0].Property != "there is nothing" {
			t.Errorf("%s: the result's findings are %+v", name, r.Findings)
		}
	}
}

// A campaign that keeps going names each cause once, with its shortest story.
func TestFindingsAreGroupedByCause(t *testing.T) {
	alive := func(w *sim.World) {
		w.Always("the mailer lives", func(h *history.History) error {
			if n := h.Count(history.Crash); n > 0 {
				return fmt.Errorf("it was killed %d times", n)
			}
			return nil
		})
		simtest.SendsTwice(w)
	}
	r := sim.Explore(t, alive, sim.Runs(60), sim.For(0), sim.KeepGoing(), sim.Shrink(time.Second))
	if r.Runs < 60 || len(r.Findings) < 2 {
		t.Fatalf("%d causes in %d runs", len(r.Findings), r.Runs)
	}
	total := 0
	for _, f := range r.Findings {
		t.Logf("%3d runs: %s (%d steps, first in run %d by %s)", f.Count, f.Cause, f.Steps, f.First, f.Strategy)
		if _, err := story.Decode([]byte(f.Story)); err != nil {
			t.Errorf("%s: its story cannot be read: %v", f.Cause, err)
		}
		total += f.Count
	}
	finds := 0
	for _, s := range r.Strategies {
		finds += s.Finds
	}
	if total < finds { // a run may violate two properties
		t.Errorf("%d failing runs, %d of them under a cause", finds, total)
	}
	if err := r.Err(); err == nil ||
		strings.Contains(err.Error(), "causes in") == (len(story.Causes(r.Findings)) == 1) {
		t.Errorf("the report does not list the causes: %v", err)
	}
}

// If a command was cut off and is given again, it does not repeat the campaigns that it had
// completed.
func TestCompleteCampaignIsNotRepeated(t *testing.T) {
	dir := t.TempDir()
	made := 0
	both := func() (done, cut result.Report) {
		count := func(w *sim.World) { made++; simtest.Mailing(simtest.Mailer{})(w) }
		cut = simtest.InAProcess(t, func(on sim.ExploreOption) result.Report {
			done = sim.Explore(t, count, sim.Runs(10), sim.For(0), sim.Verify(0), sim.ReportTo(dir), on)
			return sim.Explore(
				t,
				simtest.Mailing(simtest.Mailer{}),
				sim.Runs(10),
				sim.For(0),
				sim.Verify(0),
				sim.ReportTo(dir),
				on,
			)
		})
		return done, cut
	}
	both()
	second := kept(t, dir, "Test*~2.????????.json")
	second.Complete, second.Next, second.Runs = false, 4, 4
	if err := second.Write(dir); err != nil {
		t.Fatal(err)
	}
	made = 0
	if done, cut := both(); made > 2 || done.Runs != 10 || !done.Complete || cut.Runs != 10 || !cut.Complete {
		t.Errorf("%d runs were repeated; %d runs, then %d", made, done.Runs, cut.Runs)
	}
	if done, _ := both(); made < 10 || done.Runs != 10 { // nothing was cut off
		t.Errorf("a command that is given again makes %d runs, and says %d", made, done.Runs)
	}
}
