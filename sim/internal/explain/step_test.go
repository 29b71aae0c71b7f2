package explain

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

// A delay that decides is named, and no step that comes by chance after it. Neither is what a user
// only reads: that comes before a step that may matter. A delayed request has the name that it got.
func TestExplainNamesNoStepThatMakesNoDifference(t *testing.T) {
	secret := history.Ref{Kind: "Secret", Namespace: "default", Name: "login"}
	lag := story.Label{Kind: story.Inject, Of: "StaleCache(30s)", Who: "op", Verb: "MODIFIED",
		What: "Secret default/login"}
	delay := story.Label{Kind: story.Request, Who: "op", Verb: "create", What: "Pod default/"}
	lost := story.Label{Kind: story.Request, Who: "op", Verb: "delete", What: "Pod default/web"}
	next := story.Label{Kind: story.Next}
	for _, c := range []struct {
		label story.Label
		nth   int
		want  []string
	}{
		{lag, 1, []string{"It was decided at the fault after 00:05.000 (StaleCache(30s) delays the event MODIFIED " +
			"Secret default/login to op): after that, "}},
		{next, 1, []string{"It was decided at the step before 00:08.000 (user update Secret default/login): after"}},
		{delay, 1, []string{
			"It was decided at the delay after 00:08.000 (the request create Pod default/web-1 of op): after that, ",
			"Without the delay of request op create Pod default/web-1 (until 00:09.000), 0 of 20 continuations",
		}},
		{lost, 0, []string{
			"It was decided at the delay after 00:09.000 (the request delete Pod default/web of op in a reconcile of " +
				"pods /web): after that, ",
			"Without the delay of request op delete Pod default/web in a reconcile of pods /web (it did " +
				"not arrive before the violation), 0 of 20 continuations",
		}},
	} {
		monitor := &run.Monitor{}
		needed := choice.Sequence{{ID: story.ID{Label: c.label, Nth: c.nth}, Value: 1}}
		if c.label == delay {
			needed = append(choice.Sequence{{ID: story.ID{Label: delay}, Value: 1}}, needed...)
		}
		s := &Subject{Monitor: monitor, Sequence: needed, Over: func() bool { return false },
			Ending: result.Ending{Kind: result.Always, Property: "p"},
			Run: func(o choice.Source) *run.Result {
				choices, h := choice.New(o), &history.History{}
				monitor.Latest.Store(&run.InProgress{Choices: choices, History: h})
				add := func(process, verb string, ref history.Ref) {
					e := history.Event{Kind: history.Request, At: time.Duration(h.Len()+1) * time.Second,
						Process: process, Verb: verb, Ref: ref, Code: 200, Step: h.Len() + 1}
					if verb != "get" {
						e.Changes = []history.Change{{Type: "MODIFIED", Ref: ref}}
					}
					if process == "op" {
						e.Incarnation = 1
						e.Reconcile = history.Reconcile{Key: history.Key{Controller: "pods", Name: "web"}, N: 1}
					}
					h.Add(e)
				}
				add("user", "create", secret)
				var last int
				for n := range 2 {
					answers := map[story.Label]int{}
					answers[lag] = choices.Rarely(lag, 2, 40)
					add("user", "get", secret)
					answers[next] = choices.Pick(actors[:3])
					add("user", "get", secret)
					add("user", "update", secret)
					answers[delay] = choices.Pace(delay, choice.Actor{Process: "op/1", Name: "pods /web"}, 2, 40)
					pod := secret
					pod.Kind, pod.Name = "Pod", []string{"web-0", "web-1"}[n]
					add("op", "create", pod)
					last = answers[c.label]
				}
				if choices.Pace(lost, choice.Actor{Process: "op/1", Name: "pods /web"}, 2, 40) == 1 && c.label == lost {
					last = 1
				}
				choices.Pick(actors[:2])
				res := &run.Result{History: h, Log: choices.Log(), Choices: choices.Sequence()}
				if last == 1 {
					h.Add(history.Event{Kind: history.Violation, At: 10 * time.Second, Note: "it is wrong"})
					res.Ending = result.Ending{Kind: result.Always, Property: "p"}
				}
				return res
			}}
		said, _ := s.Measure()
		got := strings.Join(said, "\n")
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%q is missing:\n%s", want, got)
			}
		}
	}
}
