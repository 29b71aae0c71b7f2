package explain

import (
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// collects is a run in which a collector lists Secrets in a cache that lacks one, and then deletes
// what the Secret belongs to. With a fresh cache it deletes nothing.
func collects(monitor *run.Monitor, o choice.Source, fresh bool) *run.Result {
	choices, h := choice.New(o), &history.History{}
	monitor.Latest.Store(&run.InProgress{Choices: choices, History: h})
	child, owned := history.Ref{Kind: "Secret", Name: "child"}, history.Ref{Kind: "ConfigMap", Name: "owned"}
	of := history.Reconcile{Key: history.Key{Controller: "collector", Name: "owned"}, N: 1}
	add := func(e history.Event) {
		e.Step, e.At = h.Len()+1, time.Duration(h.Len())*time.Second
		if e.Kind != history.Violation && e.Process == "" {
			e.Process, e.Incarnation = "op", 1
		}
		h.Add(e)
	}
	wrote := func(verb, kind string, ref history.Ref, revision int64) history.Event {
		return history.Event{Kind: history.Request, Verb: verb, Ref: ref, Code: 200, Revision: revision,
			Changes: []history.Change{{Type: kind, Ref: ref, Revision: revision}}}
	}
	add(history.Event{Kind: history.Deliver, Verb: "LIST", Ref: history.Ref{Kind: "Secret"}, Revision: 1})
	choices.Pick(actors)
	created := wrote("create", "ADDED", child, 2)
	created.Process = "user"
	add(created)
	choices.Pick(actors)
	add(history.Event{Kind: history.Dequeue, Reconcile: of})
	res := &run.Result{History: h}
	if !fresh {
		deleted := wrote("delete", "DELETED", owned, 3)
		deleted.Reconcile, deleted.Source = of, "op.go:9"
		deleted.Reads = []history.Read{{Step: 3, Ref: history.Ref{Kind: "Secret"}, Source: "op.go:5"}}
		add(deleted)
		add(history.Event{Kind: history.Deliver, Verb: "ADDED", Ref: child, Revision: 2})
		add(history.Event{Kind: history.Violation, Note: "owned is gone, and child is there"})
		res.Ending = result.Ending{Kind: result.Always, Property: "p"}
	}
	res.Log, res.Choices = choices.Log(), choices.Sequence()
	return res
}

// With a fresh cache nothing is violated, and the sentence names the line of the read. If the cache
// cannot be brought up to date, for example because its watch is broken, nothing is said.
func TestExplainMakesAReadFresh(t *testing.T) {
	const want = "With the cache up to date when op/1 read it at op.go:5 (list Secret, 00:02.000), 0 of 20 " +
		"continuations violate it."
	for _, delivered := range []int{0, 1} {
		monitor := &run.Monitor{}
		s := &Subject{
			Monitor: monitor, Ending: result.Ending{Kind: result.Always, Property: "p"},
			Over: func() bool { return false },
			Run:  func(o choice.Source) *run.Result { return collects(monitor, o, false) },
			Freshly: func(f *run.Fresh, o choice.Source) *run.Result {
				if f.Step != 3 || f.Process != "op/1" || f.Kind != "Secret" {
					t.Errorf("asked for %+v", f)
				}
				f.Reached, f.Delivered = true, delivered
				return collects(monitor, o, delivered > 0)
			},
		}
		said, _ := s.Measure()
		if got := strings.Join(said, "\n"); strings.Contains(got, want) != (delivered > 0) {
			t.Errorf("%d events are delivered:\n%s", delivered, got)
		}
	}
}
