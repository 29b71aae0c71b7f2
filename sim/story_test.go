package sim_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/result"
)

// sendsTwice is the mailer under faults that make it send twice.
func sendsTwice(w *sim.World) {
	mailing(mailer{},
		func() fault.Fault { return fault.Crash("mailer") }, func() fault.Fault { return fault.LostReply() },
		func() fault.Fault { return fault.StaleCache(30 * time.Second) },
		func() fault.Fault { return fault.ServerError() }, func() fault.Fault { return fault.RacingRequeue() },
	)(w)
}

func find(t *testing.T, dir string, opts ...sim.ExploreOption) *result.Failure {
	t.Helper()
	r := sim.Explore(t, sendsTwice, append(opts, sim.Stories(dir))...)
	if r.Failure == nil {
		t.Fatalf("nothing was found in %d runs", r.Runs)
	}
	return r.Failure
}

// A shrunk story is local-minimal: without any one of its choices, faults included, the failure is
// gone.
func TestAStoryIsLocalMinimal(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3} {
		f := find(t, t.TempDir(), sim.Seed(seed))
		t.Logf("seed %d: %s → %s", seed, f.Story.Before, f.Story.After)
		if f.Flaky {
			t.Errorf("seed %d: the story is sendsTwice", seed)
		}
		t.Run("without one choice", func(t *testing.T) {
			for i := range f.Story.Choices {
				without := append(append([]story.Choice(nil), f.Story.Choices[:i]...), f.Story.Choices[i+1:]...)
				s := *f.Story
				s.Test = t.Name()
				dir := t.TempDir()
				s.Choices = without
				path, err := s.Write(dir)
				if err != nil {
					t.Fatal(err)
				}
				if sim.Breaks(t, sendsTwice, path) {
					t.Errorf("it still breaks without %q", f.Story.Choices[i])
				}
			}
		})
	}
}

// A story found by one test is played by another, and leaves no trace there.
func TestStoriesArePlayedAnywhere(t *testing.T) {
	dir := t.TempDir()
	found := find(t, dir)
	t.Run("elsewhere", func(t *testing.T) {
		for range 2 {
			r := sim.Explore(t, sendsTwice, sim.Replay(found.File))
			if f := r.Failure; r.Runs != 1 || f == nil || f.Property != found.Property || f.Message != found.Message ||
				f.Step != found.Step {
				t.Errorf("%d runs: %+v", r.Runs, f)
			}
		}
	})
}

// Rapid's shrinking and ours tell stories of like length.
func TestRapidDrivesARun(t *testing.T) {
	ours := find(t, t.TempDir())
	rapids := find(t, t.TempDir(), sim.Strategy("rapid"))
	t.Logf("ours: %s; rapid's: %s", ours.Story.After, rapids.Story.After)
	if rapids.Property != ours.Property {
		t.Errorf("rapid found %q, we found %q", rapids.Property, ours.Property)
	}
	if a, b := len(ours.Story.Choices), len(rapids.Story.Choices); a > b+2 || b > a+2 {
		t.Errorf("our story has %d choices, rapid's has %d", a, b)
	}
}

// A failing Check leaves a story; the next Check tells it before it searches; the printed command
// replays it ten times out of ten; and a story whose choices are no longer asked for says so.
func TestTheReplayCommandReplays(t *testing.T) {
	const guard = "WAVETANK_TEST_REPLAY"
	if os.Getenv(guard) != "" {
		sim.Check(t, sendsTwice)
		return
	}
	dir := t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command(os.Args[0], append([]string{"-test.run=^TestTheReplayCommandReplays$"}, args...)...)
		cmd.Env, cmd.Dir = append(os.Environ(), guard+"=1"), dir
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	first := run()
	_, command, ok := strings.Cut(first, "replay: ")
	if !ok {
		t.Fatalf("no replay command was printed:\n%s", first)
	}
	command, _, _ = strings.Cut(command, "\n")
	want := "go test github.com/wavetank/wavetank/sim -run '^TestTheReplayCommandReplays$' " +
		"-sim.replay=testdata/sim/TestTheReplayCommandReplays/"
	if !strings.HasPrefix(command, want) {
		t.Fatalf("the command is %q", command)
	}
	_, file, _ := strings.Cut(command, "-sim.replay=")
	sentence := `always "each mail is sent at most once" broke at step `
	_, told, _ := strings.Cut(first, sentence)
	told, _, _ = strings.Cut(told, "shrunk from")
	for i := range 10 {
		out := run("-sim.replay=" + file)
		_, again, _ := strings.Cut(out, sentence)
		again, _, _ = strings.Cut(again, "found by")
		if again != told {
			t.Fatalf("replay %d tells another story:\n%s\nfirst:\n%s", i, out, first)
		}
	}
	if out := run(); !strings.Contains(out, "story:  "+file) {
		t.Errorf("the kept story was not told before the search:\n%s", out)
	}
	moved, err := story.Read(filepath.Join(dir, file)) // with its directory, when the test got another name
	if err != nil {
		t.Fatal(err)
	}
	text := string(moved.Encode())
	for _, c := range []struct {
		test    string
		adopted bool
	}{
		{"TestUnderAnotherName", true},
		{"TestTheReplayCommandReplays", true},
		{"Testthereplaycommandreplays", false}, // comes last: the search then keeps a story of its own
	} {
		test, adopted := c.test, c.adopted
		moved := strings.Replace(text, "test: "+moved.Test+"\n", "test: "+test+"\n", 1)
		if err := os.WriteFile(filepath.Join(dir, file), []byte(moved), 0o666); err != nil {
			t.Fatal(err)
		}
		if out := run("-sim.runs=1", "-sim.seed=2", "-sim.strategy=random"); strings.Contains(out,
			"story:  "+file) != adopted {
			t.Errorf("story of %s: adopted is %v\n%s", test, !adopted, out)
		}
		if out := run("-sim.replay=" + file); strings.Contains(out, sentence) != adopted {
			t.Errorf("replay of a story of %s:\n%s", test, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	drifted, err := story.Read(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	crash := story.Label{Kind: story.Inject, Of: "Crash(mailer)", Who: "before mailer", Verb: "delete",
		What: "ConfigMap default/gone"}
	drifted.Choices = append(drifted.Choices, story.Choice{ID: story.ID{Label: crash}, Value: 1})
	if err := os.WriteFile(filepath.Join(dir, file), drifted.Encode(), 0o666); err != nil {
		t.Fatal(err)
	}
	if out := run("-sim.replay=" + file); !strings.Contains(out,
		`has drifted: the code no longer asks for "Crash(mailer) before mailer delete ConfigMap default/gone #1"`) {
		t.Errorf("drift was not named:\n%s", out)
	}
}

// Values of the user's own are choices too: they replay and shrink.
func TestDrawnValuesShrink(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		w.External("mail.example", http.HandlerFunc(post))
		w.Start("mailer", func(mgr ctrl.Manager) error { return (&mailer{}).SetupWithManager(mgr) })
		n := sim.Draw(w, "sources", sources)
		w.Apply(configMap("n", "n", strings.Repeat("x", n)))
		w.Always("there are fewer than 7", fewerThan(7))
		w.Settle()
	}, sim.Runs(500))
	if r.Failure == nil {
		t.Fatal("nothing was found")
	}
	if r.Failure.Message != "there are 7" {
		t.Errorf("shrunk to %q, want 7, the smallest that fails\n%v", r.Failure.Message, r.Failure.Story.Choices)
	}
	if told := r.Failure.Text(); !strings.Contains(told, "00:00.000    user             draws sources: 7\n") {
		t.Errorf("the story does not say what was drawn:\n%s", told)
	}
}

// Who reads a story should know when it may not be the shortest.
func TestAStorySaysWhenTheTimeForShrinkingWasUp(t *testing.T) {
	for limit, want := range map[time.Duration]bool{time.Nanosecond: true, time.Minute: false} {
		f := find(t, t.TempDir(), sim.Shrink(limit))
		if got := f.Story.Shrinking.Stopped; got != want {
			t.Errorf("%v: the story says stopped %v, want %v", limit, got, want)
		}
		text, command := f.Text(), "    wavetank shrink "+f.File+"\n"
		if strings.Contains(text, "it may become shorter: ") != want || strings.Contains(text, command) != want {
			t.Errorf("%v:\n%s", limit, text)
		}
	}
}

// A story that was not finished becomes as short as one that was, when its shrinking goes on.
func TestShrinkingGoesOn(t *testing.T) {
	dir := "testdata/sim/TestShrinkingGoesOn"
	if os.Getenv(part) != "" {
		sim.Check(t, sendsTwice, sim.Strategy("swarm"))
		return
	}
	at := t.TempDir()
	if out, ok := child(at, t.Name(), []string{"-sim.shrink=1ns"}, nil); ok ||
		!strings.Contains(out, "    wavetank shrink "+dir) {
		t.Fatalf("the failure does not say how to go on:\n%s", out)
	}
	stories, err := story.List(filepath.Join(at, dir))
	if err != nil || len(stories) != 1 {
		t.Fatalf("%d stories: %v", len(stories), err)
	}
	first, err := story.Read(stories[0])
	if err != nil || !first.Shrinking.Stopped {
		t.Fatalf("the story says %v: %v", first.Shrinking, err)
	}
	out, _ := child(at, t.Name(), []string{"-sim.shrink=1m", "-sim.replay=" + stories[0]}, nil)
	stories, err = story.List(filepath.Join(at, dir))
	if err != nil || len(stories) != 2 {
		t.Fatalf("%d stories: %v\n%s", len(stories), err, out)
	}
	for _, path := range stories {
		s, err := story.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if shorter := len(s.Choices) < len(first.Choices); shorter && (s.Shrinking.Stopped || s.After.Faults > 2) {
			t.Errorf("it was shrunk to %v, %v", s.After, s.Shrinking)
		}
	}
}

// A value that is drawn stays off the record of events, so that the world does not count as less
// quiet, and it is told.
func TestDrawnValuesAreTold(t *testing.T) {
	type order struct {
		Name string
		For  *time.Duration
	}
	minute := time.Minute
	var told []string
	sim.Explore(t, func(w *sim.World) {
		before := w.History().Len()
		sim.Draw(w, "wait", rapid.Just(minute))
		sim.Draw(w, "order", rapid.Just(order{"a\nb", &minute}))
		sim.Draw(w, "how", rapid.Just(func() {}))
		sim.Draw(w, "text", rapid.Just(strings.Repeat("é", 300)))
		told = w.History().Render()
		if n := w.History().Len() - before; n != 0 {
			t.Errorf("%d events were added", n)
		}
	}, sim.Runs(1))
	want := []string{"draws wait: 1m0s", `draws order: {"Name":"a\nb","For":60000000000}`, "draws how: a func()",
		`draws text: "` + strings.Repeat("é", 99) + "…"}
	for i, w := range want {
		if i >= len(told) || !strings.HasSuffix(told[i], w) {
			t.Errorf("told %q, want %q", told, w)
		}
	}
}
