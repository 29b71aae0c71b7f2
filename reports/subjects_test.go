package reports

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
)

// recorded is a history written by hand, a step for each event.
type recorded struct{ history.History }

func (r *recorded) add(e history.Event) {
	e.Step = r.Len() + 1
	e.At = time.Duration(e.Step) * time.Second
	r.Add(e)
}

func (r *recorded) write(process, verb string, ref history.Ref, revision int64, kind string) {
	e := history.Event{Kind: history.Request, Process: process, Verb: verb, Ref: ref, Code: 200, Revision: revision,
		Changes: []history.Change{{Type: kind, Ref: ref, Revision: revision, Object: []byte(`{}`)}}}
	if process != "user" {
		e.Incarnation = 1
	}
	r.add(e)
}

func (r *recorded) violated(sentence string) {
	r.add(history.Event{Kind: history.Violation, Note: sentence})
}

// led are the lines of the excerpt's choice, with their notes.
func (r *recorded) led(choices ...story.Choice) (out []string) {
	lines := r.Render()
	for _, l := range CauseOf(&r.History, choices).Led {
		out = append(out, lines[l.Line])
		out = append(out, l.Notes...)
	}
	return out
}

// by is an event of the only incarnation of the operator.
func by(kind history.Kind, verb string, ref history.Ref, revision int64) history.Event {
	return history.Event{Kind: kind, Process: "op", Incarnation: 1, Verb: verb, Ref: ref, Revision: revision}
}

func contains(lines []string, what string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, what) })
}

var (
	late    = history.Ref{Kind: "Tenant", Name: "late"}
	lateDev = history.Ref{Kind: "Namespace", Name: "late-dev"}
	acme    = history.Ref{Kind: "Tenant", Name: "acme"}
)

// The sentence names one object of two: its creation and its deletion are shown, with those of the
// object whose name begins with its name.
func TestLedShowsWhatTheSentenceNames(t *testing.T) {
	var r recorded
	r.write("user", "create", late, 1, "ADDED")
	r.write("op", "create", lateDev, 2, "ADDED")
	r.write("user", "create", acme, 3, "ADDED")
	r.write("op", "delete", lateDev, 4, "MODIFIED")
	for i := range 9 {
		r.write("user", "update", acme, int64(5+i), "MODIFIED")
	}
	r.violated("the account of late is closed, and late-dev is there")
	got := r.led()
	for _, want := range []string{"create Tenant late", "create Namespace late-dev", "delete Namespace late-dev"} {
		if !contains(got, want) {
			t.Errorf("%q is not shown:\n%s", want, strings.Join(got, "\n"))
		}
	}
	if contains(got, "create Tenant acme") {
		t.Errorf("an object that the sentence does not name is shown:\n%s", strings.Join(got, "\n"))
	}
}

// Two equal requests to the outside are both shown, whatever the sentence says.
func TestLedShowsEffectsThatHappenTwice(t *testing.T) {
	var r recorded
	post := func(path string) {
		e := by(history.Request, "POST", history.Ref{}, 0)
		e.Host, e.Path, e.Code = "billing.example", path, 201
		r.add(e)
		r.Record(history.Effect{Event: r.Len() - 1, Kind: history.Requested})
	}
	post("/accounts")
	post("/once")
	r.write("user", "create", acme, 1, "ADDED")
	post("/accounts")
	r.write("user", "update", acme, 2, "MODIFIED")
	r.violated("there are 2 accounts")
	got := r.led()
	posts := 0
	for _, l := range got {
		posts += strings.Count(l, "POST billing.example/accounts")
	}
	if posts != 2 || contains(got, "/once") {
		t.Errorf("%d of 2 requests are shown:\n%s", posts, strings.Join(got, "\n"))
	}
}

// A restart is shown with what the process did last.
func TestLedShowsRestarts(t *testing.T) {
	var r recorded
	r.write("op", "create", lateDev, 1, "ADDED")
	stop := by(history.Stop, "", history.Ref{}, 0)
	stop.Outcome = history.Outcome{Kind: history.OutcomeAsked}
	r.add(stop)
	for i := range 5 {
		r.write("user", "update", acme, int64(2+i), "MODIFIED")
	}
	r.violated("nothing happens")
	if got := r.led(); !contains(got, "asked to stop") || !contains(got, "create Namespace late-dev") {
		t.Errorf("the restart is not shown, or not what was done before it:\n%s", strings.Join(got, "\n"))
	}
}

// A reconcile that decided without having received a write says so, and when the event arrived. A
// write that it had received is not mentioned.
func TestLedSaysWhatACacheLacked(t *testing.T) {
	for name, c := range map[string]struct {
		arrives bool
		choices []story.Choice
		want    string
	}{
		"the event arrives later": {true, nil,
			"its cache lacked Namespace late-dev, created at 00:03.000 by user; the event arrived at 00:07.000, " +
				"and no reconcile " +
				"began after it"},
		"the event is delayed until after the violation": {false,
			[]story.Choice{{ID: story.ID{Label: story.Label{Kind: story.Inject, Of: "StaleCache(30s)", Who: "op",
				Verb: "ADDED", What: "Namespace late-dev"}}}},
			"its cache lacked Namespace late-dev, created at 00:03.000 by user; " +
				"the event did not arrive before the violation"},
		"nothing says that it watches the object": {false, nil, ""},
	} {
		var r recorded
		r.write("user", "create", late, 1, "ADDED")
		r.add(by(history.Deliver, "LIST", history.Ref{Kind: "Namespace"}, 1))
		r.write("user", "create", lateDev, 2, "ADDED")
		of := history.Reconcile{Key: history.Key{Controller: "tenants", Name: "late"}, N: 1}
		began, update := by(history.Dequeue, "", history.Ref{}, 0), by(history.Request, "update", late, 3)
		began.Reconcile, update.Reconcile = of, of
		update.Changes = []history.Change{{Type: "DELETED", Ref: late, Revision: 3}}
		r.add(began)
		r.add(update)
		r.write("user", "update", acme, 4, "MODIFIED")
		if c.arrives {
			r.add(by(history.Deliver, "ADDED", lateDev, 2))
		}
		r.violated("late is gone, and late-dev is there")
		got := r.led(c.choices...)
		if c.want == "" && contains(got, "its cache") || c.want != "" && !slices.Contains(got, c.want) {
			t.Errorf("%s: %q is wanted:\n%s", name, c.want, strings.Join(got, "\n"))
		}
	}
}

// Values that the scenario drew are shown where the story's choices are not the default.
func TestLedShowsDrawsThatMatter(t *testing.T) {
	var r recorded
	r.Drew(history.Draw{Label: "backup 2", Value: `"works"`})
	r.Drew(history.Draw{Label: "backup 3", Value: `"fails"`})
	r.write("user", "create", acme, 1, "ADDED")
	r.violated("there are 0 Jobs")
	got := r.led(story.Choice{ID: story.ID{Label: story.Label{Kind: story.Draw, Of: "backup 3", What: "0"}}, Value: 1})
	if !contains(got, "draws backup 3") || contains(got, "draws backup 2") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// A property may say which objects it is about although its sentence names none: their life led to
// the violation.
func TestWhatThePropertyIsAbout(t *testing.T) {
	for name, about := range map[string][]history.Ref{"said": {lateDev}, "not said": nil} {
		var r recorded
		r.write("op", "create", lateDev, 1, "ADDED")
		for n := range 9 {
			r.write("user", "update", acme, int64(n+2), "MODIFIED")
		}
		r.add(history.Event{Kind: history.Violation, Note: "there is one too many", About: about})
		if got := contains(r.led(), "create Namespace late-dev"); got != (about != nil) {
			t.Errorf("%s: its creation led to it: %v", name, got)
		}
	}
}

// A later write of the status does not hide the last write of the rest of an object.
func TestLedShowsTheLastWriteBesidesTheStatus(t *testing.T) {
	var r recorded
	r.write("user", "create", late, 1, "ADDED")
	r.write("op", "update", late, 2, "MODIFIED")
	for n := range 9 {
		r.write("op", "update", late, int64(n+3), "MODIFIED")
		r.Events[r.Len()-1].Sub = "status"
		r.write("user", "update", acme, int64(n+30), "MODIFIED")
	}
	r.violated("late has changed")
	if led := r.led(); !contains(led, "update Tenant late → rv 2") ||
		!contains(led, "update Tenant late/status → rv 11") {
		t.Errorf("%q", led)
	}
}

// The creations of the objects that a property counted are shown, and writes without a change are
// not.
func TestLedShowsWhatAPropertyCounts(t *testing.T) {
	var r recorded
	job := func(name string) history.Ref { return history.Ref{Group: "batch", Kind: "Job", Name: name} }
	r.write("op", "create", job("a"), 1, "ADDED")
	r.write("op", "create", job("b"), 2, "ADDED")
	for range 9 {
		e := by(history.Request, "patch", acme, 3)
		e.Code = 200
		r.add(e)
	}
	r.add(history.Event{Kind: history.Violation, Note: "there are 2 of them", Read: []history.Ref{job("a"), job("b")}})
	got := r.led()
	if !contains(got, "create Job a") || !contains(got, "create Job b") || contains(got, "(no change)") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}
