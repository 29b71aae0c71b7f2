package history

import (
	"strings"
	"testing"
	"time"
)

func TestLineOfAPatchThatCreates(t *testing.T) {
	ref := Ref{Kind: "App", Namespace: "default", Name: "one"}
	var h History
	for _, change := range []string{"ADDED", "MODIFIED"} {
		h.Add(Event{
			Kind: Request, Process: "op", Incarnation: 1, Verb: "patch", Ref: ref, Revision: 7, Code: 200,
			Changes: []Change{{Type: change, Ref: ref}},
		})
	}
	for i, want := range []string{"patch App default/one, which creates it → rv 7",
		"patch App default/one → rv 7"} {
		if got := h.Render()[i]; !strings.HasSuffix(got, " "+want) {
			t.Errorf("the line is %q, not %q", got, want)
		}
	}
}

// The address of a create has no name, and neither has the reply if it was refused or lost.
func TestLineOfAFailedCreateHasTheName(t *testing.T) {
	ref, named := Ref{Kind: "Secret", Namespace: "default"}, Ref{Kind: "Secret", Namespace: "default", Name: "s-abc"}
	fixed, generated := []byte(`{"metadata":{"name":"tomb"}}`), []byte(`{"metadata":{"generateName":"s-"}}`)
	var h History
	h.Add(Event{Kind: Request, Verb: "create", Ref: ref, Code: 403, Sent: fixed})
	h.Add(Event{
		Kind: Request, Verb: "create", Ref: named, Code: 201, Revision: 5, Sent: generated,
		Changes: []Change{{Type: "ADDED", Ref: named}},
	})
	h.Add(Event{Kind: Reply, Verb: "create", Ref: ref, Call: 1, Note: "i/o timeout"})
	h.Add(Event{Kind: Reply, Verb: "create", Ref: ref, Call: -1, Note: "i/o timeout", Sent: generated})
	for i, want := range []string{
		"create Secret default/tomb → 403", "create Secret default/s-abc → rv 5",
		"no reply to create Secret default/s-abc: i/o timeout", "no reply to create Secret default/s-…: i/o timeout",
	} {
		if got := h.Render()[i]; !strings.HasSuffix(got, " "+want) {
			t.Errorf("the line is %q, not %q", got, want)
		}
	}
}

// The end of a watch is no change of an object, and not late.
func TestLineOfTheEndOfAWatch(t *testing.T) {
	ref := Ref{Kind: "Pod", Namespace: "n", Name: "a"}
	var h History
	h.Add(Event{
		Kind: Request, Verb: "create", Ref: ref, Code: 201, Revision: 6,
		Changes: []Change{{Type: "ADDED", Ref: ref, Revision: 6}},
	})
	h.Add(Event{
		Kind: Deliver, At: time.Second, Process: "op", Incarnation: 1,
		Verb: "ERROR", Ref: Ref{Kind: "Pod"}, Revision: 6,
	})
	if got, want := h.Render()[1], "its watch of Pod is closed with an error"; !strings.HasSuffix(got, want) {
		t.Errorf("the line is %q, not %q", got, want)
	}
}

// A process that has become the leader reconciles the initial list. The lease is not the cause.
func TestLineOfALeadersFirstReconciles(t *testing.T) {
	const leads = "the initial list, as the process leads now"
	for cause, want := range map[Cause]string{
		{Kind: CauseReply, Verb: "create", Object: "Lease", Of: "default/"}:   leads,
		{Kind: CauseReply, Verb: "update", Object: "Lease", Of: "default/op"}: leads,
		{Kind: CauseWatch, Verb: "MODIFIED", Object: "Lease"}:                 "watch(Lease MODIFIED)",
		{Kind: CauseReply, Verb: "update", Object: "LeaseHolder",
			Of: "default/a"}: "reply to update LeaseHolder default/a",
	} {
		e := Event{Kind: Dequeue, Process: "op", Incarnation: 1, Reconcile: reconcile("app", "a"), Cause: cause}
		var h History
		h.Add(e)
		if got := h.Render()[0]; !strings.HasSuffix(got, "reconciles app default/a #1, because of "+want) {
			t.Errorf("the line of %v is %q", cause, got)
		}
	}
}

// The line of a reconcile says that its key waited for a worker: another reconcile of the
// controller ended after the key was ready.
func TestLineOfAKeyThatWaitedForAWorker(t *testing.T) {
	event := func(kind Kind, name string, at, ready time.Duration) Event {
		return Event{Kind: kind, Process: "op", Incarnation: 1, Reconcile: reconcile("app", name), At: at, Ready: ready,
			Outcome: Outcome{Kind: OutcomeSuccess}}
	}
	var h History
	for _, e := range []Event{event(Dequeue, "a", 0, 0), event(Done, "a", 10*time.Second, 0),
		event(Dequeue, "b", 10*time.Second, 2*time.Second), event(Dequeue, "c", 20*time.Second, 12*time.Second)} {
		h.Add(e)
	}
	got := h.Render()
	if want := "reconciles app default/b #1; it waited 8s for a worker"; !strings.HasSuffix(got[1], want) {
		t.Errorf("%q", got)
	}
	if strings.Contains(got[2], "worker") { // no reconcile ended while it waited
		t.Errorf("%q", got)
	}
}
