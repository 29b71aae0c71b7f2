package result

import (
	"strings"
	"testing"

	"github.com/wavetank/wavetank/internal/story"
)

// A failure does not hide what no run has done.
func TestErrHasTheFailureAndWhatWasMissed(t *testing.T) {
	const missed = "Tenant blue never became ready: no secret"
	for name, r := range map[string]Report{
		"alone":          {Missed: []string{missed}},
		"with a failure": {Missed: []string{missed}, Failure: &Failure{Ending: Ending{Kind: Always, Property: "p"}}},
	} {
		if err := r.Err(); err == nil || !strings.Contains(err.Error(), missed) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	if err := (Report{}).Err(); err != nil {
		t.Error(err)
	}
}

// The text of a campaign that went on counts causes as reports do: one bug under several faults is
// one.
func TestErrGroupsByCause(t *testing.T) {
	found := func(causes ...string) string {
		r := Report{Failure: &Failure{Ending: Ending{Kind: Always, Property: "p"}}}
		for _, c := range causes {
			r.Findings = append(r.Findings, story.Finding{Kind: "always", Property: "p", Cause: c, Count: 1})
		}
		return r.Err().Error()
	}
	if got := found("p, under Crash", "p, under LostReply"); strings.Contains(got, "causes") {
		t.Errorf("one bug: %s", got)
	}
	if got := found("p, decided at a.go:7", "p, decided at a.go:8"); !strings.Contains(got, "2 causes") {
		t.Errorf("two bugs: %s", got)
	}
}
