package sim_test

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
)

// A failure says what a write changed, which line of the operator sent it, and that it needs no
// fault. Doubled runs are alike with all that.
func TestAFailureSaysWhatWasChangedFromWhereAndWhatItNeeds(t *testing.T) {
	f := sim.Explore(t, copyChanges, sim.Verify(1)).Failure
	if f == nil {
		t.Fatal("nothing is found")
	}
	text := f.Text()
	for _, want := range []string{
		`    needs no fault, no delay and no other order: it fails on the default schedule`,
		`user +\S+ ConfigMap default/a → rv \d+ \(data\.k 1 → 2\)\n`,
		`mirror/1 +\S+ ConfigMap default/a-copy → rv \d+ \(data\.k 1 → 2\) at sim/operators_test\.go:\d+\n`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, " /") {
		t.Errorf("a path of this machine is in\n%s", text)
	}
	last := f.History.Events[len(f.History.Events)-1]
	if last.Kind != history.Violation || len(last.Read) != 1 || last.Read[0].Name != "a-copy" ||
		!slices.Equal(last.About, last.Read) {
		t.Errorf("the violation names the objects %v and %v", last.Read, last.About)
	}
}

// copyChanges violates its property on every schedule.
func copyChanges(w *sim.World) {
	w.Start("mirror", func(mgr ctrl.Manager) error {
		return (&mirror{Client: mgr.GetClient()}).SetupWithManager(mgr)
	})
	w.Always("the copy stays", func(h *history.History) error {
		var copied corev1.ConfigMap
		o, ok := h.Object("", "ConfigMap", "default", "a-copy")
		if ok && o.Into(&copied) == nil && copied.Data["k"] == "2" {
			return history.About(errors.New("it changes"), o.Ref)
		}
		return nil
	})
	w.Apply(withRole("source", configMap("a", "k", "1")))
	w.Settle()
	w.Apply(withRole("source", configMap("a", "k", "2")))
	w.Settle()
}

// A failure of the default schedule has a paragraph, a measurement and a story as any other has.
// The paragraph names the line that would have to be different.
func TestAFailureOfTheDefaultScheduleHasACauseAndAStory(t *testing.T) {
	t.Setenv("SIM_EXPLAIN", "5s")
	f := sim.Explore(t, copyChanges, sim.Stories(t.TempDir())).Failure
	if f == nil {
		t.Fatal("nothing is found")
	}
	want := `No step decides, and no fault is needed: 20 of 20 runs with other schedules and no fault violate the ` +
		`property, too\. What would have to be different is what the program does at sim/operators_test\.go:\d+\.`
	if !regexp.MustCompile(want).MatchString(f.Text()) {
		t.Errorf("the decision is missing:\n%s", f.Text())
	}
	s, err := story.Read(f.File)
	if err != nil || len(s.Choices) > 0 || len(s.Why) == 0 || len(s.Shares) == 0 {
		t.Fatalf("its story is %+v, %v", s, err)
	}
	if again := sim.Explore(t, copyChanges, sim.Replay(f.File)).Failure; again == nil || again.Message != f.Message {
		t.Errorf("its replay ends with %v", again)
	}
}

// A panic in a scenario begins with the scenario's line, and its stack comes last.
func TestAPanicShowsItsLineFirst(t *testing.T) {
	f := sim.Explore(t, func(w *sim.World) {
		w.Apply(configMap("a"))
		panic("no luck")
	}).Failure
	if f == nil {
		t.Fatal("nothing is found")
	}
	text := f.Text()
	if !regexp.MustCompile(`^failure_text_test\.go:\d+: panic at step 2\n    no luck\n    00:`).MatchString(text) {
		t.Errorf("it begins with\n%s", text)
	}
	_, stack, _ := strings.Cut(text, "the story was not kept")
	if !strings.Contains(stack, "goroutine ") || strings.Contains(f.Message, "goroutine ") {
		t.Errorf("its stack does not come last:\n%s", text)
	}
	if strings.Contains(string(f.Story.Encode()), "goroutine ") {
		t.Errorf("its story has the stack:\n%s", f.Story.Encode())
	}
}

// A campaign that keeps going makes its runs even if the default schedule fails, and says how many
// runs it made and how many broke a property. A failure that needs no fault names its run.
func TestKeepGoingSaysHowManyRunsBroke(t *testing.T) {
	for name, broken := range map[string]int{"TestAllBreak": 10, "TestNoneBreaks": 0} {
		out, ok := child(t.TempDir(), name,
			[]string{"-sim.keep-going", "-sim.runs=10", "-sim.for=0", "-sim.shrink=0"}, nil)
		says := []string{`sim: 10 of 10 runs broke a property; made were 10 runs in `,
			`    found by burst, run 0 of base seed \d+\n`}
		if broken == 0 {
			says = []string{`sim: nothing broke in 10 runs in `}
		}
		if ok != (broken == 0) {
			t.Errorf("%s passes: %v", name, ok)
		}
		for _, want := range says {
			if !regexp.MustCompile(want).MatchString(out) {
				t.Errorf("%s: %q is not said:\n%s", name, want, out)
			}
		}
	}
}

// breaking is a part of TestKeepGoingSaysHowManyRunsBroke.
func breaking(t *testing.T, err error) {
	if os.Getenv(part) != t.Name() {
		t.Skip("a part of TestKeepGoingSaysHowManyRunsBroke")
	}
	sim.Check(t, func(w *sim.World) {
		w.Always("all is well", func(*history.History) error { return err })
		w.Apply(configMap("a"))
		w.Settle()
	})
}

func TestAllBreak(t *testing.T) { breaking(t, errors.New("it is not")) }

func TestNoneBreaks(t *testing.T) { breaking(t, nil) }
