package history

import (
	"errors"
	"strings"
	"testing"
)

func TestAWriteSaysWhatItChanged(t *testing.T) {
	ref := Ref{Kind: "Site", Namespace: "default", Name: "a"}
	for _, c := range []struct{ what, verb, kind, before, after, want string }{
		{"a field", "update", "MODIFIED", `{"spec":{"replicas":1}}`, `{"spec":{"replicas":3}}`,
			" (spec.replicas 1 → 3)"},
		{"the last finalizer", "update", "DELETED", `{"metadata":{"finalizers":["site"],"deletionTimestamp":"x"}}`,
			`{"metadata":{"deletionTimestamp":"x"}}`, " (− finalizer site; object removed)"},
		{"a delete with a finalizer", "delete", "MODIFIED", `{"metadata":{"finalizers":["site"]}}`,
			`{"metadata":{"deletionTimestamp":"x","deletionGracePeriodSeconds":0,"finalizers":["site"]}}`,
			" (is being deleted)"},
		{"a delete", "delete", "DELETED", `{}`, `{}`, ""},
		{"a new field", "patch", "MODIFIED", `{}`, `{"status":{"pvc":"a-1"}}`, " (+ status.pvc a-1)"},
		{"a condition", "patch", "MODIFIED",
			`{"status":{"observedGeneration":1,"conditions":[{"type":"Ready","status":"False",` +
				`"lastTransitionTime":"1"}]}}`,
			`{"status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"True",` +
				`"lastTransitionTime":"2"}]}}`,
			" (status.conditions[Ready] False → True; status.observedGeneration 1 → 2)"},
		{"what the server sets", "update", "MODIFIED", `{"metadata":{"resourceVersion":"1","generation":1},"a":1}`,
			`{"metadata":{"resourceVersion":"2","generation":2}}`, " (− a)"},
		{"many", "update", "MODIFIED", `{"a":1,"b":1,"c":1,"d":1,"e":1}`, `{"a":2,"b":2,"c":2,"d":2,"e":2}`,
			" (a 1 → 2; b 1 → 2; and 3 more)"},
		{"a truth value, conditions and times among many", "update", "MODIFIED",
			`{"a":1,"b":1,"c":"2000-01-01T00:03:00Z"}`,
			`{"a":2,"b":2,"c":"2000-01-01T00:03:01Z","d":{"ready":true},` +
				`"conditions":[{"type":"Ready","status":"True"}]}`,
			" (+ conditions[Ready] True; + d.ready true; and 3 more)"},
		{"states before long texts", "update", "MODIFIED",
			`{"data":{"release":"` + strings.Repeat("x", 50) + `"},"labels":{"createdAt":"7","status":"pending"}}`,
			`{"data":{"release":"` + strings.Repeat("y", 50) + `"},"labels":{"modifiedAt":"8","status":"failed"}}`,
			" (labels.status pending → failed; − labels.createdAt; and 2 more)"},
		{"a long text", "update", "MODIFIED", `{"a":""}`, `{"a":"` + strings.Repeat("x", 50) + `"}`,
			` (a "" → xxxxxxxxxxxxxxxxxxxxxxx…)`},
		{"texts that begin alike", "update", "MODIFIED", `{"a":"` + strings.Repeat("x", 50) + `"}`,
			`{"a":"` + strings.Repeat("x", 50) + `y"}`, ` (a …xxxxxxxx" → …xxxxxxxxy")`},
		{"a number that becomes a string", "update", "MODIFIED", `{"spec":{"quota":{"cpu":1}}}`,
			`{"spec":{"quota":{"cpu":"1"}}}`, ` (spec.quota.cpu 1 → "1")`},
		{"a taint that goes", "patch", "MODIFIED", `{"spec":{"taints":[{"key":"a","effect":"NoSchedule"},` +
			`{"key":"b","effect":"NoSchedule"}]}}`, `{"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}}`,
			" (− spec.taints[b])"},
		{"an element without a name", "patch", "MODIFIED",
			`{"rules":[{"verbs":["get","list","watch"]}]}`,
			`{"rules":[{"verbs":["get","list","watch"]},{"verbs":["delete"]}]}`,
			` (+ rules {"verbs":["delete"]})`},
		{"a field of an element without a name", "patch", "MODIFIED",
			`{"targets":[{"ready":true,"revision":"main/0123456789"}]}`,
			`{"targets":[{"ready":true,"revision":"main/9876543210"}]}`,
			" (targets[0].revision main/0123456789 → main/9876543210)"},
		{"a time stamp alone", "update", "MODIFIED",
			`{"status":{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"12:01"}]}}`,
			`{"status":{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"12:02"}]}}`,
			" (only status.conditions[Ready].lastTransitionTime 12:01 → 12:02)"},
		{"a list", "update", "MODIFIED", `{"a":[1]}`, `{"a":[1,2]}`, " (a [1] → [1,2])"},
	} {
		e := Event{Kind: Request, Verb: c.verb, Ref: ref, Code: 200, Revision: 9, Changes: []Change{{Type: c.kind,
			Ref: ref, Revision: 9, Previous: []byte(c.before), Object: []byte(c.after)}}}
		if got, want := e.requestLine("update Site a", nil, nil), "update Site a → rv 9"+c.want; got != want {
			t.Errorf("%s: %q, want %q", c.what, got, want)
		}
	}
	none := Event{Kind: Request, Verb: "update", Ref: ref, Code: 200, Revision: 9, Source: "site/site.go:7"}
	if got, want := none.requestLine("update", nil, nil), "update → rv 9 (no change) at site/site.go:7"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	many := Event{Kind: Request, Verb: "deletecollection", Ref: Ref{Kind: "Pod"}, Code: 200}
	for _, name := range []string{"a", "b", "c"} {
		many.Changes = append(many.Changes, Change{Type: "DELETED", Ref: Ref{Kind: "Pod", Name: name}})
	}
	if got, want := many.changed(nil), " (Pod a is removed; Pod b is removed; and 1 more)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Of many fields, a write shows those first that the sentence of the violation names.
func TestAWriteShowsTheFieldsOfTheViolation(t *testing.T) {
	var h History
	ref := Ref{Kind: "Site", Namespace: "default", Name: "a"}
	h.Add(Event{Kind: Request, Process: "op", Verb: "update", Ref: ref, Code: 200, Revision: 9, Changes: []Change{{
		Type: "MODIFIED", Ref: ref, Revision: 9, Previous: []byte(`{"metadata":{"finalizers":["x"]},"a":1,"z":1}`),
		Object: []byte(`{"a":2,"z":2,"status":{"conditions":[{"type":"Synced","status":"True"}],"ready":true}}`),
	}}})
	h.Add(Event{Kind: Violation, Note: `Site default/a has z="2", and is not synced`})
	want := "update Site default/a → rv 9 (+ status.conditions[Synced] True; z 1 → 2; and 3 more)"
	if got := h.Lines()[0].Text; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A reconcile that ends well although a request failed says so; that a get finds nothing is no
// failure.
func TestTheEndOfAReconcileInWhichARequestFailed(t *testing.T) {
	for code, want := range map[int]string{409: "ends: ok, though a request failed", 404: "get Site a → 404"} {
		verb := "update"
		if code == 404 {
			verb = "get"
		}
		var h History
		of := reconcile("site", "a")
		h.Add(Event{Kind: Request, Process: "op", Incarnation: 1, Reconcile: of, Verb: verb,
			Ref: Ref{Kind: "Site", Name: "a"}, Code: code})
		h.Add(Event{Kind: Done, Process: "op", Incarnation: 1, Reconcile: of, Outcome: Outcome{Kind: OutcomeSuccess}})
		h.Add(Event{Kind: Done, Process: "op", Incarnation: 1, Reconcile: of, Outcome: Outcome{Kind: OutcomeSuccess}})
		lines := h.Render()
		if got := lines[len(lines)-1]; !strings.HasSuffix(got, want) {
			t.Errorf("after %d the last line is %q", code, got)
		}
	}
}

func TestReadsAreTheObjectsThatAFunctionLooksAt(t *testing.T) {
	var h History
	for _, name := range []string{"a", "b"} {
		ref := Ref{Kind: "Pod", Name: name}
		h.Add(Event{Kind: Request, Changes: []Change{{Type: "ADDED", Ref: ref}}})
	}
	h.Objects("", "Pod") // outside
	wrong := errors.New("wrong")
	got, err := h.Reads(func() error { h.Object("", "Site", "default", "x"); h.Objects("", "Pod"); return wrong })
	if err != wrong || len(got) != 3 || got[0].Name != "x" || got[1].Name != "a" || got[2].Name != "b" {
		t.Errorf("it read %v, and returned %v", got, err)
	}
	if got, err := h.Reads(func() error { h.Objects("", "Pod"); return nil }); got != nil || err != nil {
		t.Errorf("nothing is wrong, but it returned %v, %v", got, err)
	}
}
