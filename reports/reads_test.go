package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/history"
)

// readBy is a history in which the reconcile that decided lists namespaces in a cache that lacks
// one, reads something else, and then writes.
func readBy() *recorded {
	var r recorded
	r.add(by(history.Deliver, "LIST", history.Ref{Kind: "Namespace"}, 1))
	r.write("user", "create", late, 2, "ADDED")
	r.write("user", "create", lateDev, 3, "ADDED")
	r.during(tenants(1), history.Dequeue, nil)
	step := r.Events[r.Len()-1].Step
	r.during(tenants(1), history.Request, func(e *history.Event) {
		e.Verb, e.Ref, e.Code, e.Source, e.Revision = "update", late, 200, "op/op.go:9", 4
		e.Changes = []history.Change{{Type: "MODIFIED", Ref: late, Revision: 4, Object: []byte(`{}`)}}
		e.Reads = []history.Read{
			{Step: step, Ref: history.Ref{Kind: "Namespace"}, Source: "op/op.go:5"},
			{Step: step, Ref: history.Ref{Kind: "Secret", Namespace: "ops", Name: "key"}, Source: "op/op.go:6",
				Found: 1},
		}
	})
	return &r
}

// The paragraph and the story name the line of the read that lacked something, or else that of the
// last read.
func TestTheReadOfTheDecisionIsNamed(t *testing.T) {
	r := readBy()
	r.add(by(history.Deliver, "ADDED", lateDev, 3))
	r.violated("the account of late is closed, and late-dev is there")
	const stale = "it read that cache at op/op.go:5 (list Namespace at 00:04.000: 0 objects)"
	if got := paragraph(r); !strings.Contains(got, "Before that step "+stale+".") {
		t.Error(got)
	}
	if got := r.led(); !contains(got, stale) {
		t.Errorf("the story lacks it:\n%s", strings.Join(got, "\n"))
	}
	reads := StaleReads(&r.History, nil)
	if len(reads) != 1 || reads[0].Source != "op/op.go:5" || reads[0].Actor != "op/1" || reads[0].Step != 4 {
		t.Errorf("stale reads: %+v", reads)
	}
	fresh := readBy()
	fresh.violated("the account of late is closed")
	want := "Before that step it had read its cache at op/op.go:6 (get Secret ops/key at 00:04.000: found)."
	if got := paragraph(fresh); !strings.Contains(got, want) || len(StaleReads(&fresh.History, nil)) > 0 {
		t.Error(got)
	}
}

// If it read from the server last, that is named, even if nothing was found.
func TestTheReadFromTheServerIsNamed(t *testing.T) {
	for code, want := range map[int]string{
		200: "It had read Namespace late-dev from the server at op/op.go:8, at 00:03.000.",
		404: "It had read Namespace late-dev from the server at op/op.go:8, at 00:03.000: not found.",
	} {
		var r recorded
		r.write("user", "create", late, 2, "ADDED")
		r.during(tenants(1), history.Dequeue, nil)
		r.during(tenants(1), history.Request, func(e *history.Event) {
			e.Verb, e.Ref, e.Code, e.Source, e.Revision = "get", lateDev, code, "op/op.go:8", 77
			e.Reads = []history.Read{{Step: 2, Ref: late, Source: "op/op.go:5", Found: 1}}
		})
		r.sends(tenants(1), "update", late, 200, 4)
		r.violated("late is wrong")
		if got := paragraph(&r); !strings.Contains(got, want) || strings.Contains(got, "op/op.go:5") {
			t.Errorf("%d:\n%s", code, got)
		}
	}
}

// The paragraph names the version that a cached read found if it is older, and the server's. If the
// program has two caches of the kind, it is not known which of them was read.
func TestTheVersionOfAStaleReadIsNamed(t *testing.T) {
	for caches, found := range map[int]string{1: "found rv 2, the server had rv 3", 2: "found"} {
		var r recorded
		for range caches {
			r.add(by(history.Deliver, "LIST", history.Ref{Kind: "Namespace"}, 1))
		}
		r.write("user", "create", lateDev, 2, "ADDED")
		r.add(by(history.Deliver, "ADDED", lateDev, 2))
		r.write("user", "update", lateDev, 3, "MODIFIED")
		start := r.during(tenants(1), history.Dequeue, nil)
		r.sends(tenants(1), "update", late, 200, 4)
		r.Events[start+1].Reads = []history.Read{
			{Step: r.Events[start].Step, Ref: lateDev, Source: "op/op.go:5", Found: 1}}
		r.violated("late is wrong")
		r.says(t, fmt.Sprintf("Before that step it read that cache at op/op.go:5 (get Namespace late-dev at "+
			"00:0%d.000: %s).", 4+caches, found))
	}
}

// The paragraph names when a list was made and what it returned.
func TestTheObjectsOfAListAreNamed(t *testing.T) {
	items := []string{`{"metadata":{"name":"a","namespace":"default"}}`, `{"metadata":{"name":"b"}}`}
	for body, want := range map[string]string{
		`{"items":[]}`:                                 "list Secret in default at 00:02.000: 0 objects",
		`{"items":[` + items[0] + `]}`:                 "list Secret in default at 00:02.000: 1 object: a",
		`{"items":[` + strings.Join(items, ",") + `]}`: "list Secret in default at 00:02.000: 2 objects: a, b",
		`{"items":[` + strings.Repeat(items[0]+",", 4) + items[1] + `]}`: "list Secret in default at 00:02.000: " +
			"5 objects: a, a, a and 2 more",
		``: "list Secret in default at 00:02.000",
	} {
		var r recorded
		r.during(tenants(1), history.Dequeue, nil)
		r.during(tenants(1), history.Request, func(e *history.Event) {
			e.Verb, e.Ref, e.Code = "list", history.Ref{Kind: "Secret", Namespace: "default"}, 200
			e.Source, e.Received = "op/op.go:8", []byte(body)
		})
		r.sends(tenants(1), "update", late, 200, 4)
		r.violated("late is wrong")
		if got := paragraph(&r); !strings.Contains(got, "It had read the server at op/op.go:8 ("+want+").") {
			t.Errorf("%s:\n%s", want, got)
		}
	}
}
