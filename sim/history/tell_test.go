package history

import (
	"strings"
	"testing"
)

func TestAPatchThatCreatesIsTold(t *testing.T) {
	ref := Ref{Kind: "App", Namespace: "default", Name: "one"}
	var h History
	for _, change := range []string{"ADDED", "MODIFIED"} {
		h.Add(Event{Kind: Request, Process: "op", Life: 1, Verb: "patch", Ref: ref, Revision: 7, Code: 200, Changes: []Change{{Type: change, Ref: ref}}})
	}
	for i, want := range []string{"patch App default/one, which creates it → rv 7", "patch App default/one → rv 7"} {
		if got := h.Tell()[i]; !strings.HasSuffix(got, " "+want) {
			t.Errorf("it is told as %q, not %q", got, want)
		}
	}
}
