package history

import (
	"strings"
	"testing"
)

func TestDifferenceShowsWhereBodiesDiffer(t *testing.T) {
	of := func(body string) *History {
		var h History
		h.Add(Event{Kind: Request, Process: "op", Life: 1, Verb: "update", Ref: Ref{Kind: "App", Name: "one"}, Sent: []byte(body)})
		return &h
	}
	long := strings.Repeat("x", 500)
	_, what := Difference(of(long+`"a": 1`+long), of(long+`"a": 2`+long))
	lines := strings.Split(what, "\n")
	if len(lines) != 5 || !strings.Contains(lines[2], `x"a": 1x`) || !strings.Contains(lines[4], `x"a": 2x`) || len(what) > 1000 {
		t.Errorf("the difference is told as\n%s", what)
	}
	if at, what := Difference(of("same"), of("same")); at != -1 || what != "" {
		t.Errorf("equal runs differ at %d: %s", at, what)
	}
}

// Two lines that read the same help nobody: what their text does not have is said beside it.
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
