package history

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type copied struct {
	Names []counted `json:"names"`
	Text  string    `json:"text"`
}

// counted counts how often it is decoded.
type counted string

var decodes int

func (c *counted) UnmarshalJSON(text []byte) error {
	decodes++
	return json.Unmarshal(text, (*string)(c))
}

func TestIntoCopies(t *testing.T) {
	ref, h := Ref{Kind: "Thing", Name: "a"}, &History{}
	put := func(object string) {
		h.Add(Event{Kind: Request, Changes: []Change{{Type: "MODIFIED", Ref: ref, Object: []byte(object)}}})
	}
	read := func(v any) {
		t.Helper()
		if o, ok := h.Find(ref); !ok || o.Into(v) != nil {
			t.Fatalf("%v cannot be read", ref)
		}
	}
	put(`{"names":["x","y"],"text":"1"}`)
	for range 3 {
		var c copied
		if read(&c); !slices.Equal(c.Names, []counted{"x", "y"}) || c.Text != "1" {
			t.Fatalf("expected x, y and 1, got %+v", c)
		}
		c.Names[0], c.Text = "changed", "changed" // by a property; others do not see it
	}
	put(`{"names":["x","z"],"text":"1"}`)
	var next copied
	if read(&next); !slices.Equal(next.Names, []counted{"x", "z"}) || decodes != 3 {
		t.Errorf("expected only z to be decoded after x and y, got %+v and %d", next, decodes)
	}
	put(`{"names":["z"]}`)
	merged := copied{Text: "kept"}
	if read(&merged); merged.Text != "kept" || !slices.Equal(merged.Names, []counted{"z"}) {
		t.Errorf("decoding into a value that is not zero merges, got %+v", merged)
	}
	var c copied
	if read(&c); c.Text != "" || !slices.Equal(c.Names, []counted{"z"}) {
		t.Errorf("expected the new state, got %+v", c)
	}
	o, _ := h.Find(ref)
	if s := fmt.Sprint(o, []Object{o}); s != "Thing a (rv 0) [Thing a (rv 0)]" {
		t.Errorf("what a property prints is the same in each run, got %q", s)
	}
	o.JSON = []byte(`{"names":["q"]}`)
	var own copied
	if err := o.Into(&own); err != nil || !slices.Equal(own.Names, []counted{"q"}) {
		t.Errorf("an object with other JSON is decoded from it, got %+v, %v", own, err)
	}
	put(`{"text":"2"}`)
	var other struct{ Text string }
	if read(&other); other.Text != "2" {
		t.Errorf("expected the state in another type, got %+v", other)
	}
	put(`{"text":3}`)
	o, _ = h.Find(ref)
	if err := o.Into(&copied{}); err == nil {
		t.Error("a number went into a text")
	}
}

// Properties compare objects with go-cmp, which does not look into fields that are not exported.
func TestObjectsAreCompared(t *testing.T) {
	ref := Ref{Kind: "Thing", Name: "a"}
	of := func(text string) Object {
		h := &History{}
		h.Add(Event{Kind: Request, Changes: []Change{{Type: "MODIFIED", Ref: ref, Object: []byte(text)}}})
		o, _ := h.Find(ref)
		return o
	}
	if d := cmp.Diff(of(`{"a":1}`), of(`{"a":1}`)); d != "" {
		t.Errorf("the same object in two histories differs:\n%s", d)
	}
	if cmp.Equal(of(`{"a":1}`), of(`{"a":2}`)) {
		t.Error("objects with other contents are equal")
	}
}
