package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wavetank/wavetank/history"
)

const second = time.Second

// settings is the type of the objects in these tests.
type settings struct {
	Data map[string]string `json:"data"`
}

var board = history.Ref{Kind: "ConfigMap", Namespace: "default", Name: "board"}

// change is a committed change of an object, as a history has it.
func change(kind, uid, value string, ref history.Ref) history.Change {
	return history.Change{Type: kind, Ref: ref, UID: uid, Object: fmt.Appendf(nil, `{"data":{"v":%q}}`, value)}
}

// run is a history in which a clerk writes twice and is killed during the second reconcile.
func run() *history.History {
	h := &history.History{}
	clerk := func(at time.Duration, k history.Kind, e history.Event) int {
		e.At, e.Kind, e.Process = at, k, "clerk"
		if e.Incarnation == 0 {
			e.Incarnation = 1
		}
		return h.Add(e)
	}
	h.Add(history.Event{At: second, Kind: history.Request, Process: "user", Verb: "create", Ref: board,
		Changes: []history.Change{change("ADDED", "1", "a", board)}})
	clerk(2*second, history.Start, history.Event{})
	key := history.Key{Controller: "clerk", Namespace: "default", Name: "board"}
	initialList, backOff := history.Cause{Kind: history.CauseInitialList}, history.Cause{Kind: history.CauseBackOff}
	failed := history.Outcome{Kind: history.OutcomeFailure, Text: "no luck"}
	crash := &history.Injection{Class: "Crash", Arguments: "clerk"}
	first, next := history.Reconcile{Key: key, N: 1}, history.Reconcile{Key: key, N: 2}
	clerk(3*second, history.Dequeue, history.Event{Reconcile: first, Cause: initialList})
	asked := clerk(4*second, history.Request, history.Event{Reconcile: first, Verb: "update", Ref: board,
		Changes: []history.Change{change("MODIFIED", "1", "b", board)}})
	clerk(5*second, history.Reply, history.Event{Reconcile: first, Call: asked, Code: 200})
	clerk(6*second, history.Done, history.Event{Reconcile: first, Outcome: failed})
	clerk(7*second, history.Dequeue, history.Event{
		Reconcile: next, Cause: backOff, Wait: second, Seen: []history.Seen{{Ref: board}},
	})
	clerk(8*second, history.Request, history.Event{Reconcile: next, Verb: "POST", Host: "mail"})
	h.Record(history.Effect{Kind: "letter", Event: h.Len() - 1})
	clerk(9*second, history.Fault, history.Event{Reconcile: next, Injection: crash})
	clerk(9*second, history.Crash, history.Event{})
	clerk(10*second, history.Start, history.Event{Incarnation: 2})
	h.Add(history.Event{At: 11 * second, Kind: history.Request, Process: "user", Verb: "delete", Ref: board,
		Changes: []history.Change{change("DELETED", "1", "b", board)}})
	h.Add(history.Event{At: 12 * second, Kind: history.Request, Process: "user", Verb: "create", Ref: board,
		Changes: []history.Change{change("ADDED", "2", "c", board)}})
	return h
}

func TestReconciles(t *testing.T) {
	v := New()
	v.Read(run())
	if n := len(v.Reconciles()); n != 2 {
		t.Fatalf("%d reconciles, want 2", n)
	}
	first, next := v.Reconciles()[0], v.Reconciles()[1]
	if first.ID.String() != "clerk default/board #1" || first.Timed {
		t.Errorf("the first reconcile is %+v", first)
	}
	if !first.Over || first.Killed || first.Ended != 6*second || !first.Failed() || !first.Retries() {
		t.Errorf("the first reconcile ended as %+v", first)
	}
	if len(first.Calls) != 1 || first.Calls[0].Reply == nil || first.Calls[0].Reply.Code != 200 || first.Open() != 0 {
		t.Errorf("the requests of the first reconcile are %+v", first.Calls)
	}
	if !next.Timed || !next.BackOff || next.Wait != second || len(next.Stale) != 1 {
		t.Errorf("the second reconcile began as %+v", next)
	}
	if !next.Over || !next.Killed || next.Ended != 9*second || next.Failed() || next.Open() != 1 {
		t.Errorf("the second reconcile ended as %+v", next)
	}
	if len(next.Effects) != 1 || next.Effects[0].Kind != "letter" || len(next.Faults) != 1 || len(first.Effects) != 0 {
		t.Errorf("effects %v and faults %v of the second reconcile", next.Effects, next.Faults)
	}
}

func TestReconcileOfAClusterScopedObject(t *testing.T) {
	name := history.Reconcile{Key: history.Key{Controller: "namespace", Name: "shop"}, N: 12}
	h := &history.History{}
	h.Add(history.Event{Kind: history.Dequeue, Process: "clerk", Incarnation: 1, Reconcile: name})
	v := New()
	v.Read(h)
	if r := v.Reconciles()[0]; r.ID != name || r.ID.String() != "namespace /shop #12" {
		t.Errorf("the reconcile is %v", r.ID)
	}
}

func TestIncarnations(t *testing.T) {
	v := New()
	v.Read(run())
	all := v.Incarnations("clerk")
	if len(all) != 2 || !all[0].Over || !all[0].Killed || all[0].Ended != 9*second || all[1].Over {
		t.Fatalf("the incarnations are %+v", all)
	}
	if now := v.Running("clerk"); now != all[1] || now.String() != "clerk/2" {
		t.Errorf("%v is running", now)
	}
	if v.Running("nobody") != nil || len(v.Incarnations("nobody")) != 0 || len(v.Incarnations("")) != 2 {
		t.Error("a process that never started has incarnations")
	}
}

// An incarnation that was asked to stop runs until it has exited.
func TestAnIncarnationEndsWhenItHasExited(t *testing.T) {
	h := &history.History{}
	h.Add(history.Event{Kind: history.Start, Process: "clerk", Incarnation: 1})
	stop := history.Event{Kind: history.Stop, Process: "clerk", Incarnation: 1}
	stop.Outcome.Kind = history.OutcomeAsked
	h.Add(stop)
	v := New()
	v.Read(h)
	if v.Running("clerk") == nil {
		t.Error("it is over when it was asked to stop")
	}
	stop.Outcome.Kind = history.OutcomeSuccess
	h.Add(stop)
	v.Read(h)
	if i := v.Incarnations("clerk")[0]; !i.Over || i.Killed || !i.Outcome.OK() || v.Running("clerk") != nil {
		t.Errorf("after its exit it is %+v", i)
	}
}

func TestObjectsOverTime(t *testing.T) {
	v := New()
	maps := Follow[settings](v, history.Ref{Kind: "ConfigMap"})
	none := Follow[settings](v, history.Ref{Kind: "Secret"})
	v.Read(run())
	if len(maps.All()) != 2 || len(none.All()) != 0 {
		t.Fatalf("%d ConfigMaps and %d Secrets, want 2 and 0", len(maps.All()), len(none.All()))
	}
	old, now := maps.All()[0], maps.All()[1]
	if old.Exists() || !now.Exists() || maps.ByUID("1") != old || maps.Named(board) != now || maps.ByUID("3") != nil {
		t.Errorf("the objects are %+v and %+v", old, now)
	}
	if at, gone := old.Removed(); !gone || at != 11*second || old.Created() != second {
		t.Errorf("it existed from %v to %v, gone %v", old.Created(), at, gone)
	}
	if live := slices.Collect(maps.Live()); !slices.Equal(live, []*Object[settings]{now}) {
		t.Errorf("live are %v", live)
	}
	var said []string
	for _, s := range old.States {
		said = append(said, fmt.Sprint(s.Value.Data["v"], " ", s.By, " ", s.Gone))
	}
	if d := cmp.Diff([]string{"a user false", "b clerk/1 false", "b user true"}, said); d != "" {
		t.Errorf("states (-want +got):\n%s", d)
	}
	if s := old.When(2); s == nil || s.Value.Data["v"] != "a" || now.When(2) != nil {
		t.Errorf("after event 2 it was %v", s)
	}
	if s := old.Previous(); s.Value.Data["v"] != "b" {
		t.Errorf("before it went it was %v", s)
	}
	is := func(want string) func(*settings) bool {
		return func(s *settings) bool { return s.Data["v"] == want }
	}
	a, b := old.Held(2*second, 60*second, is("a")), old.Held(2*second, 60*second, is("b"))
	if a != 2*second || b != 7*second {
		t.Errorf("it held a for %v and b for %v, want 2s and 7s", a, b)
	}
}

// Two clusters may give the same UID.
func TestObjectsOfTwoClusters(t *testing.T) {
	far := board
	far.Cluster = "far"
	h := &history.History{}
	h.Add(history.Event{Changes: []history.Change{change("ADDED", "1", "a", board), change("ADDED", "1", "b", far)}})
	v := New()
	maps := Follow[settings](v, history.Ref{})
	v.Read(h)
	if len(maps.All()) != 2 || maps.Named(far).Value().Data["v"] != "b" || maps.ByUID("1") != maps.Named(board) {
		t.Errorf("the objects are %v", maps.All())
	}
}

func TestEventsOneByOne(t *testing.T) {
	h, v := run(), New()
	maps := Follow[settings](v, history.Ref{})
	read, changed := 0, 0
	for e := range v.New(h) {
		read++
		changed += len(maps.Changed())
		if e.Kind == history.Done && (v.Of(e) == nil || !v.Of(e).Over) {
			t.Errorf("at %s its reconcile is %v", e, v.Of(e))
		}
		if read == 3 {
			break
		}
	}
	for e := range v.New(h) {
		read++
		changed += len(maps.Changed())
		if e.Reconcile.None() && v.Of(e) != nil {
			t.Errorf("%s lies in reconcile %s", e, v.Of(e).ID)
		}
	}
	if read != h.Len() || changed != 4 {
		t.Errorf("%d events with %d changes were read, want %d with 4", read, changed, h.Len())
	}
}

func TestMistakesPanic(t *testing.T) {
	for _, c := range []struct {
		name, want string
		do         func(v *View)
	}{
		{"a track that begins late", "must be called before the view reads", func(v *View) {
			v.Read(run())
			Follow[settings](v, history.Ref{})
		}},
		{"a wrong type", "ConfigMap default/board cannot be decoded into []string", func(v *View) {
			Follow[[]string](v, history.Ref{})
			v.Read(run())
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, c.want) {
					t.Errorf("it panics with %q, want %q", got, c.want)
				}
			}()
			c.do(New())
		})
	}
}
