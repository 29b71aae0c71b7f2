package fault

import (
	"strings"
	"testing"

	"github.com/wavetank/wavetank/history"
)

// The first event of an injection is a fault in the history. Later ones are its effects.
func TestAnInjectionIsOneFault(t *testing.T) {
	c := core{class: "Pause"}
	var h history.History
	for _, what := range []string{"before create", "resumes", "before update", "resumes"} {
		if strings.HasPrefix(what, "before") {
			c.count.Injected++
		}
		h.Add(history.Event{Kind: history.Fault, Process: "op", Incarnation: 1, Injection: c.injection(what)})
	}
	var got []string
	for _, l := range h.Lines() {
		got = append(got, l.Text)
	}
	want := "fault: Pause: before create, Pause: resumes, fault: Pause: before update, Pause: resumes"
	if strings.Join(got, ", ") != want {
		t.Errorf("the lines are %q", got)
	}
}
