package explain

import (
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// verdict reports whether a run violates its property: by the writes at which a fault was injected,
// and by which of four actions was first before each write, two bits for each.
type verdict func(struck map[int]bool, first int) bool

// scripted is a run of eight writes. Before each, a fault may be injected. It violates its property
// if violates says so of the writes at which one was.
func scripted(monitor *run.Monitor, violates verdict) func(choice.Source) *run.Result {
	return func(o choice.Source) *run.Result {
		choices, h, struck, first := choice.New(o), &history.History{}, map[int]bool{}, 0
		monitor.Latest.Store(&run.InProgress{Choices: choices, History: h})
		for i := range 8 {
			label := story.Label{Kind: story.Inject, Of: "Crash(op)", Who: "op", Verb: "update", What: "Pod web"}
			struck[i] = choices.Rarely(label, 2, 4) > 0
			first |= choices.Pick(actors) << (2 * i)
			ref := history.Ref{Kind: "Pod", Name: fmt.Sprint("web-", i)}
			h.Add(history.Event{Kind: history.Request, Step: i + 1, At: time.Duration(i) * time.Second, Process: "op",
				Incarnation: 1, Verb: "update", Ref: ref, Code: 200, Source: "op.go:7",
				Changes: []history.Change{{Type: "MODIFIED", Ref: ref}}})
		}
		res := &run.Result{History: h, Log: choices.Log(), Choices: choices.Sequence()}
		if violates(struck, first) {
			h.Add(history.Event{Kind: history.Violation, At: 8 * time.Second, Note: "web-7 is wrong"})
			res.Ending = result.Ending{Kind: result.Always, Property: "p"}
		}
		return res
	}
}

var actors = []choice.Actor{{Process: "op/1", Name: "informer"}, {Process: "op/1", Name: "worker"},
	{Process: "op/1", Name: "timer"}, {Process: "user"}}

func crashAt(n int) story.Choice {
	label := story.Label{Kind: story.Inject, Of: "Crash(op)", Who: "op", Verb: "update", What: "Pod web"}
	return story.Choice{ID: story.ID{Label: label, Nth: n}, Value: 1}
}

func sentences(t *testing.T, sequence choice.Sequence, runs int, violates verdict) string {
	t.Helper()
	said, _ := measure(t, sequence, runs, violates)
	return strings.Join(said, "\n")
}

func measure(t *testing.T, sequence choice.Sequence, runs int, violates verdict) ([]string, []story.Share) {
	t.Helper()
	monitor := &run.Monitor{}
	s := &Subject{
		Run: scripted(monitor, violates), Monitor: monitor, Sequence: sequence, Line: "op.go:7",
		Ending: result.Ending{Kind: result.Always, Property: "p"},
		Over:   func() bool { runs--; return runs < 0 },
	}
	return s.Measure()
}

// One fault decides: the step at which it was injected is named, and that nothing happens without
// it.
func TestExplainNamesTheStepThatDecides(t *testing.T) {
	got := sentences(t, choice.Sequence{crashAt(3)}, 1000, func(struck map[int]bool, _ int) bool { return struck[3] })
	for _, want := range []string{
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
	want := "No step decides, and no fault is needed: 20 of 20 runs with other schedules and no fault violate the " +
		"property, too. What would have to be different is what the program does at op.go:7."
	if got != want {
		t.Error(got)
	}
}

// Nothing is claimed that was not measured: not without time, and not of a run that its choices do
// not repeat.
func TestExplainClaimsOnlyWhatItMeasured(t *testing.T) {
	crash := choice.Sequence{crashAt(3)}
	got := sentences(t, crash, 5, func(struck map[int]bool, _ int) bool { return struck[3] })
	if got != "Not measured: the time was used up; -sim.explain=1m allows more." {
		t.Errorf("without time: %s", got)
	}
}

// Of a run that does not repeat itself, there is one sentence that says why nothing is known.
func TestExplainSaysWhyItMeasuredNothing(t *testing.T) {
	runs := 0
	for name, violates := range map[string]verdict{
		"the property is random":                  func(map[int]bool, int) bool { runs++; return runs%2 == 1 },
		"the property depends on another program": func(map[int]bool, int) bool { return false },
	} {
		want := "Not measured: the same choices violate the property in one run and not in another, so it depends on " +
			"chance or on something outside the run."
		if got := sentences(t, choice.Sequence{crashAt(3)}, 1000, violates); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	made := 0
	drifting := func(monitor *run.Monitor) func(choice.Source) *run.Result {
		return func(o choice.Source) *run.Result {
			res := scripted(monitor, func(map[int]bool, int) bool { return true })(o)
			made++
			res.History.Events[0].Path = fmt.Sprint(made) // something that no choice decides
			return res
		}
	}
	monitor := &run.Monitor{}
	s := &Subject{Run: drifting(monitor), Monitor: monitor, Ending: result.Ending{Kind: result.Always, Property: "p"},
		Over: func() bool { return false }}
	if said, shares := s.Measure(); len(said) != 1 || len(shares) > 0 ||
		!strings.HasPrefix(said[0], "Not measured: the same choices lead to different runs: ") {
		t.Errorf("%q, %v", said, shares)
	}
}

// The share grows from none to all at the step that decides.
func TestExplainMeasuresTheShareAlongTheRun(t *testing.T) {
	struckAt3 := func(struck map[int]bool, _ int) bool { return struck[3] }
	_, shares := measure(t, choice.Sequence{crashAt(3)}, 1000, struckAt3)
	if len(shares) < 6 {
		t.Fatalf("only %v", shares)
	}
	for _, s := range shares {
		if want := map[bool]int{true: 20}[s.Step > 4]; s.Violating != want || s.Of != 20 {
			t.Errorf("step %d: %d of %d, expected %d", s.Step, s.Violating, s.Of, want)
		}
	}
}

// Several steps may raise the share, of which none decides alone.
func TestExplainNamesTheStepsAtWhichTheShareRises(t *testing.T) {
	second := func(n, value int) story.Choice {
		return story.Choice{ID: story.ID{Label: story.Label{Kind: story.Next}, Nth: n}, Value: value}
	}
	both := func(_ map[int]bool, first int) bool { return first>>4&3 == 1 && first>>10&3 > 1 }
	said, shares := measure(t, choice.Sequence{second(2, 1), second(5, 2)}, 10000, both)
	got := strings.Join(said, "\n")
	for _, want := range []string{
		"No single step decides: ",
		"The share of continuations that violate it rises at 00:02.000 (op/1 update Pod web-2 at op.go:7), from 2 " +
			"to 21 of 40; at 00:05.000 (op/1 update Pod web-5 at op.go:7), from 22 to 40 of 40.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	var rises []int
	for _, s := range shares {
		if s.Rises {
			rises = append(rises, s.Step)
		}
	}
	if !slices.Equal(rises, []int{4, 7}) {
		t.Errorf("the share rises before the steps %v: %v", rises, shares)
	}
}

// If half of all continuations violate the property until the last step, no step before it is
// named, even if the share varies by chance.
func TestExplainNamesNoRiseOfChance(t *testing.T) {
	for salt := range 32 {
		got := sentences(t, choice.Sequence{crashAt(7)}, 10000, func(struck map[int]bool, first int) bool {
			return struck[7] || bits.OnesCount(uint(first&(salt<<5|1<<14)))%2 == 1
		})
		for _, rise := range regexp.MustCompile(`[^;]*from \d+ to \d+ of 40`).FindAllString(got, -1) {
			if !strings.Contains(rise, "at 00:07.000") {
				t.Errorf("%d: %s", salt, got)
			}
		}
	}
}

// If an order of two actions decides, the other order is tried: of an order that the run needs, and
// of one that is the default.
func TestExplainSwapsTheOrderThatDecides(t *testing.T) {
	second := story.Choice{ID: story.ID{Label: story.Label{Kind: story.Next}, Nth: 4}, Value: 1}
	got := sentences(t, choice.Sequence{second}, 1000, func(_ map[int]bool, first int) bool { return first>>8&3 == 1 })
	want := "With op/1 informer before op/1 worker at 00:04.000 (op/1 update Pod web-4 at op.go:7), 0 of 20 " +
		"continuations violate it."
	if !strings.Contains(got, want) {
		t.Errorf("%q is missing:\n%s", want, got)
	}
	got = sentences(t, nil, 1000, func(_ map[int]bool, first int) bool { return first>>8&3 == 0 })
	want = "With op/1 worker before op/1 informer at 00:04.000 (op/1 update Pod web-4 at op.go:7), 0 of 20 " +
		"continuations violate it."
	if !strings.Contains(got, want) {
		t.Errorf("%q is missing:\n%s", want, got)
	}
}

// Without one fault, the others stay: an earlier one that the violation does not need is not named
// as its cause.
func TestExplainKeepsTheOtherFaults(t *testing.T) {
	struckAt5 := func(struck map[int]bool, _ int) bool { return struck[5] }
	got := sentences(t, choice.Sequence{crashAt(2), crashAt(5)}, 1000, struckAt5)
	for _, want := range []string{
		`Without "Crash(op): op update Pod web" (call 3 of its kind), 20 of 20 continuations violate it.`,
		`Without "Crash(op): op update Pod web" (call 6 of its kind), 0 of 20 continuations violate it.`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
}

// Without a fault that leads to a later one, both are missing, and the sentence says so.
func TestExplainSaysWhichFaultsAreMissingToo(t *testing.T) {
	monitor := &run.Monitor{}
	label := story.Label{Kind: story.Inject, Of: "ServerError", Who: "op", Verb: "create", What: "Pod web"}
	nth := func(n int) story.Choice { return story.Choice{ID: story.ID{Label: label, Nth: n}, Value: 1} }
	s := &Subject{Monitor: monitor, Sequence: choice.Sequence{nth(0), nth(1), nth(2)},
		Ending: result.Ending{Kind: result.Always, Property: "p"}, Over: func() bool { return false },
		Run: func(o choice.Source) *run.Result {
			choices, h, failed := choice.New(o), &history.History{}, 0
			monitor.Latest.Store(&run.InProgress{Choices: choices, History: h})
			for failed < 3 && choices.Rarely(label, 2, 4) > 0 { // it tries again only if it failed
				failed++
			}
			res := &run.Result{History: h, Log: choices.Log(), Choices: choices.Sequence()}
			if failed == 3 {
				res.Ending = result.Ending{Kind: result.Always, Property: "p"}
			}
			return res
		}}
	said, _ := s.Measure()
	got := strings.Join(said, "\n")
	for n, want := range []string{
		", and 2 later faults are injected in none of them.", ", and a later fault is injected in none of them.", ".",
	} {
		want = fmt.Sprintf(`Without "ServerError: op create Pod web" (call %d of its kind), 0 of 20 continuations `+
			"violate it%s", n+1, want)
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
}

// A fault that has a line in the history is named by it, with who was struck and when.
func TestExplainNamesAFaultByItsLine(t *testing.T) {
	monitor := &run.Monitor{}
	plain := scripted(monitor, func(struck map[int]bool, _ int) bool { return struck[3] })
	s := &Subject{Monitor: monitor, Sequence: choice.Sequence{crashAt(3)}, Over: func() bool { return false },
		Ending: result.Ending{Kind: result.Always, Property: "p"},
		Run: func(o choice.Source) *run.Result {
			return plain(choice.Func(func(p choice.Point) int {
				n := o.Choose(p)
				if h := monitor.Latest.Load().History; n > 0 && p.Kind == story.Inject {
					h.Add(history.Event{Kind: history.Fault, Process: "op", Incarnation: 1, At: 3 * time.Second,
						Injection: &history.Injection{
							Class: "Crash", Arguments: "op", How: "before", Of: "update Pod web-3",
						}})
				}
				return n
			}))
		}}
	said, _ := s.Measure()
	want := `Without "Crash(op): before update Pod web-3" (op/1, 00:03.000), 0 of 20 continuations violate it.`
	if got := strings.Join(said, "\n"); !strings.Contains(got, want) {
		t.Errorf("%q is missing:\n%s", want, got)
	}
}
