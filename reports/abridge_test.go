package reports

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/history"
)

// A body of megabytes, sent a thousand times, made a file of 500 MB and a page that no browser
// opens.
func TestLongStringsInBodiesAreCut(t *testing.T) {
	long := func(last string) []byte {
		text := strings.Repeat("é\n\u2028", 1<<18) + last
		data, err := json.Marshal(map[string]any{"kind": "ConfigMap", "data": map[string]string{"x": text}, "n": 7})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	h := &history.History{}
	ref := history.Ref{Kind: "ConfigMap", Name: "a"}
	h.Add(history.Event{
		Kind: history.Request, Process: "user", Verb: "create", Ref: ref,
		Sent:     []byte(`{"data":{"x":"short"}}`),
		Received: []byte("a text, no JSON " + strings.Repeat("…", 1<<20)),
		Changes:  []history.Change{{Type: "ADDED", Ref: ref, Revision: 1, Object: long("1")}},
	})
	h.Add(history.Event{
		Kind: history.Request, Process: "user", Verb: "update", Ref: ref, Sent: long("2"),
		Changes: []history.Change{{Type: "MODIFIED", Ref: ref, Revision: 2, Object: long("2"), Previous: long("1")}},
	})
	page, err := WriteRun(t.TempDir(), Run{Name: "long", History: h})
	if err != nil {
		t.Fatal(err)
	}
	kept := strings.TrimSuffix(page, ".html") + RunSuffix
	r, err := ReadRun(kept)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(kept); err != nil || info.Size() > 20_000 {
		t.Errorf("%v; the run's file has %d bytes", err, info.Size())
	}
	first, second := r.History.Events[0], r.History.Events[1]
	if got := string(first.Sent); got != `{"data":{"x":"short"}}` {
		t.Errorf("a short body became %s", got)
	}
	if got := string(first.Received); !strings.Contains(got, "…… (cut here: 3145744 bytes") {
		t.Errorf("a long text became %s", got)
	}
	changed := second.Changes[0]
	for _, b := range [][]byte{first.Changes[0].Object, second.Sent, changed.Object, changed.Previous} {
		var o struct {
			Data map[string]string
			N    int
		}
		if err := json.Unmarshal(b, &o); err != nil || o.N != 7 {
			t.Errorf("%v: %.2000s", err, b)
		}
		if x := o.Data["x"]; !strings.Contains(x, "(cut here: ") || strings.Contains(x, "\ufffd") {
			t.Errorf("the string is not cut, or within a character: %.2000s", b)
		}
	}
	if bytes.Equal(first.Changes[0].Object, second.Changes[0].Object) {
		t.Error("two states that differ at their end look alike")
	}
	if len(h.Events[1].Sent) < 1<<20 {
		t.Error("the run's own history was cut")
	}
	if again := abridge(r.History); again != r.History {
		t.Error("what is abridged is abridged again")
	}
}
