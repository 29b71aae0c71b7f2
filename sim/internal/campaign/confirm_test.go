package campaign

import (
	"os"
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

// A verdict is "not confirmed" only if the real server had everything that the story needs.
func TestConfirmationVerdicts(t *testing.T) {
	const missing = "the scenario has a second cluster"
	broken := result.Ending{Kind: result.Always, Property: "p", Site: "x.go:1", Message: "m", At: time.Minute}
	parts := &run.Parted{N: 2, Step: run.Step{What: "request"}}
	late := &run.Parted{N: 2, Step: run.Step{What: "request"}, Behind: time.Second}
	fault := story.Choice{ID: story.ID{Label: story.Label{Kind: story.Inject, Of: "Crash"}}, Value: 1}
	for _, c := range []struct {
		name          string
		real, control run.Result
		plain         run.Result    // the control run in the simulated cluster
		late          time.Duration // when the story violates its property
		want          result.Verdict
		why           string
	}{
		{name: "violated", real: run.Result{Ending: broken}, want: result.Confirmed},
		{name: "parted", real: run.Result{Course: &run.Course{Parted: parts}}, want: result.NotConfirmed,
			why: "parts from the story at step 2"},
		{name: "parted late", real: run.Result{Course: &run.Course{Parted: late}}, want: result.NotConfirmed,
			why: "the step before it came 1s later than in the story"},
		{name: "a step that no server makes", real: run.Result{Course: &run.Course{Cannot: missing}},
			want: result.CannotBeConfirmed, why: missing},
		{name: "nothing violated", want: result.NotConfirmed, why: "violates nothing"},
		{name: "violated after an hour of quiet", late: time.Hour, want: result.CannotBeConfirmed,
			why: "the story takes 1h0m0s: the limit is 10m0s"},
		{name: "the control run needs such a step", real: run.Result{Ending: broken}, want: result.CannotBeConfirmed,
			control: run.Result{Course: &run.Course{Cannot: missing}}, why: "without faults cannot be run: " + missing},
		{name: "the control run parts", real: run.Result{Ending: broken}, want: result.NotConfirmed,
			control: run.Result{Course: &run.Course{Parted: parts}}, why: "did not come to its end"},
		{name: "no fault is needed", real: run.Result{Ending: broken}, plain: run.Result{Ending: broken},
			want: result.Confirmed, why: "it needs no fault"},
		{name: "the workload fails otherwise", real: run.Result{Ending: broken}, want: result.NotConfirmed,
			plain: run.Result{Ending: result.Ending{Kind: result.Panic}}, why: "fails otherwise"},
		{name: "the control run fails", real: run.Result{Ending: broken}, control: run.Result{Ending: broken},
			want: result.NotConfirmed, why: "fails at the real server, too"},
	} {
		simulated := run.Result{Ending: broken}
		if c.late > 0 {
			simulated.Ending.At = c.late
		}
		runner := func(_ *testing.T, source choice.Source, s run.Settings) *run.Result {
			faulty := source.Choose(choice.Point{Label: fault.Label, N: 2}) > 0
			out := run.Result{}
			switch {
			case s.Record != nil && faulty:
				out = simulated
			case s.Record != nil:
				out = c.plain
			case faulty:
				out = c.real
			default:
				out = c.control
			}
			if out.Course == nil {
				out.Course = &run.Course{}
			}
			out.History = &history.History{}
			return &out
		}
		at := &confirmer{runs: &executor{t: t, runner: runner}}
		got := at.confirmation(&story.Story{Kind: "always", Property: "p", Site: "x.go:1",
			Choices: choice.Sequence{fault}})
		if got.Verdict != c.want || !strings.Contains(got.Why, c.why) {
			t.Errorf("%s: %s\nwant %q with %q", c.name, got.Text(), c.want, c.why)
		}
	}
}

// With -sim.mark a confirmed story is written with the server's version, and nothing else changes.
func TestConfirmationMarksTheStory(t *testing.T) {
	fault := story.Choice{ID: story.ID{Label: story.Label{Kind: story.Inject, Of: "Crash", What: "op"}}, Value: 1}
	broken := result.Ending{Kind: result.Always, Property: "p", Site: "x.go:1", Message: "m"}
	runner := func(_ *testing.T, source choice.Source, _ run.Settings) *run.Result {
		out := &run.Result{Course: &run.Course{Version: "v1.20.4"}, History: &history.History{}}
		if source.Choose(choice.Point{Label: fault.Label, N: 2}) > 0 {
			out.Ending = broken
		}
		return out
	}
	for _, mark := range []bool{false, true} {
		s := &story.Story{Test: "TestX", Kind: "always", Property: "p", Site: "x.go:1", Versions: map[string]string{},
			Choices: choice.Sequence{fault}}
		path, err := s.Write(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		c := &confirmer{runs: &executor{t: t, runner: runner}, report: &result.Report{},
			settings: Settings{Host: &judge{}, Mark: mark, Attempts: 1}}
		c.confirm(path, s)
		got, err := story.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(got.Confirmed, "kube-apiserver v1.20.4 ") != mark {
			t.Errorf("mark %t: confirmed on %q", mark, got.Confirmed)
		}
		if got.Name() != s.Name() {
			t.Errorf("mark %t: the choices are %v", mark, got.Choices)
		}
	}
}

// The verdict says if the server is of another minor version than the program's modules.
func TestOtherMinorIsNamed(t *testing.T) {
	if got := otherMinor("v1.20.4"); !strings.Contains(got, "the Kubernetes modules of the program are of v1.") {
		t.Errorf("for v1.20.4: %q", got)
	}
	minor, _, _ := strings.Cut(strings.TrimPrefix(recordedWith()["k8s.io/client-go"], "v0."), ".")
	for _, server := range []string{"", "v1." + minor + ".9"} {
		if got := otherMinor(server); got != "" {
			t.Errorf("for %q: %q", server, got)
		}
	}
}

// An incarnation in a process of its own is of the same test, with the flags of this process.
func TestChildRunsTheSameTest(t *testing.T) {
	t.Run("a (b)", func(t *testing.T) {
		cmd := (&executor{t: t}).child("a spec")
		want := `-test.run=^TestChildRunsTheSameTest$/^a_\(b\)$`
		if got := cmd.Args[len(cmd.Args)-1]; got != want || !slices.Contains(cmd.Env, hostedTest+"=a spec") ||
			!slices.Equal(cmd.Args[1:len(os.Args)], os.Args[1:]) {
			t.Errorf("the command is %q", cmd.Args)
		}
	})
}
