package sim_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
)

// A campaign that keeps going finds the properties that break after another in the same run, and
// shows the most harmful first. The story of the second leaves out what the first needs, or says
// that it is not judged by the first.
func TestKeepGoingFindsWhatBreaksLater(t *testing.T) {
	exists := func(name string) func(*history.History) error {
		return func(h *history.History) error {
			if _, ok := h.Object("", "ConfigMap", "default", name); ok {
				return errors.New(name + " exists")
			}
			return nil
		}
	}
	for name, first := range map[string]string{"on the way": "a", "apart": "c"} {
		t.Run(name, func(t *testing.T) {
			scenario := func(w *sim.World) {
				w.Without("apply is stable")
				w.Always("apply is stable", exists(first)) // the least harmful by its name
				w.Always("b is refused", exists("b"))
				w.Apply(configMap("a"))
				w.Apply(configMap("b"))
				w.Settle()
			}
			if first == "c" {
				without := scenario
				scenario = func(w *sim.World) {
					if sim.Draw(w, "c", rapid.Bool()) {
						w.Apply(configMap("c"))
					}
					without(w)
				}
			}
			dir := t.TempDir()
			if r := sim.Explore(t, scenario, sim.Runs(20), sim.For(0)); r.Failure.Property != "apply is stable" &&
				first == "a" {
				t.Errorf("the first to break is %q", r.Failure.Property)
			}
			r := sim.Explore(t, scenario, sim.Runs(20), sim.For(0), sim.KeepGoing(), sim.Stories(dir))
			if r.Failure == nil || r.Failure.Property != "b is refused" || len(r.Findings) != 2 {
				t.Fatalf("found are %+v", r.Findings)
			}
			text := r.Err().Error()
			_, list, _ := strings.Cut(text, "2 causes in 20 runs, the most harmful first:\n")
			if !strings.Contains(list, "b exists") ||
				strings.Index(list, "b exists") > strings.Index(list, first+" exists") {
				t.Errorf("the text is\n%s", text)
			}
			s, err := story.Read(r.Failure.File)
			if err != nil {
				t.Fatal(err)
			}
			if want := first == "a"; slices.Equal(s.Ignored, []string{"apply is stable"}) != want {
				t.Errorf("it ignores %q", s.Ignored)
			}
			again := sim.Explore(t, scenario, sim.Replay(r.Failure.File)).Failure
			if again == nil || again.Property != "b is refused" {
				t.Errorf("its replay ends with %+v", again)
			}
			if files, err := story.List(dir); err != nil || len(files) != 2 {
				t.Errorf("kept are %v, %v", files, err)
			}
		})
	}
}
