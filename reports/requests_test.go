package reports

import (
	"strings"
	"testing"

	"github.com/wavetank/wavetank/history"
)

// A failed request is named even if the step belongs to another reconcile, or to none.
func TestParagraphNamesTheRequestThatFailed(t *testing.T) {
	none := history.Reconcile{}
	for name, c := range map[string]struct {
		of   history.Reconcile
		want []string
	}{
		"swallowed": {tenants(1), []string{
			"A request failed at 00:02.000: op/1 create Tenant acme → 500 at op/op.go:7.",
			"Reconcile tenants /late #1 ends: ok, though a request failed."}},
		"of a program without reconciles": {none,
			[]string{"A request failed at 00:02.000: op/1 create Tenant acme → 500 at op/op.go:7."}},
	} {
		var r recorded
		other := history.Reconcile{Key: history.Key{Controller: "others", Name: "other"}, N: 1}
		if c.of == none {
			other = none
			r.add(history.Event{Kind: history.Settled})
			r.add(by(history.Fault, "", history.Ref{}, 0))
			r.Events[1].Injection, r.Events[1].Step = &history.Injection{Class: "ServerError"}, 2
			e := by(history.Request, "create", acme, 0)
			e.Code, e.Source, e.Step, e.At = 500, "op/op.go:7", 2, r.Events[1].At
			r.Add(e)
			r.sends(other, "create", lateDev, 201, 2)
		} else {
			r.during(c.of, history.Dequeue, nil)
			r.sends(c.of, "create", acme, 500, 0)
			r.during(c.of, history.Done, func(e *history.Event) { e.Outcome.Kind = history.OutcomeSuccess })
			r.during(other, history.Dequeue, nil)
			r.sends(other, "create", lateDev, 201, 2)
		}
		r.violated("late-dev has no account")
		t.Run(name, func(t *testing.T) { r.says(t, c.want...) })
	}
}

// A program without reconciles repeats a request that fails each time: the last attempt is on the
// chain, and named. An attempt that succeeded later is not.
func TestParagraphNamesTheRequestThatFailsAgainAndAgain(t *testing.T) {
	for _, later := range []bool{false, true} {
		var r recorded
		send := func(verb string, code int, source string) {
			e := by(history.Request, verb, late, 0)
			e.Code, e.Source = code, source
			r.add(e)
		}
		r.write("user", "create", late, 1, "ADDED")
		for range 3 {
			send("post", 200, "op/op.go:9")
			r.Record(history.Effect{Kind: "call", Key: "late", Event: r.Len() - 1})
			send("patch", 422, "op/op.go:7")
		}
		if later {
			send("patch", 200, "op/op.go:7")
		}
		send("post", 200, "op/op.go:9")
		r.Record(history.Effect{Kind: "call", Key: "late", Event: r.Len() - 1})
		r.violated("the handler of late was called 4 times")
		got := paragraph(&r)
		want := "A request failed at 00:07.000: op/1 patch Tenant late → 422 at op/op.go:7."
		if strings.Contains(got, want) == later {
			t.Errorf("later %t:\n%s", later, got)
		}
		if contains(r.led(), "00:07.000    op/1             patch") == later {
			t.Errorf("later %t: %q", later, r.led())
		}
	}
}

// The last request of reconciles that change nothing is named, and on the chain.
func TestParagraphNamesTheRequestOfAnIdleReconcile(t *testing.T) {
	var r recorded
	r.write("user", "create", late, 1, "ADDED")
	r.during(tenants(1), history.Dequeue, nil)
	r.during(tenants(1), history.Request, func(e *history.Event) {
		e.Verb, e.Ref, e.Code, e.Source = "create", history.Ref{Kind: "SubjectAccessReview"}, 201, "op/op.go:9"
	})
	r.during(tenants(1), history.Done, nil)
	r.violated("late is not approved")
	r.says(t, "Reconciles of tenants /late changed nothing; their last request was at 00:03.000: op/1 create "+
		"SubjectAccessReview at op/op.go:9.")
	if got := r.led(); !contains(got, "create SubjectAccessReview") {
		t.Error(got)
	}
}

// What a program deletes is named with the user who had made it again.
func TestParagraphNamesWhatWasMadeAgain(t *testing.T) {
	var r recorded
	r.write("user", "create", late, 1, "ADDED")
	r.write("user", "delete", late, 2, "DELETED")
	r.write("user", "create", late, 3, "ADDED")
	r.during(tenants(1), history.Dequeue, nil)
	r.sends(tenants(1), "delete", late, 200, 4)
	r.Events[4].Changes[0].Type = "DELETED"
	r.sends(tenants(1), "update", acme, 200, 5)
	r.during(tenants(2), history.Dequeue, nil)
	r.sends(tenants(2), "update", acme, 200, 6)
	r.violated("late is not there")
	r.says(t, "at 00:03.000: user create Tenant late → rv 3")
}
