package history

import (
	"strings"
	"testing"
)

func TestDifferenceShowsWhereBodiesDiffer(t *testing.T) {
	of := func(body string) *History {
		var h History
		app := Ref{Kind: "App", Name: "one"}
		h.Add(Event{Kind: Request, Process: "op", Incarnation: 1, Verb: "update", Ref: app, Sent: []byte(body)})
		return &h
	}
	long := strings.Repeat("x", 500)
	_, what := Difference(of(long+`"a": 1`+long), of(long+`"a": 2`+long))
	lines := strings.Split(what, "\n")
	if len(lines) != 5 || !strings.Contains(lines[2], `x"a": 1x`) || !strings.Contains(lines[4], `x"a": 2x`) ||
		len(what) > 1000 {
		t.Errorf("the difference is\n%s", what)
	}
	if at, what := Difference(of("same"), of("same")); at != -1 || what != "" {
		t.Errorf("equal runs differ at %d: %s", at, what)
	}
}

// Where two lines are equal, the difference is named behind them.
func TestDifferenceShowsWhatLinesDoNot(t *testing.T) {
	for what, change := range map[string]func(*Event){
		"step 3":          func(e *Event) { e.Step = 3 },
		"server at rv 7":  func(e *Event) { e.Server = 7 },
		"of event 5":      func(e *Event) { e.Call = 5 },
		"\n    {\"a\":2}": func(e *Event) { e.Sent = []byte(`{"a":2}`) },
	} {
		for _, empty := range []func() *History{func() *History { return &History{} }, Forgetful} {
			a, b := empty(), empty()
			e := Event{Kind: Request, Process: "op", Verb: "watch", Sent: []byte(`{"a":1}`)}
			a.Add(e)
			change(&e)
			b.Add(e)
			at, msg := Difference(a, b)
			first, second, _ := strings.Cut(msg, "second: ")
			if at != 0 || !strings.Contains(second, what) || strings.Contains(first, what) {
				t.Errorf("event %d: %s", at, msg)
			}
		}
	}
}

// reconcile is the first one of a key in the default namespace.
func reconcile(controller, name string) Reconcile {
	return Reconcile{Key: Key{Controller: controller, Namespace: "default", Name: name}, N: 1}
}

// Only the text of an error is left out: not that there is one, how a reconcile ended or what was
// sent.
func TestDivergenceLeavesTextsOut(t *testing.T) {
	done := Event{Kind: Done, Process: "op", Incarnation: 1, Reconcile: reconcile("c", "a"),
		Outcome: Outcome{Kind: OutcomeFailure, Text: "a, b"}}
	for name, c := range map[string]struct {
		change   func(*Event)
		diverges bool
	}{
		"text":               {func(e *Event) { e.Outcome.Text = "b, a" }, false},
		"kind of an outcome": {func(e *Event) { e.Outcome.Kind = OutcomeTerminalFailure }, true},
		"no error":           {func(e *Event) { e.Outcome = Outcome{Kind: OutcomeSuccess} }, true},
		"another reconcile":  {func(e *Event) { e.Reconcile.Name = "b" }, true},
		"another time":       {func(e *Event) { e.At = 1 }, true},
		"end of a process":   {func(e *Event) { *e = Event{Kind: Stop, Outcome: e.Outcome} }, true},
	} {
		for _, empty := range []func() *History{func() *History { return &History{} }, Forgetful} {
			a, b := empty(), empty()
			a.Add(done)
			other := done
			c.change(&other)
			b.Add(other)
			if at, what := Divergence(a, b); (at == 0) != c.diverges {
				t.Errorf("%s: Divergence says %d: %s", name, at, what)
			}
			at, what := Difference(a, b)
			if at != 0 || !strings.Contains(what, "first:") {
				t.Errorf("%s: Difference says %d: %s", name, at, what)
			}
			a.Add(Event{Kind: Settled})
			b.Add(Event{Kind: Request, Verb: "create"})
			if at, _ := Difference(a, b); at != 0 {
				t.Errorf("%s: the first event that differs is %d", name, at)
			}
		}
	}
	a, b := Forgetful(), Forgetful()
	for h, text := range map[*History]string{a: "a", b: "b"} {
		h.Add(Event{Kind: Done, Outcome: Outcome{Kind: OutcomeFailure, Text: text}})
		h.Add(Event{Kind: Settled, At: 2})
		h.Forget(1)
	}
	if at, what := Difference(a, b); at != 0 || !strings.Contains(what, "where no event is kept") {
		t.Errorf("a text that was forgotten: %d: %s", at, what)
	}
	if at, what := Divergence(a, b); at != -1 {
		t.Errorf("a text that was forgotten: %d: %s", at, what)
	}
}
