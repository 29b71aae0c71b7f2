package fault

import (
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/inject"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// fakeWorld is an environment without a world: every choice gets the same answer, and nothing
// happens by itself.
type fakeWorld struct {
	now    time.Duration
	ended  bool
	answer int // to every choice
	// answers are those to the first choices.
	answers []int
	window  time.Duration

	labels []story.Label // of the choices
	odds   []int
	record history.History
	parked []*sched.Action
	writes []apiserver.Request
}

func (f *fakeWorld) Now() time.Duration { return f.now }
func (f *fakeWorld) Ended() bool        { return f.ended }

func (f *fakeWorld) Rarely(label story.Label, _, odds int) int {
	f.labels, f.odds = append(f.labels, label), append(f.odds, odds)
	if n := len(f.labels); n <= len(f.answers) {
		return f.answers[n-1]
	}
	return f.answer
}

func (f *fakeWorld) Note(e history.Event)      { f.record.Add(e) }
func (f *fakeWorld) History() *history.History { return &f.record }
func (f *fakeWorld) Server() *apiserver.Server { return nil }

func (f *fakeWorld) Write(_ string, r apiserver.Request) *apiserver.Response {
	f.writes = append(f.writes, r)
	return &apiserver.Response{}
}

func (f *fakeWorld) Park(a *sched.Action)              { f.parked = append(f.parked, a) }
func (f *fakeWorld) Drop(*sched.Action) bool           { return true }
func (f *fakeWorld) Disturb()                          {}
func (f *fakeWorld) Controllers() []process.Controller { return nil }
func (f *fakeWorld) Started(process string) bool       { return process == "op" }
func (f *fakeWorld) Window() time.Duration             { return f.window }

// write is a request of process op to patch the status of a ConfigMap.
func write() *wire.Call {
	u := &url.URL{Path: "/api/v1/namespaces/default/configmaps/a/status", RawQuery: "fieldManager=op"}
	return &wire.Call{
		Port: &wire.Port{Process: "op", Incarnation: 2}, Kind: "ConfigMap",
		Request: apiserver.Request{Method: "PATCH", URL: u},
		Info: apiserver.Info{
			Verb: "patch", Resource: "configmaps", Namespace: "default", Name: "a", Subresource: "status",
		},
	}
}

func TestCheckSaysWhyAFaultCannotBeDeclared(t *testing.T) {
	const unknown = `names process "other", which has not been started`
	for _, c := range []struct {
		fault Fault
		want  string
	}{
		{StaleCache(time.Second, In("op"), OfKind("Pod")), ""},
		{StaleCache(-time.Second), "has a negative duration"},
		{Pause("op", -time.Second), "has a negative duration"},
		{Crash("other"), unknown},
		{LostReply(In("other")), unknown},
		{StaleServer(time.Hour), "lags further than the history kept by sim.Window (1m0s)"},
		{LostReply(In("op"), OnVerb("get"), OnVerb("list")),
			"is narrowed by fault.OnVerb twice; declare a fault for each"},
	} {
		got := ""
		if err := begin(c.fault, &fakeWorld{window: time.Minute}).Check(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: the check says %q; expected %q", c.fault, got, c.want)
		}
	}
}

// begin makes the fault of one run.
func begin(f Fault, env inject.Env) inject.Fault { return f.(inject.Declaration).Begin(env) }

// A scope that a fault does not take does not compile as its argument.
func TestScopeIsTakenByFaultsThatItNarrows(t *testing.T) {
	takes := map[string]reflect.Type{
		"Scope": reflect.TypeFor[Scope](), "ProcessScope": reflect.TypeFor[ProcessScope](),
		"CrashScope": reflect.TypeFor[CrashScope](), "CacheScope": reflect.TypeFor[CacheScope](),
		"QueueScope": reflect.TypeFor[QueueScope](),
	}
	for s, want := range map[narrower][]string{
		In(""):      {"CacheScope", "QueueScope", "Scope"},
		OfKind(""):  {"CacheScope", "CrashScope", "ProcessScope", "Scope"},
		OnVerb(""):  {"CrashScope", "ProcessScope", "Scope"},
		Named(""):   {"CacheScope", "CrashScope", "ProcessScope", "QueueScope", "Scope"},
		AtOnce():    {"CrashScope"},
		HardLimit(): {"CacheScope"},
	} {
		t.Run(reflect.TypeOf(s).Name(), func(t *testing.T) {
			var got []string
			for name, of := range takes {
				if reflect.TypeOf(s).Implements(of) {
					got = append(got, name)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("it is a %v; expected %v", got, want)
			}
		})
	}
}

// odd is a fault that this test adds: a fault needs nothing but this package.
type odd struct{ core }

func (o *odd) Arrive(c *wire.Call) wire.Ruling {
	if o.injectedAt(c, "before", 3, 20, 5) == 0 {
		return wire.Ruling{}
	}
	o.note(c, "oddly,")
	return wire.Ruling{Again: true, Seen: o.observed}
}

func oddly(scopes ...Scope) Fault {
	return declare("Oddly", "", scopes, func(c core) inject.Fault { return &odd{c} })
}

func TestANewFaultNeedsThisPackageOnly(t *testing.T) {
	w := &fakeWorld{answer: 2}
	f := begin(oddly(OnVerb("patch")), w)
	f.Arm(1)
	var set inject.Set
	set.Add(f)
	ruling := set.Arrive(write())
	if !ruling.Again || ruling.Seen == nil {
		t.Fatalf("the set rules %+v; expected what the fault rules", ruling)
	}
	ruling.Seen()
	want := inject.Count{Fault: "Oddly on patch", Class: "Oddly", Opportunities: 1, Injected: 1, Observed: 1,
		Classes: []inject.ClassCount{
			{Class: choice.Class{Verb: "patch", Kind: "ConfigMap"}, Opportunities: 1, Injected: 1}}}
	if got := set.Counts(); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("the counts are %+v; expected %+v", got, want)
	}
	label := story.Label{Kind: story.Inject, Of: "Oddly", Who: "before op", Verb: "patch",
		What: "ConfigMap default/a/status"}
	if len(w.labels) != 1 || w.labels[0] != label {
		t.Errorf("the choices are %v; expected %v alone", w.labels, label)
	}
	e := w.record.Events[0]
	if note := "Oddly: oddly, patch ConfigMap default/a/status"; e.Kind != history.Fault || e.Incarnation != 2 ||
		e.Remark() != note || !e.Injection.Is("Oddly") || e.Injection.Verb != "patch" {
		t.Errorf("recorded is %+v; expected the fault %q", e, note)
	}
}

func TestEachRunBeginsAfresh(t *testing.T) {
	declared := oddly()
	for range 2 {
		f := begin(declared, &fakeWorld{answer: 1})
		if f.Armed() || f.Count().Opportunities > 0 {
			t.Fatal("the fault continues from the run before")
		}
		f.Arm(2)
		f.(inject.Arriver).Arrive(write())
		if !f.Armed() || f.Count().Injected != 1 {
			t.Errorf("the counts are %+v; expected one injection", f.Count())
		}
	}
}

// Without eagerness, after the end of faults, and outside its scope, a fault asks for no choice.
// What it could have done when it is off is an opportunity.
func TestWhenChoicesAreAsked(t *testing.T) {
	for name, c := range map[string]struct {
		eagerness     int
		ended         bool
		scope         Scope
		opportunities int
		odds          []int
	}{
		"off":              {0, false, In("op"), 1, nil},
		"rare":             {1, false, In("op"), 1, []int{20}},
		"often":            {2, false, In("op"), 1, []int{5}},
		"ended":            {2, true, In("op"), 0, nil},
		"another verb":     {2, false, OnVerb("create"), 0, nil},
		"another kind":     {2, false, OfKind("Secret"), 0, nil},
		"another object":   {2, false, Named("default/b"), 0, nil},
		"the named object": {2, false, Named("default/a"), 1, []int{5}},
	} {
		w := &fakeWorld{ended: c.ended}
		f := begin(oddly(c.scope), w)
		f.Arm(c.eagerness)
		f.(inject.Arriver).Arrive(write())
		if got := f.Count().Opportunities; got != c.opportunities {
			t.Errorf("%s: there were %d opportunities; expected %d", name, got, c.opportunities)
		}
		if len(w.odds) != len(c.odds) || len(c.odds) > 0 && w.odds[0] != c.odds[0] {
			t.Errorf("%s: choices were asked with odds %v; expected %v", name, w.odds, c.odds)
		}
	}
}

// The labels of choices are in stories: they may not change.
func TestFaultsAreWrittenAsTheyWereDeclared(t *testing.T) {
	for want, f := range map[string]Fault{
		"StaleCache(30s) in op of Pod":           StaleCache(30*time.Second, OfKind("Pod"), In("op")),
		"LostReply on create named default/a":    LostReply(Named("default/a"), OnVerb("create")),
		"Crash(op)":                              Crash("op", OfKind("Pod"), AtOnce()),
		"Pause(op, 2m0s)":                        Pause("op", 2*time.Minute),
		"WebhookDown(5m0s) named policy.example": WebhookDown(5*time.Minute, Named("policy.example")),
	} {
		if got := f.String(); got != want {
			t.Errorf("the fault is written %q; expected %q", got, want)
		}
		if got := begin(f, &fakeWorld{}).String(); got != want {
			t.Errorf("in a run the fault is written %q; expected %q", got, want)
		}
	}
	crash := begin(Crash("op", OfKind("Pod"), AtOnce()), &fakeWorld{})
	if got, want := crash.Count().Fault, "Crash(op) of Pod at once"; got != want {
		t.Errorf("the count is that of %q; expected %q", got, want)
	}
}

func TestAFaultThatLastsCountsOnce(t *testing.T) {
	w := &fakeWorld{answer: 6} // the whole time
	f := begin(Unreachable(time.Minute), w)
	f.Arm(1)
	arrive := f.(inject.Arriver).Arrive
	for range 3 {
		ruling := arrive(write())
		if ruling.Lose == nil {
			t.Fatal("the request reached the server")
		}
		if ruling.Seen != nil {
			ruling.Seen()
		}
	}
	if got := f.Count(); got.Injected != 1 || got.Observed != 1 {
		t.Errorf("the counts are %+v; expected one injection, observed once", got)
	}
	lag := f.(inject.Lagger).Lag(&wire.Stream{Port: write().Port}, apiserver.Frame{})
	if lag != time.Minute {
		t.Errorf("watch events are %v late; expected a minute", lag)
	}
	w.now, w.answer = time.Minute, 0
	if ruling := arrive(write()); ruling.Lose != nil {
		t.Error("the fault lasts longer than its time")
	}
	f.(inject.Ender).End()
	w.now = 0
	if ruling := arrive(write()); ruling.Lose != nil {
		t.Error("the fault continues after its end")
	}
}

func TestConflictPatchesTheObjectItself(t *testing.T) {
	w := &fakeWorld{answer: 1}
	f := begin(Conflict(), w)
	f.Arm(1)
	f.(inject.Arriver).Arrive(write())
	if len(w.writes) != 1 {
		t.Fatalf("another writer sent %d requests; expected one", len(w.writes))
	}
	if u := w.writes[0].URL.String(); u != "/api/v1/namespaces/default/configmaps/a" {
		t.Errorf("another writer patches %s; expected the object without subresource and query", u)
	}
	body := `{"metadata":{"annotations":{"wavetank.example/touched":"1 times"}}}`
	if got := string(w.writes[0].Body); got != body {
		t.Errorf("another writer sends %s; expected %s", got, body)
	}
}

func TestHostDownRefusesOrDoesNotAnswer(t *testing.T) {
	for answer, c := range map[int]struct {
		how, err string
		wait     time.Duration
		length   time.Duration
	}{
		1:  {"refused for 1s", "dial tcp: connection refused", 0, time.Second},
		12: {"no answer for 4m16s", "dial tcp: i/o timeout", 30 * time.Second, 256 * time.Second},
	} {
		w := &fakeWorld{answer: answer}
		f := begin(HostDown(256*time.Second), w)
		f.Arm(1)
		for w.now = range 2 { // the second request meets the same window
			call := write()
			call.Host = "mail.example"
			ruling := f.(inject.Arriver).Arrive(call)
			if ruling.Lose == nil || ruling.Lose.Error() != c.err || call.Wait != c.wait {
				t.Errorf("%d: the request ends with %v after %v; expected %s after %v", answer, ruling.Lose, call.Wait,
					c.err, c.wait)
			}
		}
		if n := f.Count(); n.Injected != 1 || n.Observed != 1 || len(w.record.Events) != 1 ||
			!strings.Contains(w.record.Events[0].Remark(), c.how) {
			t.Errorf("%d: the counts are %+v, the events %+v; expected one %q", answer, n, w.record.Events, c.how)
		}
		if w.answer, w.now = 0, c.length; f.(inject.Arriver).Arrive(write()).Lose != nil {
			t.Errorf("%d: the host is down for longer than %v", answer, c.length)
		}
	}
}

func TestFailedPodIsChosenForAJobAndForAPod(t *testing.T) {
	pod := func(name string, owner ...metav1.OwnerReference) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, OwnerReferences: owner}}
	}
	job := metav1.OwnerReference{Kind: "Job", Name: "a", UID: "1", Controller: new(true)}
	for _, c := range []struct {
		answers []int // to the choices
		pods    []*corev1.Pod
		scope   Named
		codes   []int32
		labels  []string
		notes   []string
	}{
		{[]int{2}, []*corev1.Pod{pod("p"), pod("p")}, "", []int32{137, 0}, []string{"Pod default/p", "Pod default/p"},
			[]string{"FailedPod: ends with 137: Pod default/p"}},
		{[]int{1}, []*corev1.Pod{pod("a-1", job), pod("a-2", job)}, "", []int32{1, 1}, []string{"Job default/a"},
			[]string{"FailedPod: every Pod ends with 1: Job default/a"}},
		{[]int{0, 1}, []*corev1.Pod{pod("a-1", job), pod("a-2", job)}, "", []int32{1, 0},
			[]string{"Job default/a", "Pod default/a-1", "Pod default/a-2"},
			[]string{"FailedPod: ends with 1: Pod default/a-1"}},
		{[]int{0, 1}, []*corev1.Pod{pod("p"), pod("a-1", job)}, "default/a", []int32{0, 1},
			[]string{"Job default/a", "Pod default/a-1"}, []string{"FailedPod: ends with 1: Pod default/a-1"}},
	} {
		w := &fakeWorld{answers: c.answers}
		f := begin(FailedPod(c.scope), w)
		f.Arm(1)
		var codes []int32
		for _, p := range c.pods {
			codes = append(codes, f.(inject.PodExiter).PodExit(p, "default/"+p.Name))
		}
		var labels, notes []string
		for _, l := range w.labels {
			labels = append(labels, l.What)
		}
		for _, e := range w.record.Events {
			notes = append(notes, e.Remark())
		}
		if !slices.Equal(codes, c.codes) || !slices.Equal(labels, c.labels) || !slices.Equal(notes, c.notes) {
			t.Errorf("%v: the codes are %v, chosen at %q, noted as %q; expected %v, %q, %q", c.answers, codes, labels,
				notes, c.codes, c.labels, c.notes)
		}
	}
}
