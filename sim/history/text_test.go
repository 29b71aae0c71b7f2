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
