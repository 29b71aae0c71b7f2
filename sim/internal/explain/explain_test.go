package explain

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
	"github.com/wavetank/wavetank/story"
)

// verdict reports whether a run violates its property: by the writes at which a fault was injected,
// and by how many actions were not the oldest.
type verdict func(struck map[int]bool, order int) bool

// scripted is a run of eight writes. Before each, a fault may be injected. It violates its property
// if violates says so of the writes at which one was.
func scripted(monitor *run.Monitor, violates verdict) func(choice.Source) *run.Result {
	return func(o choice.Source) *run.Result {
		choices, h, struck, order := choice.New(o), &history.History{}, map[int]bool{}, 0
		monitor.Latest.Store(&run.InProgress{Choices: choices, History: h})
		for i := range 8 {
			label := choice.Label{Kind: choice.Inject, Of: "Crash(op)", Who: "op", Verb: "update", What: "Pod web"}
			struck[i] = choices.Rarely(label, 2, 4) > 0
			order += choices.Pick(make([]choice.Actor, 2))
			ref := history.Ref{Kind: "Pod", Name: fmt.Sprint("web-", i)}
			h.Add(history.Event{Kind: history.Request, At: time.Duration(i) * time.Second, Process: "op",
				Incarnation: 1, Verb: "update", Ref: ref, Code: 200, Source: "op.go:7",
				Changes: []history.Change{{Type: "MODIFIED", Ref: ref}}})
		}
		res := &run.Result{History: h, Log: choices.Log(), Tape: choices.Sequence()}
		if violates(struck, order) {
			h.Add(history.Event{Kind: history.Violation, At: 8 * time.Second, Note: "web-7 is wrong"})
			res.Ending = result.Ending{Kind: result.Always, Property: "p"}
		}
		return res
	}
}

func crashAt(n int) choice.Entry {
	label := choice.Label{Kind: choice.Inject, Of: "Crash(op)", Who: "op", Verb: "update", What: "Pod web"}
	return choice.Entry{ID: choice.ID{Label: label, Nth: n}, Value: 1}
}

func sentences(t *testing.T, sequence choice.Sequence, runs int, violates verdict) string {
	t.Helper()
	monitor := &run.Monitor{}
	s := &Subject{
		Run: scripted(monitor, violates), Monitor: monitor, Sequence: sequence, Choices: []story.Choice{},
		Ending: result.Ending{Kind: result.Always, Property: "p"},
		Over:   func() bool { runs--; return runs < 0 },
	}
	return strings.Join(s.Sentences(), "\n")
}

// One fault decides: the step at which it was injected is named, and that nothing happens without
// it.
func TestExplainNamesTheStepThatDecides(t *testing.T) {
	got := sentences(t, choice.Sequence{crashAt(3)}, 1000, func(struck map[int]bool, _ int) bool { return struck[3] })
	for _, want := range []string{
		"The last step that led to it was at 00:07.000: op/1 update Pod web-7 at op.go:7.",
		"It was decided at 00:03.000 (op/1 update Pod web-3 at op.go:7): after that, 20 of 20 continuations " +
			"without further faults violate the property; before it, 0 of 20 do.",
		`Without "Crash(op): op update Pod web", 0 of 20 continuations violate it.`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
}

// A run that fails on most schedules has no step that decides.
func TestExplainSaysThatNothingDecides(t *testing.T) {
	got := sentences(t, nil, 1000, func(map[int]bool, int) bool { return true })
	if !strings.Contains(got, "No step decides: 20 of 20 runs with other schedules and no fault violate the property") {
		t.Error(got)
	}
}

// Nothing is claimed that was not measured: not without time, and not of a run that its choices do
// not repeat.
func TestExplainClaimsOnlyWhatItMeasured(t *testing.T) {
	crash := choice.Sequence{crashAt(3)}
	got := sentences(t, crash, 5, func(struck map[int]bool, _ int) bool { return struck[3] })
	if strings.Contains(got, "decided") || strings.Contains(got, "Without") {
		t.Errorf("without time: %s", got)
	}
	if got := sentences(t, crash, 1000, func(map[int]bool, int) bool { return false }); got != "" {
		t.Errorf("a run that passes: %s", got)
	}
}
