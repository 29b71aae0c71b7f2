package reports

import (
	"strings"
	"testing"

	"github.com/wavetank/wavetank/history"
)

// The last reconcile is reported with what its cache lacked, and whether one began when that
// arrived.
func TestParagraphSaysWhatTheLastReconcileLacked(t *testing.T) {
	const lacked = "When that reconcile began, its cache lacked Namespace late-dev, created at 00:04.000 by user; " +
		"the event arrived at 00:06.000"
	for _, again := range []bool{false, true} {
		var r recorded
		r.add(by(history.Deliver, "LIST", history.Ref{Kind: "Namespace"}, 1))
		r.during(tenants(1), history.Dequeue, nil)
		r.sends(tenants(1), "update", late, 200, 2)
		r.write("user", "create", lateDev, 3, "ADDED")
		r.during(tenants(2), history.Dequeue, nil)
		r.add(by(history.Deliver, "ADDED", lateDev, 3))
		if again {
			r.during(tenants(3), history.Dequeue, nil)
		}
		r.add(history.Event{Kind: history.Settled})
		r.violated("late-dev has no account")
		got := paragraph(&r)
		if want := lacked + ", and no reconcile began after it."; strings.Contains(got, want) == again {
			t.Errorf("again %t:\n%s", again, got)
		}
		if strings.Contains(got, "no reconcile began") == again {
			t.Errorf("again %t:\n%s", again, got)
		}
	}
}

// An object that the program does not look at after a change or a restart is named.
func TestParagraphNamesAnObjectThatIsNotReconciled(t *testing.T) {
	changed := func(r *recorded) { r.write("user", "update", late, 3, "MODIFIED") }
	restarted := func(r *recorded) {
		r.add(by(history.Crash, "", history.Ref{}, 0))
		r.add(history.Event{Kind: history.Start, Process: "op", Incarnation: 2})
	}
	for _, c := range []struct {
		then func(*recorded)
		soon bool
		want string
	}{
		{changed, false,
			"op has not reconciled Tenant late since another writer changed it at 00:04.000: user update Tenant late"},
		{restarted, false, "op has not reconciled Tenant late since it started again at 00:05.000."},
		{func(r *recorded) { changed(r); r.during(tenants(2), history.Dequeue, nil) }, false, ""},
		{changed, true, ""},
	} {
		var r recorded
		r.write("user", "create", late, 1, "ADDED")
		r.during(tenants(1), history.Dequeue, nil)
		r.sends(tenants(1), "create", lateDev, 201, 2)
		c.then(&r)
		violation := history.Event{
			Kind: history.Violation,
			Note: "late is not ready",
			Step: 9,
			At:   r.Events[r.Len()-1].At,
		}
		if !c.soon {
			violation.At += slow
		}
		r.Add(violation)
		got := paragraph(&r)
		if c.want == "" && strings.Contains(got, "has not reconciled") || !strings.Contains(got, c.want) {
			t.Errorf("%q is wanted:\n%s", c.want, got)
		}
	}
}

// A reconcile that should have done something and ended without an error is named, and has a line.
func TestParagraphNamesAReconcileThatDidNothing(t *testing.T) {
	success := func(e *history.Event) { e.Outcome.Kind = history.OutcomeSuccess }
	for name, c := range map[string]struct {
		other bool // another reconcile has changed something before
		want  string
	}{
		"nothing was changed": {false, "No program has changed anything.\n" +
			"The last reconcile of op changed nothing: tenants /late #1, at 00:02.000; it ended without an error."},
		"something was": {true,
			"The last reconcile of op changed nothing: tenants /late #1, at 00:05.000; it ended without an error."},
	} {
		var r recorded
		r.write("user", "create", late, 1, "ADDED")
		if c.other {
			other := history.Reconcile{Key: history.Key{Controller: "others", Name: "other"}, N: 1}
			r.during(other, history.Dequeue, nil)
			r.sends(other, "create", lateDev, 201, 2)
			r.during(other, history.Done, success)
		}
		r.during(tenants(1), history.Dequeue, nil)
		r.during(tenants(1), history.Done, success)
		r.add(history.Event{Kind: history.Settled})
		r.violated("there are 0 Jobs")
		if got := paragraph(&r); !strings.Contains(got, c.want) {
			t.Errorf("%s:\n%s", name, got)
		}
		if got := r.led(); !contains(got, "reconciles tenants /late #1") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A reconcile that changed nothing is left out if its object has no part in the violation.
func TestIdleReconcilesOfOtherObjectsAreNotTold(t *testing.T) {
	other := history.Reconcile{Key: history.Key{Controller: "tenants", Name: "other"}, N: 1}
	var r recorded
	r.write("user", "create", late, 1, "ADDED")
	r.during(tenants(1), history.Dequeue, nil)
	r.sends(tenants(1), "create", lateDev, 201, 2)
	for _, of := range []history.Reconcile{tenants(2), other} {
		r.during(of, history.Dequeue, nil)
		r.during(of, history.Done, func(e *history.Event) { e.Outcome = history.Outcome{Kind: history.OutcomeSuccess} })
	}
	third := history.Reconcile{Key: history.Key{Controller: "tenants", Name: "third"}, N: 1}
	r.during(third, history.Dequeue, nil) // its request is under way
	r.violated("late-dev is wrong")
	r.says(t, "changed nothing: tenants /late #2, at 00:04.000")
	lines := r.Render()
	idle := CauseOf(&r.History, nil).Idle
	if len(idle) != 1 || !strings.Contains(lines[idle[0]], "reconciles tenants /other #1") {
		t.Errorf("idle are the lines %v of\n%s", idle, strings.Join(lines, "\n"))
	}
}
