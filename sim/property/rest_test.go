package property

import (
	"testing"

	"github.com/wavetank/wavetank/history"
)

// At rest a reconcile may set back what others have written last in an object of theirs, and
// nothing else.
func TestRestoredAtRest(t *testing.T) {
	const user, program = 0, 1
	type write struct {
		typ, name   string
		incarnation int
	}
	for _, c := range []struct {
		what   string
		before []write // the world settles after them
		then   write   // twice
		holds  bool
	}{
		{"another object of the user's", []write{{"ADDED", "total", user}}, write{"MODIFIED", "total", program}, true},
		{"the object that is reconciled", []write{{"ADDED", "a", user}}, write{"MODIFIED", "a", program}, false},
		{"the program's own object", []write{{"ADDED", "child", program}, {"MODIFIED", "child", user}},
			write{"MODIFIED", "child", program}, false},
		{"what the program has written last", []write{{"ADDED", "total", user}, {"MODIFIED", "total", program}},
			write{"MODIFIED", "total", program}, false},
		{"what others have changed in between", []write{{"ADDED", "total", user}, {"MODIFIED", "total", program},
			{"MODIFIED", "total", user}, {"MODIFIED", "total", program}}, write{"MODIFIED", "total", program}, true},
		{"an object that is deleted", []write{{"ADDED", "total", user}}, write{"DELETED", "total", program}, false},
		{"an object that is made", []write{{"ADDED", "total", user}, {"DELETED", "total", user}},
			write{"ADDED", "total", program}, false},
	} {
		h := &history.History{}
		add := func(w write) {
			e := history.Event{Kind: history.Request, Incarnation: w.incarnation, Changes: []history.Change{
				{Type: w.typ, Ref: history.Ref{Kind: "ConfigMap", Namespace: "default", Name: w.name}}}}
			if w.incarnation > 0 {
				key := history.Key{Controller: "c", Namespace: "default", Name: "a"}
				e.Process, e.Reconcile = "operator", history.Reconcile{Key: key, N: 1}
			}
			h.Add(e)
		}
		for _, w := range c.before {
			add(w)
		}
		h.Add(history.Event{Kind: history.Settled})
		add(c.then)
		add(c.then)
		if err := IdempotentAtRest()(h); (err == nil) != c.holds {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}
