package campaign

import (
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// An estimate makes runs without a fault, and then with the story's faults: late watch events for a
// stale cache, and each other fault once, at an opportunity that is drawn.
func TestEstimateInjectsTheFaultsOfTheStory(t *testing.T) {
	inject := func(of string) story.Choice {
		return story.Choice{ID: story.ID{Label: story.Label{Kind: story.Inject, Of: of}}, Value: 1}
	}
	broken := result.Ending{Kind: result.Always, Property: "p", Site: "x.go:1", Message: "m"}
	s := &story.Story{Kind: "always", Property: "p", Site: "x.go:1",
		Choices: choice.Sequence{inject("StaleCache(1m0s)"), inject("Crash")}}
	crashed := map[int]bool{}
	runner := func(_ *testing.T, source choice.Source, settings run.Settings) *run.Result {
		if source.Choose(choice.Point{Label: story.Label{Kind: story.Arm, Of: "Crash"}, N: 3}) != 2 {
			t.Error("the crash is not armed")
		}
		if source.Choose(choice.Point{Label: inject("StaleCache(1m0s)").Label, N: 8}) > 0 {
			t.Error("the stale cache of the scenario is injected: the transport delays events")
		}
		out := &run.Result{Course: &run.Course{Version: "v1.20.4"}, History: &history.History{}, Reconciles: 3}
		crashes := 0
		for n := range 20 {
			if source.Choose(choice.Point{Label: inject("Crash").Label, N: 2}) > 0 {
				crashed[n] = true
				crashes++
			}
		}
		if late := settings.Real.Free.Lag > 0; late != (crashes == 1) {
			t.Errorf("%d crashes with watch events %v late", crashes, settings.Real.Free.Lag)
		}
		if settings.Real.Free.Lag >= time.Second {
			out.Ending = broken
		}
		return out
	}
	c := &confirmer{runs: &executor{t: t, runner: runner}, report: &result.Report{},
		settings: Settings{Host: &judge{}, Attempts: 20}}
	c.estimate("a.txtar", s)
	got := c.report.Estimates[0]
	text := strings.Join(strings.Fields(got.Text()), " ")
	for _, want := range []string{
		"no fault 20 60 0 ",
		"watch events 50ms late, Crash at random requests 20 60 0 ",
		"watch events 2s late, Crash at random requests 20 60 20 ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no row %q in\n%s", want, text)
		}
	}
	if len(crashed) < 10 {
		t.Errorf("in 60 runs the crash came at %d of 20 opportunities", len(crashed))
	}
	s.Choices = append(s.Choices, inject("StaleServer(1m0s)"))
	c.estimate("a.txtar", s)
	if got := c.report.Estimates[1].Text(); !strings.HasPrefix(got, "cannot be estimated: ") ||
		!strings.Contains(got, "second API server") {
		t.Errorf("a fault that no server can have: %s", got)
	}
}
