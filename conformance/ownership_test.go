package conformance

// The model computes ownership late: an object has managedFields from the first apply to it on,
// unless an option of the server keeps them from the start. Rows about ownership are compared with
// the real server on a model that keeps them; here the same rows are put to one that does not, and
// what it does show must be the same.

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seenLate are the rows whose clients look at ownership before anything was applied, and go by what
// they see.
var seenLate = map[string]string{
	"managed fields: are cleared by an empty list": "the first word about managedFields is what makes them " +
		"appear, which is a write",
	"managed fields: are cleared by an empty entry":    "the same",
	"managed fields: that make no sense are not taken": "the same",
}

func TestOwnershipWorkedOutLate(t *testing.T) {
	for _, r := range Rows() {
		if !r.Managed {
			continue
		}
		var sides [2][]Observed
		for i, track := range []bool{true, false} {
			m, err := startModel(track)
			if err != nil {
				t.Fatal(err)
			}
			ns := namespaceOf(r.Area + r.Name)
			seen, started, err := Observe(t.Context(), r, m, ns)
			if err != nil {
				t.Fatal(err)
			}
			sides[i] = plain(Normalise(seen, ns, started, true))
		}
		name := r.Area + ": " + r.Name
		if same := agreeWhereShown(sides[0], sides[1]); !same && seenLate[name] == "" {
			t.Errorf("%s: from the start (-) and late (+):\n%s", name, cmp.Diff(sides[0], sides[1]))
		}
	}
}

// agreeWhereShown reports whether late differs from early by nothing but managedFields that it does
// not show.
func agreeWhereShown(early, late []Observed) bool {
	if len(early) != len(late) {
		return false
	}
	for i := range early {
		if early[i].Code != late[i].Code || !agree(early[i].Body, late[i].Body) ||
			!agree(early[i].Frames, late[i].Frames) {
			return false
		}
	}
	return true
}

func agree(early, late any) bool {
	switch e := early.(type) {
	case map[string]any:
		l, ok := late.(map[string]any)
		if !ok {
			return false
		}
		for k := range l {
			if _, known := e[k]; !known {
				return false
			}
		}
		for k := range e {
			if _, shown := l[k]; !shown && k == "managedFields" {
				continue
			}
			if !agree(e[k], l[k]) {
				return false
			}
		}
		return true
	case []any:
		l, ok := late.([]any)
		if !ok || len(e) != len(l) {
			return false
		}
		for i := range e {
			if !agree(e[i], l[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(early, late)
}
