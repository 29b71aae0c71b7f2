package campaign

import (
	"strings"
	"testing"

	"github.com/wavetank/wavetank/history"
)

func TestTheLikelyCauseOfADivergence(t *testing.T) {
	req := func(controller, name, body string) history.Event {
		var reconcile history.Reconcile
		if controller != "" {
			reconcile = history.Reconcile{Key: history.Key{Controller: controller, Name: "x"}, N: 1}
		}
		return history.Event{Kind: history.Request, Process: "op", Incarnation: 1, Reconcile: reconcile,
			Verb: "create", Ref: history.Ref{Kind: "Pod", Name: name}, Sent: []byte(body)}
	}
	answer := func(body string) history.Event {
		return history.Event{Kind: history.Request, Process: "kube-apiserver",
			Verb: "POST", Host: "op.default.svc", Path: "/mutate", Received: []byte(body)}
	}
	of := func(events ...history.Event) *history.History {
		h := &history.History{}
		for _, e := range events {
			h.Add(e)
		}
		return h
	}
	for _, c := range []struct {
		a, b *history.History
		want string
	}{
		{of(req("r", "a", ""), req("r", "b", "")), of(req("r", "b", ""), req("r", "a", "")),
			"a map range that writes"},
		{of(req("r", "a", "1")), of(req("r", "a", "2")), "a random number"},
		{of(req("", "a", "x: 1, y: 2")), of(req("", "a", "y: 2, x: 1")), "a map range in what op/1 sends"},
		{of(req("r", "a", "")), of(req("r", "b", "")), "it makes other requests"},
		{of(req("", "a", "")), of(req("", "b", "")), "outside any reconcile"},
		{of(history.Event{Kind: history.Done, Process: "op", Outcome: history.Outcome{Kind: history.OutcomeSuccess}}),
			of(history.Event{Kind: history.Done, Process: "op",
				Outcome: history.Outcome{Kind: history.OutcomeFailure}}),
			"in op"},
		{of(history.Event{Kind: history.Request, Process: "user", Verb: "create"}),
			of(history.Event{Kind: history.Request, Process: "user", Verb: "delete"}), "in the scenario itself"},
		{of(answer("a")), of(answer("b")), "in what the webhook at op.default.svc/mutate answers"},
		{of(req("r", "a", "")), of(), "does not come from its inputs"},
	} {
		at, _ := history.Difference(c.a, c.b)
		if got, _ := likelyCause(c.a, c.b, at); !strings.Contains(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
