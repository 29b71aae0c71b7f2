package wire

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

func answer(patch string) []byte {
	encoded := base64.StdEncoding.EncodeToString([]byte(patch))
	const review = `{"kind":"AdmissionReview","response":{"uid":"u","allowed":true,"patchType":"JSONPatch","patch":%q}}`
	return fmt.Appendf(nil, review, encoded)
}

func patchIn(t *testing.T, body []byte) string {
	t.Helper()
	var review struct {
		Response struct{ Patch []byte }
	}
	if err := json.Unmarshal(body, &review); err != nil {
		t.Fatal(err)
	}
	return string(review.Response.Patch)
}

// Whatever order the fields of an object come in, the patch is the same and does the same.
func TestPatchesInOneOrder(t *testing.T) {
	before := []byte(`{"a":{"k":1},"b":{"list":[1,{"x":1,"y":2},3,4]},"1":{"2":"z"}}`)
	fields := [][]string{
		{`{"op":"replace","path":"/a/k","value":2}`, `{"op":"add","path":"/a/l","value":3}`},
		{
			`{"op":"remove","path":"/b/list/3"}`, `{"op":"remove","path":"/b/list/2"}`,
			`{"op":"replace","path":"/b/list/1/x","value":5}`,
		},
		{
			`{"op":"add","path":"/c","value":{}}`, `{"op":"add","path":"/c/z","value":1}`,
			`{"op":"add","path":"/c/y","value":1}`,
		},
		{`{"op":"remove","path":"/1"}`},
	}
	want, done := "", ""
	for range 50 {
		text := ""
		for _, i := range rand.Perm(len(fields)) {
			for _, o := range fields[i] {
				text += "," + o
			}
		}
		got := patchIn(t, sortPatch(answer("["+text[1:]+"]")))
		p, err := jsonpatch.DecodePatch([]byte(got))
		if err != nil {
			t.Fatal(err)
		}
		after, err := p.Apply(before)
		if err != nil {
			t.Fatalf("%v: %s", err, got)
		}
		if want == "" {
			want, done = got, string(after)
		}
		if got != want || string(after) != done {
			t.Errorf("%s\n%s\n%s\n%s", got, want, after, done)
		}
	}
	if done != `{"a":{"k":2,"l":3},"b":{"list":[1,{"x":5,"y":2}]},"c":{"y":1,"z":1}}` {
		t.Error(done)
	}
}

// What depends on its order keeps it, and what is no patch stays as it is.
func TestPatchesThatKeepTheirOrder(t *testing.T) {
	for _, patch := range []string{
		`[{"op":"add","path":"/list/-","value":"b"},{"op":"add","path":"/list/-","value":"a"}]`,
		`[{"op":"add","path":"/b","value":{"x":1}},{"op":"move","path":"/a","from":"/b"}]`,
		`[{"op":"add","path":"/b","value":{}},{"op":"add","path":"/a","value":1},{"op":"test","path":"/a","value":1}]`,
		`[{"op":"add","path":"/b/c","value":1},{"op":"replace","path":"/b","value":{}}]`,
		`nonsense`, `[{"path":7}]`, `[]`,
	} {
		if got := patchIn(t, sortPatch(answer(patch))); got != patch {
			t.Errorf("%s became %s", patch, got)
		}
	}
	for _, body := range []string{"", "nonsense", `{"patch":1}`, `{"response":{"patch":"###"}}`} {
		if got := string(sortPatch([]byte(body))); got != body {
			t.Errorf("%s became %s", body, got)
		}
	}
}
