package reports

import (
	"strings"
	"testing"

	"github.com/wavetank/wavetank/history"
)

// The write that brought a text which the sentence quotes is named, and not a later one that left
// the text alone.
func TestParagraphNamesTheWriteOfAQuotedText(t *testing.T) {
	const without, with = `{"status":{}}`, `{"status":{"error":"the cache is not synced yet"}}`
	var r recorded
	for n, of := range [][2]string{{without, with}, {with, with}} {
		r.during(tenants(n+1), history.Dequeue, nil)
		r.during(tenants(n+1), history.Request, func(e *history.Event) {
			e.Verb, e.Ref, e.Code, e.Revision, e.Source = "patch", acme, 200, int64(n+2), "op/op.go:7"
			e.Changes = []history.Change{{Type: "MODIFIED", Ref: acme, Revision: e.Revision, Previous: []byte(of[0]),
				Object: []byte(of[1])}}
		})
	}
	r.violated(`eventually "the target is known" broke: the status says "the cache is not synced yet"`)
	want := `The text "the cache is not synced yet" was written at 00:02.000: op/1 patch Tenant acme → rv 2`
	if got := paragraph(&r); strings.Count(got, "The text") != 1 || !strings.Contains(got, want) {
		t.Error(got)
	}
}

// The last effect at a host that the sentence names is reported.
func TestParagraphNamesAnEffectAtAHost(t *testing.T) {
	var r recorded
	r.during(tenants(1), history.Dequeue, nil)
	order := r.during(tenants(1), history.Request, func(e *history.Event) {
		e.Verb, e.Host, e.Path, e.Code, e.Source = "POST", "git.example", "/pulls", 201, "op/op.go:9"
	})
	r.Record(history.Effect{Event: order, Kind: "order", Key: "1"})
	r.during(tenants(2), history.Dequeue, nil)
	r.sends(tenants(2), "patch", acme, 200, 2)
	r.violated("the request is https://git.example/pull/1, and the status names none")
	r.says(t, "Before it: at 00:02.000: op/1 POST git.example/pulls → 201; order: 1 at op/op.go:9.")
}
