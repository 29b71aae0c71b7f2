package run

import (
	"testing"

	"github.com/wavetank/wavetank/history"
)

// Only objects that a user made and that are there when the world is quiescent are judged, by the
// last reconcile before that moment.
func TestObjectsAreJudgedWhenTheWorldIsQuiescent(t *testing.T) {
	tenant := history.Ref{Group: "example.com", Kind: "Tenant", Name: "blue"}
	secret := history.Ref{Kind: "Secret", Name: "blue"}
	far := history.Ref{Cluster: "far", Kind: "Tenant", Name: "blue"}
	changed := func(who, kind string, ref history.Ref, object string) history.Event {
		return history.Event{Kind: history.Request, Process: who,
			Changes: []history.Change{{Type: kind, Ref: ref, Object: []byte(object)}}}
	}
	done := func(kind history.OutcomeKind) history.Event {
		return history.Event{Kind: history.Done, Outcome: history.Outcome{Kind: kind, Text: "no\nsecret"},
			Reconcile: history.Reconcile{Key: history.Key{Controller: "tenant", Name: "blue"}}}
	}
	made := changed(User, "ADDED", tenant, `{}`)
	settled := history.Event{Kind: history.Settled}
	fails, succeeds := done(history.OutcomeFailure), done(history.OutcomeRequeueAfter)
	for name, c := range map[string]struct {
		events []history.Event
		want   []Object
	}{
		"fails": {[]history.Event{made, changed(User, "ADDED", secret, `{}`), succeeds, fails, settled},
			[]Object{{Controller: "tenant", Ref: tenant, Failing: true, Failure: "no secret"}}},
		"fails at last": {[]history.Event{made, succeeds, settled, fails, settled},
			[]Object{{Controller: "tenant", Ref: tenant, Succeeded: true, Failing: true, Failure: "no secret"}}},
		"fails until it is deleted": {[]history.Event{made, fails, settled,
			changed("op", "DELETED", tenant, `{}`), settled},
			[]Object{{Controller: "tenant", Ref: tenant, Failure: "no secret"}}},
		"fails while it is deleted": {[]history.Event{made,
			changed(User, "MODIFIED", tenant, `{"metadata":{"deletionTimestamp":"now"}}`), fails, settled}, nil},
		"made by a program": {[]history.Event{changed("op", "ADDED", tenant, `{}`), fails, settled}, nil},
		"never reconciled":  {[]history.Event{made, settled}, nil},
		"never quiescent": {[]history.Event{made, fails},
			[]Object{{Controller: "tenant", Ref: tenant, Failing: true, Failure: "no secret"}}},
		"of another cluster": {[]history.Event{changed(User, "ADDED", far, `{}`), fails, settled}, nil},
	} {
		var o Objects
		o.Read(c.events)
		got := o.Judged()
		if len(got) != len(c.want) || len(got) == 1 && !equal(got[0], c.want[0]) {
			t.Errorf("%s: judged are %+v, expected %+v", name, got, c.want)
		}
	}
}

func equal(a, b Object) bool {
	return a.Controller == b.Controller && a.Ref == b.Ref && a.Succeeded == b.Succeeded && a.Failing == b.Failing &&
		a.Failure == b.Failure
}
