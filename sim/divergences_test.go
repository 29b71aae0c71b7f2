package sim_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/result"
)

// moody is an operator whose writes and errors do not come from its inputs, as those of a program
// that ranges over a map. A test decides what they are: with real chance it would fail at times.
type moody struct {
	writes string
	fails  string // the text of its errors; "" for none
}

func (m moody) reconcile(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (reconcile.Result, error) {
	if cm.Data["mood"] == "" {
		cm.Data = map[string]string{"mood": m.writes}
		return reconcile.Result{}, c.Update(ctx, cm)
	}
	if m.fails != "" {
		return reconcile.Result{}, reconcile.TerminalError(errors.New(m.fails))
	}
	return reconcile.Result{}, nil
}

// moods is a scenario of a moody operator that gets another mood in each run. What comes later is
// applied when the world has settled.
func moods(of func(run int) moody, later ...client.Object) func(*sim.World) {
	run := 0
	return func(w *sim.World) {
		run++
		w.Start("moody", simtest.Reconciles(of(run).reconcile))
		w.Always("no ConfigMap is angry", func(h *history.History) error {
			for _, o := range h.Objects("", "ConfigMap") {
				if strings.Contains(string(o.JSON), "angry") {
					return errors.New("a ConfigMap is angry")
				}
			}
			return nil
		})
		w.Apply(simtest.ConfigMap("a"))
		w.Settle()
		w.Apply(later...)
		w.Settle()
	}
}

// sometimes is a mood that is another one in every fifth run.
func sometimes(run int) moody {
	if run%5 == 0 {
		return moody{writes: "bad"}
	}
	return moody{writes: "good"}
}

func explored(t *testing.T, of func(run int) moody, opts ...sim.ExploreOption) result.Report {
	t.Helper()
	return simtest.InAProcess(t, func(on sim.ExploreOption) result.Report {
		opts := append([]sim.ExploreOption{on, sim.Runs(20), sim.For(0), sim.Verify(1), sim.Strategy("random")},
			opts...)
		return sim.Explore(t, moods(of), opts...)
	})
}

// Two runs of one choice sequence that always differ fail a campaign, and so does the text of an
// error that a program writes down.
func TestRunsThatAlwaysDifferFail(t *testing.T) {
	r := explored(t, func(run int) moody { return moody{writes: fmt.Sprint("mood ", run)} })
	if r.Failure == nil || r.Failure.Kind != result.Nondeterminism || r.Runs != 1 || len(r.Divergences) > 0 {
		t.Fatalf("want a failure in the first run, got %+v after %d runs, and %+v", r.Failure, r.Runs, r.Divergences)
	}
	simtest.Contains(
		t,
		r.Failure.Message,
		"update ConfigMap default/a",
		"mood 1",
		"mood 2",
		"the goroutine of the second run: ",
		"moody.reconcile (divergences_test.go:",
	)
}

// Pairs of which some differ are one warning, and the campaign makes all its runs.
func TestRunsThatSometimesDifferAreAWarning(t *testing.T) {
	dir := t.TempDir()
	r := explored(t, sometimes, sim.ReportTo(dir))
	if err := r.Err(); err != nil || !r.Complete || r.Runs != 20 || r.Doubled != 20 || len(r.Divergences) != 1 {
		t.Fatalf("want all of 20 runs and one warning, got %d runs, %+v and %v", r.Runs, r.Divergences, err)
	}
	d := r.Divergences[0]
	if d.Text || d.Runs < 4 || d.Pairs != 30 || d.Differed == 0 || d.Differed >= d.Pairs || d.Step == 0 {
		t.Errorf("of three runs ten further pairs each are wanted, of which some differ: %+v", d)
	}
	warning := strings.Join(r.Warnings, "\n")
	simtest.Contains(t, warning, "differ now and then", fmt.Sprintf("at step %d", d.Step), "request body",
		`"mood":"bad"`, `"mood":"good"`, "moody.reconcile (divergences_test.go:",
		"wavetank run --exact github.com/wavetank/wavetank/sim --run '^"+t.Name()+"$'")
	again := explored(t, sometimes, sim.ReportTo(dir), sim.Runs(30))
	if again.Runs != 30 || len(again.Divergences) != 1 || again.Divergences[0].Runs <= d.Runs ||
		again.Divergences[0].First != d.First {
		t.Errorf("the campaign that continues has %d runs and %+v", again.Runs, again.Divergences)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(files) != 1 {
		t.Fatalf("the results are %v", files)
	}
	res, err := story.ReadResult(files[0])
	if err != nil || len(res.Divergences) != 1 || res.Replays() || len(res.Findings) > 0 {
		t.Errorf("the result holds %+v (%v)", res, err)
	}
}

// If only the text of an error differs, a warning has both texts and names the reconcile.
func TestErrorTextsThatDifferAreAWarning(t *testing.T) {
	r := explored(t, func(run int) moody { return moody{writes: "good", fails: fmt.Sprintf("invalid: [x%d y]", run)} })
	if err := r.Err(); err != nil || r.Runs != 20 || len(r.Divergences) != 1 {
		t.Fatalf("want 20 runs and one warning, got %d runs, %+v and %v", r.Runs, r.Divergences, err)
	}
	if d := r.Divergences[0]; !d.Text || d.Runs != 20 || d.Pairs != 0 {
		t.Errorf("nothing is to be repeated for a text: %+v", d)
	}
	warning := strings.Join(r.Warnings, "\n")
	simtest.Contains(t, warning, `an error of the controller "op"`, "[op default/a #2]", "invalid: [x1 y]",
		"invalid: [x2 y]")
	w := explored(t, func(run int) moody { return moody{writes: "good", fails: fmt.Sprint(run)} }, sim.Window(2*60e9))
	if w.Err() != nil || len(w.Divergences) != 1 || !w.Divergences[0].Text {
		t.Errorf("with a window: %v, %+v", w.Err(), w.Divergences)
	}
}

// A failure is not flaky because the text of an error differs.
func TestErrorTextsThatDifferAreNotFlaky(t *testing.T) {
	fails := func(run int) moody { return moody{writes: "good", fails: fmt.Sprint(run)} }
	r := sim.Explore(t, moods(fails, simtest.ConfigMap("angry")), sim.Runs(1), sim.Strategy("random"))
	if f := r.Failure; f == nil || f.Property != "no ConfigMap is angry" || f.Flaky {
		t.Errorf("the failure is %+v", f)
	}
}

// A property that is violated only in the second run of a pair fails the campaign.
func TestViolationInOneRunOfAPairFails(t *testing.T) {
	r := explored(t, func(run int) moody {
		if run == 4 {
			return moody{writes: "angry"}
		}
		return moody{writes: "good"}
	}, sim.Shrink(0))
	if f := r.Failure; f == nil || f.Property != "no ConfigMap is angry" || !f.Flaky || len(r.Divergences) != 1 {
		t.Errorf("the failure is %+v, with %+v", f, r.Divergences)
	}
}

// A test that passes shows the warning without -v as well.
func TestDivergencesArePrinted(t *testing.T) {
	if simtest.InChild() {
		sim.Check(t, moods(sometimes), sim.Runs(10), sim.For(0), sim.Verify(1))
		return
	}
	for _, arg := range []string{"-test.v", "-test.v=false"} {
		out, ok := simtest.ChildOf(t, "", arg)
		if !ok || strings.Count(out, "differ now and then") != 1 || !strings.Contains(out, "wavetank run --exact") {
			t.Errorf("with %v:\n%s", arg, out)
		}
	}
}

// A process may send a request by chance as it ends. It has no effect, so two runs of a choice
// sequence agree. Two runs of a seed do not, which is a warning.
func TestDifferentChoicesAreAWarning(t *testing.T) {
	run := 0
	r := sim.Explore(t, func(w *sim.World) {
		run++
		sends := run%2 == 0
		w.Run("op", func(ctx context.Context, cfg *rest.Config) error {
			c, err := client.New(cfg, client.Options{})
			if err != nil {
				return err
			}
			go func() {
				if <-ctx.Done(); sends { // and the process ends before there is an answer
					_ = c.Get(context.Background(), client.ObjectKey{Name: "default"}, &corev1.Namespace{})
				}
			}()
			for ctx.Err() == nil {
				_ = c.List(ctx, &corev1.ConfigMapList{})
			}
			return nil
		})
		w.Sleep(10 * time.Millisecond)
		w.Stop("op")
		w.Sleep(time.Second)
	}, sim.Runs(4), sim.For(0), sim.Verify(1), sim.Strategy("random"))
	if err := r.Err(); err != nil || len(r.Divergences) != 1 {
		t.Fatalf("want one warning, got %+v and %v", r.Divergences, err)
	}
	for _, want := range []string{"ask for different choices", "request op get Namespace default"} {
		if got := r.Divergences[0].Sentence(); !strings.Contains(got, want) {
			t.Errorf("the warning lacks %q:\n%s", want, got)
		}
	}
}

// A ticker and a timeout that are due at the same instant are named. No map range is suspected.
func TestTimersDueAtOneInstantAreNamed(t *testing.T) {
	r := sim.Explore(t, func(w *sim.World) {
		w.Run("op", func(ctx context.Context, cfg *rest.Config) error {
			c, err := client.New(cfg, client.Options{})
			if err != nil {
				return err
			}
			timeout := time.After(10 * time.Second)
			for tick := time.NewTicker(2 * time.Second); ; {
				select {
				case <-tick.C:
					_ = c.List(ctx, &corev1.ConfigMapList{})
				case <-timeout:
					tick.Stop()
					<-ctx.Done()
					return nil
				}
			}
		})
		w.Sleep(time.Minute)
	}, sim.Runs(20), sim.For(0), sim.Verify(1))
	if err := r.Err(); err != nil || len(r.Divergences) != 1 {
		t.Fatalf("want one warning, got %+v and %v", r.Divergences, err)
	}
	got := r.Divergences[0].Sentence()
	if !strings.Contains(got, "timers of op that are due at the same instant") || strings.Contains(got, "map range") {
		t.Errorf("the warning is\n%s", got)
	}
}

// long is half an hour in which an object is changed every two minutes.
func long(w *sim.World) {
	w.Start("stamper", simtest.Reconciles(
		func(ctx context.Context, c client.Client, cm *corev1.ConfigMap) (reconcile.Result, error) {
			if cm.Annotations["stamp"] == cm.Data["k"] {
				return reconcile.Result{}, nil
			}
			patch := client.MergeFrom(cm.DeepCopy())
			metav1.SetMetaDataAnnotation(&cm.ObjectMeta, "stamp", cm.Data["k"])
			return reconcile.Result{}, c.Patch(ctx, cm, patch)
		}))
	for i := range 15 {
		w.Apply(simtest.ConfigMap(fmt.Sprintf("c%d", i%3), "k", fmt.Sprint(i)))
		w.Sleep(2 * time.Minute)
	}
	w.Settle()
}

// With a window a failure has the history from the window's beginning. A property that looks back
// further panics with a sentence that states why.
func TestWindowBoundsTheStory(t *testing.T) {
	broken := func(w *sim.World) {
		w.Eventually("c0 is never 12", func(h *history.History) error {
			if d, _ := simtest.Data(h, "c0"); d["k"] == "12" {
				return errors.New("it is 12")
			}
			return nil
		})
		long(w)
	}
	f := sim.Explore(t, broken, sim.Runs(1), sim.Strategy("random"), sim.Window(2*time.Minute)).Failure
	if f == nil || f.Message != "it is 12" || f.History.Events[0].Index != 0 ||
		f.History.Events[0].At < 20*time.Minute || len(f.Story.History) == 0 {
		t.Errorf("the failure is %+v", f)
	}
	backwards := func(w *sim.World) {
		w.Always("the beginning is known", func(h *history.History) error { _ = h.Since(0); return nil })
		long(w)
	}
	f = sim.Explore(t, backwards, sim.Runs(1), sim.Strategy("random"), sim.Window(2*time.Minute)).Failure
	if f == nil || !strings.Contains(f.Message, "event 0 is no longer kept: this run keeps its record from event") {
		t.Errorf("a property that looks back: %+v", f)
	}
}

// Two runs that differ are found with a window, too, and the event is named, though the history of
// the first run is not kept whole.
func TestWindowFindsRunsThatDiffer(t *testing.T) {
	n := 0
	f := sim.Explore(t, func(w *sim.World) {
		n++
		long(w)
		if n%2 == 0 {
			w.Apply(simtest.ConfigMap("other"))
		}
		w.Sleep(10 * time.Minute)
	}, sim.Runs(1), sim.Verify(1), sim.Strategy("random"), sim.Window(2*time.Minute)).Failure
	if f == nil || f.Kind != result.Nondeterminism || !strings.Contains(f.Message, "create ConfigMap default/other") {
		t.Errorf("two runs that differ: %+v", f)
	}
}
