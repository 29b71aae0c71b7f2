package reports

import (
	"strings"
	"testing"

	"github.com/wavetank/wavetank/history"
)

// tenants is reconcile n of the tenant late.
func tenants(n int) history.Reconcile {
	return history.Reconcile{Key: history.Key{Controller: "tenants", Name: "late"}, N: n}
}

// during adds an event of a reconcile of the operator.
func (r *recorded) during(of history.Reconcile, kind history.Kind, change func(*history.Event)) int {
	e := by(kind, "", history.Ref{}, 0)
	e.Reconcile = of
	if change != nil {
		change(&e)
	}
	r.add(e)
	return r.Len() - 1
}

// sends adds a request of a reconcile, which commits a change unless it is refused.
func (r *recorded) sends(of history.Reconcile, verb string, ref history.Ref, code int, revision int64) {
	r.during(of, history.Request, func(e *history.Event) {
		e.Verb, e.Ref, e.Code, e.Source = verb, ref, code, "op/op.go:7"
		if code < 400 {
			e.Revision = revision
			e.Changes = []history.Change{{Type: "ADDED", Ref: ref, Revision: revision, Object: []byte(`{}`)}}
		}
	})
}

func paragraph(r *recorded) string { return strings.Join(CauseOf(&r.History, nil).Sentences, "\n") }

// says fails the test unless the paragraph has each of the parts.
func (r *recorded) says(t *testing.T, parts ...string) {
	t.Helper()
	got := paragraph(r)
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("%q is missing:\n%s", part, got)
		}
	}
}

// What was done before a crash and is done again is named, with the crash in between.
func TestParagraphNamesWhatWasDoneBefore(t *testing.T) {
	var r recorded
	r.write("user", "create", late, 1, "ADDED")
	r.during(tenants(1), history.Dequeue, nil)
	r.sends(tenants(1), "create", history.Ref{Kind: "Namespace", Name: "late-1"}, 201, 2)
	r.add(by(history.Crash, "", history.Ref{}, 0))
	at := r.during(tenants(1), history.Dequeue, func(e *history.Event) {
		e.Cause = history.Cause{Kind: history.CauseInitialList}
	})
	r.sends(tenants(1), "create", history.Ref{Kind: "Namespace", Name: "late-2"}, 201, 3)
	r.Events[at].Incarnation, r.Events[at+1].Incarnation = 2, 2
	r.violated("there are 2 namespaces")
	r.says(t,
		"The last step that led to it was at 00:06.000: op/2 create Namespace late-2 → rv 3 at op/op.go:7.",
		"Its reconcile, tenants /late #1 of op/2, began at 00:05.000 because of initial-list.",
		"Before it: at 00:03.000: op/1 create Namespace late-1 → rv 2 at op/op.go:7; at 00:04.000: op/1 is killed.")
}

// Where nothing came about, it is said which request failed, that its reconcile ended without an
// error, what others did then, and that the last reconcile changed nothing.
func TestParagraphNamesAFailureThatWasSwallowed(t *testing.T) {
	var r recorded
	r.write("user", "create", late, 1, "ADDED")
	r.during(tenants(1), history.Dequeue, nil)
	r.sends(tenants(1), "create", lateDev, 500, 0)
	ok := func(e *history.Event) { e.Outcome = history.Outcome{Kind: history.OutcomeSuccess} }
	r.during(tenants(1), history.Done, ok)
	r.write("user", "update", late, 2, "MODIFIED")
	r.during(tenants(2), history.Dequeue, nil)
	r.during(tenants(2), history.Done, ok)
	r.violated("late has no namespace")
	r.says(t,
		"The last step of a program that led to it was at 00:03.000: "+
			"op/1 create Namespace late-dev → 500 at op/op.go:7.",
		"That reconcile ends: ok, though a request failed.",
		"After it: at 00:05.000: user update Tenant late → rv 2.",
		"The last reconcile of op changed nothing: tenants /late #2, at 00:06.000; it ended without an error.")
	if got := CauseOf(&r.History, nil).Line; got != "op/op.go:7" {
		t.Errorf("the line is %q", got)
	}
}

// A loop is counted, and not listed.
func TestParagraphCountsALoop(t *testing.T) {
	var r recorded
	for n := range 9 {
		r.during(tenants(n+1), history.Dequeue, nil)
		r.sends(tenants(n+1), "update", late, 200, int64(n+1))
	}
	r.violated("late is written without end")
	r.says(t, "Before it: the same request 8 times, the first at 00:02.000: op/1 update")
}

// Each incarnation counts its reconciles from 1, so the last one is named with its incarnation.
func TestParagraphNamesTheIncarnationOfTheLastReconcile(t *testing.T) {
	var r recorded
	r.during(tenants(1), history.Dequeue, nil)
	r.sends(tenants(1), "create", lateDev, 201, 2)
	r.add(by(history.Crash, "", history.Ref{}, 0))
	at := r.during(history.Reconcile{}, history.Start, nil)
	r.during(tenants(1), history.Dequeue, nil)
	r.Events[at].Incarnation, r.Events[at+1].Incarnation = 2, 2
	r.violated("late has one namespace")
	r.says(t,
		"Its reconcile, tenants /late #1 of op/1, began at 00:01.000.",
		"The last reconcile of op/2 changed nothing: tenants /late #1, at 00:05.000.")
}

// A program that did nothing has no step that could be named.
func TestParagraphOfAnIdleProgram(t *testing.T) {
	var r recorded
	r.write("user", "create", late, 1, "ADDED")
	r.violated("late has no namespace")
	if got := paragraph(&r); got != "No program has changed anything." {
		t.Error(got)
	}
}

// A paragraph about a reconcile that repeats a failed one names what failed, even if the step
// itself succeeded.
func TestParagraphNamesWhatARetryRepeats(t *testing.T) {
	var r recorded
	r.during(tenants(1), history.Dequeue, nil)
	r.sends(tenants(1), "create", lateDev, 201, 2)
	r.sends(tenants(1), "patch", late, 500, 0)
	r.during(tenants(1), history.Done, func(e *history.Event) {
		e.Outcome = history.Outcome{Kind: history.OutcomeFailure}
	})
	r.during(tenants(2), history.Dequeue, func(e *history.Event) {
		e.Cause = history.Cause{Kind: history.CauseBackOff}
	})
	r.sends(tenants(2), "create", history.Ref{Kind: "Namespace", Name: "late-2"}, 201, 3)
	r.sends(tenants(2), "patch", late, 409, 0)
	r.violated("there are 2 namespaces")
	r.says(t,
		"In reconcile tenants /late #2 a request failed at 00:07.000: op/1 patch Tenant late → 409 at op/op.go:7.",
		"In the reconcile before it a request failed at 00:03.000: op/1 patch Tenant late → 500 at op/op.go:7.")
}

// A paragraph about the end of an incarnation names the last change before it. A program that is
// asked to stop may run for a moment longer.
func TestParagraphNamesWhatAnEndCutOff(t *testing.T) {
	for kind, incarnation := range map[history.Kind]int{history.Crash: 2, history.Stop: 1} {
		var r recorded
		r.during(tenants(1), history.Dequeue, nil)
		r.sends(tenants(1), "update", acme, 200, 2)
		r.add(by(kind, "", history.Ref{}, 0))
		at := r.during(tenants(7), history.Dequeue, nil)
		r.sends(tenants(7), "create", lateDev, 201, 3)
		r.Events[at].Incarnation, r.Events[at+1].Incarnation = incarnation, incarnation
		r.violated("there was no mail")
		r.says(t, "at 00:02.000: op/1 update Tenant acme → rv 2 at op/op.go:7; at 00:03.000: op/1 ")
	}
}

// A paragraph names what a reconcile last read from the server, with the write that it read.
func TestParagraphNamesWhatAReconcileRead(t *testing.T) {
	var r recorded
	lock := history.Ref{Kind: "ConfigMap", Name: "lock"}
	r.write("op", "update", lock, 2, "MODIFIED")
	r.during(tenants(1), history.Dequeue, nil)
	r.sends(tenants(1), "create", lateDev, 201, 3)
	r.during(tenants(2), history.Dequeue, nil)
	r.during(tenants(2), history.Request, func(e *history.Event) {
		e.Verb, e.Ref, e.Revision, e.Code, e.Source = "get", lock, 2, 200, "op/op.go:5"
	})
	r.violated("nothing is done")
	r.says(t, "It had read ConfigMap lock from the server at op/op.go:5, at 00:05.000, last written at 00:01.000: "+
		"op/1 update ConfigMap lock → rv 2.")
}

// A Kubernetes Event that a reconcile creates itself is treated as any other object. One of a
// recorder belongs to no reconcile, so it is not a step that led to anything.
func TestParagraphNamesEventsOfReconcilesAlone(t *testing.T) {
	var r recorded
	r.during(tenants(1), history.Dequeue, nil)
	r.sends(tenants(1), "create", history.Ref{Kind: "Event", Namespace: "default", Name: "late"}, 201, 2)
	r.during(tenants(1), history.Done, func(e *history.Event) { e.Outcome.Kind = history.OutcomeSuccess })
	r.sends(history.Reconcile{}, "create", history.Ref{Kind: "Event", Namespace: "default", Name: "late.1"}, 201, 3)
	r.violated("it is said")
	r.says(t, "The last step that led to it was at 00:02.000: op/1 create Event default/late → rv 2 at op/op.go:7.")
}

// What a reconcile begins with often records what it is about to do.
func TestParagraphNamesWhatReconcilesBegan(t *testing.T) {
	var r recorded
	record := history.Ref{Kind: "Secret", Name: "record"}
	fail := func(e *history.Event) { e.Outcome = history.Outcome{Kind: history.OutcomeFailure} }
	r.during(tenants(1), history.Dequeue, nil)
	r.sends(tenants(1), "create", record, 201, 2)
	r.sends(tenants(1), "update", acme, 200, 3)
	r.add(by(history.Crash, "", history.Ref{}, 0))
	r.during(tenants(2), history.Dequeue, nil)
	r.sends(tenants(2), "delete", record, 200, 4)
	r.during(tenants(2), history.Done, fail)
	r.during(tenants(3), history.Dequeue, nil)
	r.sends(tenants(3), "create", record, 201, 5)
	r.sends(tenants(3), "update", acme, 200, 6)
	r.sends(tenants(3), "create", lateDev, 201, 7)
	r.violated("there is a namespace")
	lines := r.led()
	r.says(t,
		"Its first write was at 00:09.000: op/1 create Secret record → rv 5 at op/op.go:7.",
		"The first write of the reconcile before it was at 00:06.000: op/1 delete Secret record → rv 4",
		"Before it: at 00:02.000: op/1 create Secret record → rv 2 at op/op.go:7; "+
			"at 00:03.000: op/1 update Tenant acme")
	for _, want := range []string{
		"create Secret record → rv 2", "delete Secret record", "create Secret record → rv 5",
	} {
		if !contains(lines, want) {
			t.Errorf("%q is not shown:\n%s", want, strings.Join(lines, "\n"))
		}
	}
}

// The namespace controller removes the content of a namespace because a user has deleted it. A
// program may end because its Deployment was deleted.
func TestParagraphNamesTheDeletionBehindAStep(t *testing.T) {
	var r recorded
	r.write("user", "create", history.Ref{Kind: "Namespace", Name: "late"}, 1, "ADDED")
	r.during(tenants(1), history.Dequeue, nil)
	r.sends(tenants(1), "create", lateDev, 201, 2)
	deployment := history.Ref{Group: "apps", Kind: "Deployment", Namespace: "ops", Name: "op"}
	key := history.Ref{Kind: "Secret", Namespace: "shop", Name: "key"}
	r.write("user", "delete", deployment, 3, "DELETED")
	r.add(by(history.Stop, "", history.Ref{}, 0))
	r.write("user", "delete", history.Ref{Kind: "Namespace", Name: "shop"}, 4, "MODIFIED")
	r.write("namespace-controller", "deletecollection", key, 5, "DELETED")
	r.violated("shop/key is gone, and late-dev is there")
	r.says(t,
		"The last change by a program that led to it was at 00:03.000: op/1 create Namespace late-dev",
		"op/1 stops:, after at 00:04.000: user delete Deployment ops/op",
		"deletecollection Secret shop/key → rv 5, after at 00:06.000: user delete Namespace shop → rv 4")
	for _, want := range []string{"delete Deployment ops/op", "delete Namespace shop"} {
		if lines := r.led(); !contains(lines, want) {
			t.Errorf("%q is not shown:\n%s", want, strings.Join(lines, "\n"))
		}
	}
}

// The last write of another object's reconcile is named even if it is like many others.
func TestParagraphNamesTheWriteOfAnotherReconcile(t *testing.T) {
	var r recorded
	of := func(name string) history.Reconcile {
		return history.Reconcile{Key: history.Key{Controller: "tenants", Name: name}}
	}
	for n, name := range []string{"a", "a", "a", "a", "b", "a"} {
		r.during(of(name), history.Dequeue, nil)
		r.sends(of(name), "update", acme, 200, int64(n+1))
	}
	r.violated("acme has what a wants")
	want := "at 00:10.000: op/1 update Tenant acme → rv 5"
	if got := paragraph(&r); !strings.Contains(got, want) || !strings.Contains(got, "the same request 4 times") {
		t.Error(got)
	}
}

// A request that failed after the last change is a later step. An effect of another event than a
// request is none.
func TestParagraphDoesNotCallAChangeTheLastStep(t *testing.T) {
	var r recorded
	r.during(tenants(1), history.Dequeue, nil)
	r.sends(tenants(1), "create", lateDev, 201, 1)
	at := r.during(tenants(1), history.Reply, nil)
	r.Record(history.Effect{Kind: "migrated", Key: "late", Event: at})
	r.sends(tenants(1), "update", late, 409, 0)
	r.add(by(history.Crash, "", history.Ref{}, 0))
	r.violated("late is not written")
	want := "The last change by a program that led to it was at 00:02.000: op/1 create Namespace late-dev"
	got := paragraph(&r)
	if !strings.Contains(got, want) || strings.Contains(got, "op/1 ;") || strings.Contains(got, "op/1 .") {
		t.Error(got)
	}
}

// If a line of the program has done the same for several objects, the last ones are named.
func TestParagraphNamesWhatALineDidForOtherObjects(t *testing.T) {
	var r recorded
	served := func(name string) history.Ref { return history.Ref{Kind: "Secret", Name: "served-" + name} }
	for n, name := range []string{"c", "b", "a"} {
		of := history.Reconcile{Key: history.Key{Controller: "waiter", Name: name}, N: 1}
		r.during(of, history.Dequeue, nil)
		r.sends(of, "create", served(name), 201, int64(n+2))
	}
	r.violated("they were served in the opposite order")
	r.says(t, "create Secret served-a", "create Secret served-b", "create Secret served-c")
}
