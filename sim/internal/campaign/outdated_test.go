package campaign_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/result"
)

const copyPrefix = "copy-"

// copier makes one copy of each source, and notes in the source that it has.
func copier(copy func(ctx context.Context, c client.Client, of string) error) simtest.Do {
	return func(ctx context.Context, c client.Client, source *corev1.ConfigMap) (reconcile.Result, error) {
		if strings.HasPrefix(source.Name, copyPrefix) || source.Data["copied"] != "" {
			return reconcile.Result{}, nil
		}
		if err := copy(ctx, c, source.Name); err != nil {
			return reconcile.Result{}, err
		}
		source.Data = map[string]string{"copied": "yes"}
		return reconcile.Result{}, c.Update(ctx, source)
	}
}

// The ways to make a copy: as first written, as fixed, and with a fix that does not help.
func createCopy(ctx context.Context, c client.Client, _ string) error {
	copied := simtest.ConfigMap("")
	copied.GenerateName = copyPrefix
	return c.Create(ctx, copied)
}

func applyCopy(ctx context.Context, c client.Client, of string) error {
	made := corev1ac.ConfigMap(copyPrefix+of, "default")
	return c.Apply(ctx, made, client.FieldOwner("copier"), client.ForceOwnership)
}

func applyAnyCopy(ctx context.Context, c client.Client, of string) error {
	return applyCopy(ctx, c, of+"-"+rand.String(5))
}

// copies are how many copies there are.
func copies(h *history.History) (n int) {
	for _, o := range h.Objects("", "ConfigMap") {
		if strings.HasPrefix(o.Ref.Name, copyPrefix) {
			n++
		}
	}
	return n
}

// copying is a scenario of a copier that may crash. The properties are declared first.
func copying(how func(context.Context, client.Client, string) error, properties ...func(*sim.World)) func(*sim.World) {
	return func(w *sim.World) {
		for _, declare := range properties {
			declare(w)
		}
		w.Start("copier", simtest.Reconciles(copier(how)))
		w.Inject(fault.Crash("copier", fault.OfKind("ConfigMap")))
		w.Apply(simtest.ConfigMap("a"))
		w.Settle()
	}
}

const oneCopy = "a source has one copy at most"

// quietSeed is the base seed of a search whose first run finds nothing of the copier.
const quietSeed = 1

// atMostOne is the property of the copier, under a sentence.
func atMostOne(sentence string) func(*sim.World) {
	return func(w *sim.World) {
		w.Always(sentence, func(h *history.History) error {
			if n := copies(h); n > 1 {
				return fmt.Errorf("there are %d", n)
			}
			return nil
		})
	}
}

func quietly(w *sim.World) { w.Always("a quiet property", func(*history.History) error { return nil }) }

func neverCrashed(w *sim.World) {
	w.Always("the copier does not crash", func(h *history.History) error {
		if h.Count(history.Crash) > 0 {
			return errors.New("it does")
		}
		return nil
	})
}

// oneCopyStory finds the story of the copier that creates, and keeps it in a directory.
func oneCopyStory(t *testing.T) (dir, path string) {
	t.Helper()
	for seed := range uint64(20) {
		dir = t.TempDir()
		r := retold(t, dir, copying(createCopy, atMostOne(oneCopy)), sim.Seed(seed))
		if r.Failure != nil && strings.Contains(string(r.Failure.Story.Encode()),
			"after copier: create ConfigMap default/ #1\n") {
			return dir, r.Failure.File
		}
	}
	t.Fatal("no story of a crash after a create was found")
	return "", ""
}

// retold replays the stories in a directory and searches.
func retold(t *testing.T, dir string, scenario func(*sim.World), opts ...sim.ExploreOption) result.Report {
	return simtest.InAProcess(t, func(on sim.ExploreOption) result.Report {
		all := append([]sim.ExploreOption{on, sim.Stories(dir), sim.Runs(100), sim.For(0)}, opts...)
		return sim.Explore(t, scenario, all...)
	})
}

// If a fix changes the request, the story injects its fault at the write that has the same effect.
func TestStoryFollowsItsRequest(t *testing.T) {
	dir, path := oneCopyStory(t)
	fixed := retold(t, dir, copying(applyCopy, atMostOne(oneCopy)), sim.Runs(2))
	if fixed.Failure != nil || len(fixed.Drifted)+len(fixed.Outdated) != 0 {
		t.Errorf("the fixed copier: %v, %+v, %+v", fixed.Err(), fixed.Drifted, fixed.Outdated)
	}
	if fixed.Replayed.Count(history.Crash) == 0 {
		t.Errorf("the fault was not injected:\n%s", strings.Join(fixed.Replayed.Render(), "\n"))
	}
	vain := retold(t, dir, copying(applyAnyCopy, atMostOne(oneCopy)))
	if vain.Failure == nil || vain.Failure.File != path || vain.Runs != 1 {
		t.Errorf("the copier whose fix does not help passes its story: %+v", vain.Failure)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	deletes := strings.Replace(string(data), " create ConfigMap default/ #1", " delete ConfigMap default/a #1", 1)
	if err := os.WriteFile(path, []byte(deletes), 0o666); err != nil {
		t.Fatal(err)
	}
	lost := retold(t, dir, copying(applyCopy, atMostOne(oneCopy)), sim.Runs(2))
	const near = "1 inject Crash(copier): after copier: patch ConfigMap default/copy-a #1"
	if lost.Failure != nil || len(lost.Drifted) != 1 || !slices.Contains(lost.Drifted[0].Near, near) {
		t.Errorf("the story of a deletion: %v, %+v", lost.Err(), lost.Drifted)
	}
	simtest.Contains(t, strings.Join(lost.Warnings, "\n"), "such as ", near)
}

// Each way in which a story gets outdated is named. None ends the search, nor a campaign that
// continues. What the search finds is reported before the failure of an outdated story.
func TestOutdatedStoriesAreNamed(t *testing.T) {
	_, path := oneCopyStory(t)
	original, err := story.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	const another = "there is one copy"
	for name, c := range map[string]struct {
		scenario          func(*sim.World)
		site              string // of the property, in the file; "" for where it is declared
		statement, change string // "" for none
		violated          string // "" for nothing
		searched          bool
	}{
		"up to date":     {copying(createCopy, atMostOne(oneCopy)), "", "", "", oneCopy, false},
		"moved lines":    {copying(createCopy, atMostOne(oneCopy)), "elsewhere_test.go:7", "", "", oneCopy, false},
		"fixed":          {copying(applyCopy, atMostOne(oneCopy)), "", "", "", "", true},
		"renamed":        {copying(createCopy, atMostOne(another)), "", "property", another, another, true},
		"renamed, fixed": {copying(applyCopy, atMostOne(another)), "", "property", another, "", true},
		"gone":           {copying(createCopy, quietly), "", "property", "the scenario has no always", "", true},
		"moved, and another first": {copying(createCopy, neverCrashed, atMostOne(oneCopy)), "elsewhere_test.go:7",
			"declared", "no longer at elsewhere_test.go:7", "the copier does not crash", true},
		"another first": {copying(createCopy, neverCrashed, atMostOne(oneCopy)), "",
			"scenario", "the scenario or the program", "the copier does not crash", true},
	} {
		s, dir := *original, t.TempDir()
		if c.site != "" {
			s.Site = c.site
		}
		if path, err = s.Write(dir); err != nil {
			t.Fatal(err)
		}
		r := retold(t, dir, c.scenario, sim.Strategy("random"), sim.Runs(1), sim.Seed(quietSeed))
		if searched := r.Runs == 2; searched != c.searched {
			t.Errorf("%s: %d runs; expected a search: %v", name, r.Runs, c.searched)
		}
		if c.statement == "" {
			if len(r.Outdated) != 0 {
				t.Errorf("%s: outdated: %+v", name, r.Outdated)
			}
		} else if len(r.Outdated) != 1 || r.Outdated[0].Statement != c.statement || r.Outdated[0].File != path ||
			!strings.Contains(r.Outdated[0].Change, c.change) || len(r.Warnings) == 0 {
			t.Errorf("%s: expected that %s is outdated (%s): %+v\n%q", name, c.statement, c.change, r.Outdated,
				r.Warnings)
		}
		violated := ""
		if r.Failure != nil {
			violated = r.Failure.Property
		}
		if violated != c.violated || r.Failure != nil && r.Failure.File != path {
			t.Errorf("%s: violated is %q in %+v; expected %q in %s", name, violated, r.Failure, c.violated, path)
		}
	}
	renamed := copying(createCopy, atMostOne(another))
	dir, _ := oneCopyStory(t)
	r := retold(t, dir, renamed)
	if r.Failure == nil || r.Failure.Strategy == "an outdated story" || r.Runs < 2 || len(r.Outdated) != 1 {
		t.Errorf("the search was not reported first: %+v, %+v", r.Failure, r.Outdated)
	}
	dir, _ = oneCopyStory(t)
	results := t.TempDir()
	for runs := 2; runs <= 3; runs++ { // one of them is the replay of the story
		r := retold(t, dir, renamed, sim.Strategy("random"), sim.Seed(quietSeed), sim.Runs(3), sim.For(1),
			sim.ReportTo(results))
		if r.Runs != runs || r.Complete || r.Failure == nil || r.Failure.Strategy != "an outdated story" {
			t.Errorf("%d runs, complete %v, and %+v; expected %d", r.Runs, r.Complete, r.Failure, runs)
		}
	}
}

// -sim.drift=fail counts outdated stories that pass, and -sim.renew writes stories again.
func TestRenewWritesStoriesAgain(t *testing.T) {
	scenarios := map[string]func(*sim.World){
		"create": copying(createCopy, atMostOne(oneCopy)), "apply": copying(applyCopy, atMostOne(oneCopy)),
		"renamed":       copying(createCopy, atMostOne("there is one copy")),
		"renamed apply": copying(applyCopy, atMostOne("there is one copy")),
	}
	if simtest.InChild() {
		sim.Check(t, scenarios[simtest.Case()], sim.Runs(60))
		return
	}
	dir, kept := t.TempDir(), filepath.Join("testdata", "sim", t.Name())
	in := func(scenario string, args ...string) (string, bool) {
		return simtest.Child(dir, t.Name(), args, []string{"WAVETANK_TEST_CHILD_CASE=" + scenario})
	}
	if out, ok := in("create", "-sim.strategy=sweep"); ok { // it finds the crash after the create
		t.Fatalf("nothing was found:\n%s", out)
	}
	only := func() string {
		paths, _ := story.List(filepath.Join(dir, kept))
		if len(paths) != 1 {
			t.Fatalf("the stories are %q; expected one", paths)
		}
		return paths[0]
	}
	first := only()
	if out, ok := in("renamed apply", "-test.v=false", "-sim.runs=1"); !ok || !strings.Contains(out, "is outdated") {
		t.Errorf("an outdated story that passes is a warning:\n%s", out)
	}
	if out, ok := in("renamed apply", "-sim.runs=1", "-sim.drift=fail"); ok || !strings.Contains(out, "is outdated") {
		t.Errorf("an outdated story that passes, with -sim.drift=fail:\n%s", out)
	}
	if out, ok := in("apply", "-sim.replay="+first, "-sim.renew"); !ok || only() == first {
		t.Errorf("the story did not follow its request:\n%s", out)
	}
	const renewed = "after copier: patch ConfigMap default/copy-a #1"
	if data, _ := os.ReadFile(only()); !strings.Contains(string(data), renewed) {
		t.Errorf("the renewed story is\n%s", data)
	}
	if out, ok := in("apply", "-sim.runs=1", "-sim.drift=fail"); !ok || strings.Contains(out, "in place of") {
		t.Errorf("the renewed story does not fit:\n%s", out)
	}
	out, ok := in("renamed apply", "-sim.replay="+only(), "-sim.renew")
	if !ok || !strings.Contains(out, "was renewed") {
		t.Errorf("a story that passes did not follow its property:\n%s", out)
	}
	if out, ok := in("renamed apply", "-sim.runs=1", "-sim.drift=fail"); !ok {
		t.Errorf("the story of the renamed property does not fit:\n%s", out)
	}
	if out, _ := in("create", "-sim.replay="+only(), "-sim.renew"); !strings.Contains(out, "was renewed") {
		t.Errorf("the story of a property that was renamed back was not renewed:\n%s", out)
	}
	if out, _ := in("renamed", "-sim.replay="+only(), "-sim.renew"); !strings.Contains(out, "was renewed") {
		t.Errorf("the story of a renamed property was not renewed:\n%s", out)
	}
	s, err := story.Read(only())
	if err != nil || s.Property != "there is one copy" || !strings.Contains(s.Replay, filepath.Base(only())) {
		t.Errorf("the renewed story is %+v (%v)", s, err)
	}
	if out, ok := in("create", "-sim.renew"); ok || !strings.Contains(out, "give both") {
		t.Errorf("-sim.renew alone:\n%s", out)
	}
}
