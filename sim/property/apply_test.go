package property

import (
	"strings"
	"testing"

	"github.com/wavetank/wavetank/history"
)

// widget is an object of a custom kind with a status.
const widget = `{"metadata":{"name":"a","generation":1,"resourceVersion":"5"},"spec":{"size":1},` +
	`"status":{"ready":true,"at":"2026-01-01T00:00:00Z"}}`

// appliedOnceMore is what ApplyIsStable says of one event after the same objects were applied
// again.
func appliedOnceMore(after ...history.Event) string {
	ref := history.Ref{Group: "example.com", Kind: "Widget", Namespace: "default", Name: "a"}
	h := &history.History{}
	h.Add(history.Event{Kind: history.Request, Process: "user", Verb: "create", Ref: ref,
		Changes: []history.Change{{Type: "ADDED", Ref: ref, UID: "u", Object: []byte(widget)}}})
	h.Add(history.Event{Kind: history.Settled})
	h.Add(history.Event{Kind: history.Again, Process: "user"})
	for _, e := range after {
		h.Add(e)
	}
	if err := ApplyIsStable()(h); err != nil {
		return err.Error()
	}
	return ""
}

// second is the reconcile that writes.
var second = history.Reconcile{Key: history.Key{Controller: "widget", Namespace: "default", Name: "a"}, N: 2}

// becomes is a write of a program's by which a part of the widget becomes another.
func becomes(old, now string) history.Event {
	ref := history.Ref{Group: "example.com", Kind: "Widget", Namespace: "default", Name: "a"}
	return history.Event{Kind: history.Request, Process: "op", Incarnation: 1, Reconcile: second,
		Verb: "update",
		Ref:  ref, Changes: []history.Change{{Type: "MODIFIED", Ref: ref, UID: "u", Previous: []byte(widget),
			Object: []byte(strings.Replace(widget, old, now, 1))}}}
}

// Generation, spec and status count. Times and versions do not, nor what waits for time to pass,
// nor what comes when the world has settled again.
func TestWhatApplyIsStableCounts(t *testing.T) {
	lease := becomes(`"size":1`, `"size":2`)
	lease.Changes[0].Ref = history.Ref{Group: "coordination.k8s.io", Kind: "Lease", Name: "a"}
	gone := becomes("", "")
	gone.Changes[0].Type = "DELETED"
	timer := history.Event{Kind: history.Dequeue, Process: "op", Incarnation: 1, Reconcile: second,
		Cause: history.Cause{Kind: history.CauseRequeueAfter}}
	for name, c := range map[string]struct {
		after []history.Event
		want  string
	}{
		"spec": {[]history.Event{becomes(`"size":1`, `"size":2`)}, ".spec.size is 2, before 1"},
		"generation": {[]history.Event{becomes(`"generation":1`, `"generation":2`)},
			".metadata.generation is 2, before 1"},
		"status": {[]history.Event{becomes(`"ready":true`, `"ready":false`)},
			".status.ready is false, before true"},
		"deleted":   {[]history.Event{gone}, "Widget default/a is gone"},
		"a time":    {[]history.Event{becomes("2026-01-01", "2026-01-02")}, ""},
		"a version": {[]history.Event{becomes(`"resourceVersion":"5"`, `"resourceVersion":"6"`)}, ""},
		"a lease":   {[]history.Event{lease}, ""},
		"a timer":   {[]history.Event{timer, becomes(`"ready":true`, `"ready":false`)}, ""},
		"later":     {[]history.Event{{Kind: history.Settled}, becomes(`"ready":true`, `"ready":false`)}, ""},
	} {
		got := appliedOnceMore(c.after...)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// The write that is named gave the field its value before, and no later one to another field.
func TestApplyIsStableNamesTheWriteOfTheField(t *testing.T) {
	ref := history.Ref{Group: "example.com", Kind: "Widget", Namespace: "default", Name: "a"}
	const one, text = `"size":1`, `"size":"1"`
	quoted := strings.Replace(widget, one, text, 1)
	update := becomes(one, text)
	status := history.Event{Kind: history.Request, Process: "op", Incarnation: 1, Verb: "update", Sub: "status",
		Ref: ref, Changes: []history.Change{{Type: "MODIFIED", Ref: ref, UID: "u", Previous: []byte(quoted),
			Object: []byte(strings.Replace(quoted, "true", "false", 1))}}}
	h := &history.History{}
	h.Add(history.Event{Kind: history.Request, Process: "user", Verb: "create", Ref: ref,
		Changes: []history.Change{{Type: "ADDED", Ref: ref, UID: "u", Object: []byte(widget)}}})
	h.Add(update)
	h.Add(status)
	h.Add(history.Event{Kind: history.Settled})
	h.Add(history.Event{Kind: history.Again, Process: "user"})
	h.Add(history.Event{Kind: history.Request, Process: "user", Verb: "patch", Ref: ref,
		Changes: []history.Change{{Type: "MODIFIED", Ref: ref, UID: "u", Previous: []byte(quoted),
			Object: []byte(strings.Replace(widget, `"generation":1`, `"generation":2`, 1))}}})
	err := ApplyIsStable()(h)
	want := `.spec.size is 1, before "1"; the last write of it before was op/1 update Widget default/a at`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
