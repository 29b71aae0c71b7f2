package history

import (
	"testing"
	"time"
)

// Times that were drawn have many digits. Lines round them, so that their columns stay.
func TestLinesRoundDrawnTimes(t *testing.T) {
	ref := Ref{Kind: "Site", Namespace: "default", Name: "a"}
	at := 6*time.Minute + 40*time.Second + 854233621
	var h History
	h.Add(Event{Kind: Request, Process: "user", Verb: "create", Ref: ref, Code: 201, Revision: 8, At: at,
		Changes: []Change{{Type: "ADDED", Ref: ref, Revision: 8, At: at}}})
	h.Add(Event{Kind: Deliver, Process: "op", Incarnation: 1, Verb: "ADDED", Ref: ref, Revision: 8, At: at + 58593750})
	want := []string{"06:40.854    user             create Site default/a → rv 8",
		"06:40.912    op/1               learns of added Site default/a rv 8, 59ms late"}
	for i, got := range h.Render() {
		if got != want[i] {
			t.Errorf("%q, want %q", got, want[i])
		}
	}
}
