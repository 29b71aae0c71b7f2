package campaign

import (
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim/result"
)

func TestTheDefaultBudgetAllowsTwentyRuns(t *testing.T) {
	for _, row := range []struct {
		s     Settings
		runs  int
		spent time.Duration
		want  bool
	}{
		{Settings{Budget: defaultBudget}, 100, 4 * time.Second, false},
		{Settings{Budget: defaultBudget}, 20, 6 * time.Second, true},
		{Settings{Budget: defaultBudget}, 19, 6 * time.Second, false},
		{Settings{Budget: defaultBudget}, 5, 31 * time.Second, true},
		{Settings{Budget: time.Second, Strict: true}, 5, 2 * time.Second, true},
		{Settings{}, 5, time.Hour, false},
	} {
		if got := row.s.exhausted(row.runs, row.spent); got != row.want {
			t.Errorf("%+v: %d runs in %v: exhausted is %v", row.s, row.runs, row.spent, got)
		}
	}
}

// Where the system reports no CPU time, real time counts.
func TestEffortWithoutCPUTime(t *testing.T) {
	e := newEffort(func() time.Duration { return 0 })
	time.Sleep(10 * time.Millisecond)
	if d := e.spent(); d < 10*time.Millisecond {
		t.Errorf("%v were spent", d)
	}
	cpu := time.Second
	e = newEffort(func() time.Duration { return cpu })
	cpu += 3 * time.Second
	if d := e.spent(); d != 3*time.Second {
		t.Errorf("%v were spent", d)
	}
}

// A fault that was not injected at many opportunities is named after few runs; one with few
// opportunities after many.
func TestAFaultIsIdleByEvidence(t *testing.T) {
	for _, row := range []struct {
		count result.FaultCount
		runs  int
		want  bool
	}{
		{result.FaultCount{Fault: "Crash(a)", Opportunities: 1196}, 5, true},
		{result.FaultCount{Fault: "Crash(a)", Opportunities: 199}, 5, false},
		{result.FaultCount{Fault: "Crash(a)", Opportunities: 199}, 20, true},
		{result.FaultCount{Fault: "Crash(a)"}, 1, true},
		{result.FaultCount{Fault: "Crash(a)", Opportunities: 1196, Injected: 1}, 100, false},
	} {
		e := &evidence{tally: &tally{searched: row.runs,
			report: &result.Report{Runs: row.runs, Faults: []result.FaultCount{row.count}, Complete: true}}}
		if got := strings.Contains(strings.Join(e.warnings(), "\n"), "Crash(a)"); got != row.want {
			t.Errorf("%+v in %d runs: warned %v", row.count, row.runs, got)
		}
		e.report.Complete, e.report.Failure = false, &result.Failure{}
		if len(e.warnings()) > 0 {
			t.Errorf("%+v: a failure is accused: %q", row.count, e.warnings())
		}
	}
}

// An object that must succeed fails the campaign if no run saw it succeed. A shard only warns,
// because another shard may have seen it.
func TestObjectsThatNeverSucceed(t *testing.T) {
	for name, row := range map[string]struct {
		shard            string
		required         bool
		missed, warnings int
	}{
		"required":          {"", true, 1, 0},
		"required, a shard": {"0/2", true, 0, 1},
		"not required":      {"", false, 0, 1},
	} {
		object := result.ObjectCount{Object: "Tenant blue", Controller: "tenant", Runs: 20, Failure: "no secret",
			Required: row.required}
		e := &evidence{settings: Settings{Shard: row.shard}, tally: &tally{searched: 20,
			report: &result.Report{Runs: 20, Objects: []result.ObjectCount{object}}}}
		if missed, warned := e.missed(), e.warnings(); len(missed) != row.missed || len(warned) != row.warnings {
			t.Errorf("%s: missed %q, warnings %q", name, missed, warned)
		}
	}
}
