package result

import (
	"strings"
	"testing"
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
