package sim_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/result"
)

// moody writes and returns what does not come from its inputs, as a program does that ranges over a
// map. What that is, a test decides: chance itself would make the test fail now and then.
type moody struct {
	client.Client
	writes string
	fails  string // the text of its errors; "" for none
}

func (m *moody) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	cm := &corev1.ConfigMap{}
	if err := m.Get(ctx, req.NamespacedName, cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if cm.Data["mood"] == "" {
		cm.Data = map[string]string{"mood": m.writes}
		return reconcile.Result{}, m.Update(ctx, cm)
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
		m := of(run)
		w.Start("moody", func(mgr ctrl.Manager) error {
			m.Client = mgr.GetClient()
			return ctrl.NewControllerManagedBy(mgr).Named("moody").For(&corev1.ConfigMap{}).Complete(&m)
		})
		w.Always("nobody is angry", func(h *history.History) error {
			for _, o := range h.Objects("", "ConfigMap") {
				if strings.Contains(string(o.JSON), "angry") {
					return errors.New("a ConfigMap is angry")
				}
			}
			return nil
		})
		w.Apply(configMap("a"))
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
	return inAProcess(t, func(on sim.ExploreOption) result.Report {
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
	for _, want := range []string{"update ConfigMap default/a", "mood 1", "mood 2", "the goroutine of the second run: ",
		"moody).Reconcile (divergence_test.go:"} {
		if !strings.Contains(r.Failure.Message, want) {
			t.Errorf("the message lacks %q:\n%s", want, r.Failure.Message)
		}
	}
}

// Two runs that differ now and then are one warning, and the campaign makes all its runs.
func TestRunsThatDifferNowAndThenAreAWarning(t *testing.T) {
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
	for _, want := range []string{"differ now and then", fmt.Sprintf("at step %d", d.Step), "request body",
		`"mood":"bad"`, `"mood":"good"`, "moody).Reconcile (divergence_test.go:",
		"wavetank run --exact github.com/wavetank/wavetank/sim --run '^" + t.Name() + "$'"} {
		if !strings.Contains(warning, want) {
			t.Errorf("the warning lacks %q:\n%s", want, warning)
		}
	}
	again := explored(t, sometimes, sim.ReportTo(dir), sim.Runs(30))
	if again.Runs != 30 || len(again.Divergences) != 1 || again.Divergences[0].Runs <= d.Runs ||
		again.Divergences[0].First != d.First {
		t.Errorf("the campaign that goes on has %d runs and %+v", again.Runs, again.Divergences)
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

// The text of an error differs, and nothing else: a warning that says how it reads and which
// reconcile it is of.
func TestErrorsThatReadOtherwiseAreAWarning(t *testing.T) {
	r := explored(t, func(run int) moody { return moody{writes: "good", fails: fmt.Sprintf("invalid: [x%d y]", run)} })
	if err := r.Err(); err != nil || r.Runs != 20 || len(r.Divergences) != 1 {
		t.Fatalf("want 20 runs and one warning, got %d runs, %+v and %v", r.Runs, r.Divergences, err)
	}
	if d := r.Divergences[0]; !d.Text || d.Runs != 20 || d.Pairs != 0 {
		t.Errorf("nothing is to be repeated for a text: %+v", d)
	}
	warning := strings.Join(r.Warnings, "\n")
	for _, want := range []string{`an error of the controller "moody"`, "[moody default/a #2]", "invalid: [x1 y]",
		"invalid: [x2 y]"} {
		if !strings.Contains(warning, want) {
			t.Errorf("the warning lacks %q:\n%s", want, warning)
		}
	}
	w := explored(t, func(run int) moody { return moody{writes: "good", fails: fmt.Sprint(run)} }, sim.Window(2*60e9))
	if w.Err() != nil || len(w.Divergences) != 1 || !w.Divergences[0].Text {
		t.Errorf("with a window: %v, %+v", w.Err(), w.Divergences)
	}
}

// A failing run whose error reads otherwise each time repeats its failure.
func TestErrorsThatReadOtherwiseAreNotFlaky(t *testing.T) {
	fails := func(run int) moody { return moody{writes: "good", fails: fmt.Sprint(run)} }
	r := sim.Explore(t, moods(fails, configMap("angry")), sim.Runs(1), sim.Strategy("random"))
	if f := r.Failure; f == nil || f.Property != "nobody is angry" || f.Flaky {
		t.Errorf("the failure is %+v", f)
	}
}

// A property that breaks only when a run is made again is broken nevertheless.
func TestAPropertyThatBreaksNowAndThenFails(t *testing.T) {
	r := explored(t, func(run int) moody {
		if run == 4 {
			return moody{writes: "angry"}
		}
		return moody{writes: "good"}
	}, sim.Shrink(0))
	if f := r.Failure; f == nil || f.Property != "nobody is angry" || !f.Flaky || len(r.Divergences) != 1 {
		t.Errorf("the failure is %+v, with %+v", f, r.Divergences)
	}
}

// A test that passes shows the warning without -v as well.
func TestWarningsOfDoubledRunsArePrinted(t *testing.T) {
	if os.Getenv(part) != "" {
		sim.Check(t, moods(sometimes), sim.Runs(10), sim.For(0), sim.Verify(1))
		return
	}
	for _, args := range [][]string{nil, {"-test.v=false"}} {
		out, ok := child(t.TempDir(), t.Name(), args, nil)
		if !ok || strings.Count(out, "differ now and then") != 1 || !strings.Contains(out, "wavetank run --exact") {
			t.Errorf("with %v:\n%s", args, out)
		}
	}
}

// A request that a process sends by chance as it ends, and that has no effect, makes no difference
// between two runs of a choice sequence. It does between two runs of a seed, so it is a warning.
func TestRunsThatAskForDifferentChoicesAreAWarning(t *testing.T) {
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

// A ticker and a time-out that are due at one instant are named, and no map range is blamed.
func TestTimersThatTieAreNamed(t *testing.T) {
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
