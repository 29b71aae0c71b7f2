package reports

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
)

// The runs in testdata are real ones, of the promotion operator, as -sim.report wrote them.
func read(t *testing.T, name string) Run {
	t.Helper()
	r, err := ReadRun(filepath.Join("testdata", name+RunSuffix))
	if err != nil {
		t.Fatal(err)
	}
	return *r
}

// The chain of each story contains these links.
func TestChainLeadsToTheViolation(t *testing.T) {
	for name, want := range map[string][]string{
		"record-lost": {"fault was injected in it", "fault lost its reply", "request the same effect, made before",
			"done requested a requeue"},
		"cache-lags": {
			"request not in its cache yet, which held rv 21 of Pipeline shop/web",
			"request stale read of Pipeline shop/web", "deliver triggered it",
		},
		"dies": {"request not recorded when it was killed", "crash its memory was lost",
			"request the same effect, made before"},
	} {
		r := read(t, name)
		var got []string
		links := Chain(r.History)
		for _, l := range links {
			if l.From >= l.To {
				t.Errorf("%s: event %d cannot lead to %d", name, l.From, l.To)
			}
			got = append(got, fmt.Sprintf("%s %s", r.History.Events[l.From].Kind, l.Why))
		}
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: the chain lacks %q:\n%s", name, w, strings.Join(got, "\n"))
			}
		}
		if last := links[len(links)-1]; r.History.Events[last.To].Kind != history.Violation {
			t.Errorf("%s: the chain does not end at the violation", name)
		}
	}
}

// A run reads back as it was, and gives the same page each time.
func TestAPageIsAFunctionOfItsRun(t *testing.T) {
	r := read(t, "dies")
	dir := t.TempDir()
	path, err := WriteRun(dir, r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadRun(strings.TrimSuffix(path, ".html") + RunSuffix)
	if err != nil {
		t.Fatal(err)
	}
	if at, what := history.Difference(r.History, again.History); at >= 0 {
		t.Error(what)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	second, err := timelinePage(*again)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("the same run gives two pages")
	}
}

var outside = regexp.MustCompile(`(?i)\b(src|href)=["']?(https?:|//|[a-z./]+\.(js|css))|@import|url\(`)

// Pages need nothing but themselves, and 500 steps fit into one mebibyte.
func TestPagesAreSelfContainedAndSmall(t *testing.T) {
	page, err := timelinePage(long(500))
	if err != nil {
		t.Fatal(err)
	}
	if len(page) > 1<<20 {
		t.Errorf("500 steps take %d bytes", len(page))
	}
	t.Logf("500 steps take %d bytes", len(page))
	beside, err := SideBySide(read(t, "dies"), read(t, "record-lost"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range [][]byte{page, beside} {
		if m := outside.Find(p); m != nil {
			t.Errorf("the page reaches for %q", m)
		}
		if !bytes.Contains(p, []byte("default-src 'none'")) {
			t.Error("the page does not forbid itself the network")
		}
	}
}

// Whatever a run says is text: it cannot end the element that contains it.
func TestNothingFromARunIsMarkup(t *testing.T) {
	r := read(t, "dies")
	r.Story.Message = "</script><script>alert(1)</script>"
	r.History.Events[0].Note = "<!--<script>"
	page, err := timelinePage(r)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(page, []byte("<script>alert")) || bytes.Contains(page, []byte("<!--<script>")) {
		t.Error("markup got through")
	}
}

// A reader without script sees the violation and the replay command, not only the story.
func TestWithoutScriptAPageSaysWhatBroke(t *testing.T) {
	r := read(t, "dies")
	page, err := timelinePage(r)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := bytes.Cut(page, []byte("<noscript><pre>"))
	text, _, _ = bytes.Cut(text, []byte("</pre></noscript>"))
	plain := html.UnescapeString(string(text))
	s := r.Story
	wanted := []string{s.Headline() + "\n", s.Message + "\n", "replay: " + s.Replay + "\n", r.History.Render()[0]}
	for _, want := range wanted {
		if !strings.Contains(plain, want) {
			t.Errorf("%q is not in\n%s", want, plain)
		}
	}
}

func TestFirstDifferenceOfTwoRuns(t *testing.T) {
	a := read(t, "dies")
	if at := firstDifference(a, a); at != -1 {
		t.Errorf("a run differs from itself at %d", at)
	}
	b := read(t, "record-lost")
	at := firstDifference(a, b)
	if at <= 0 || a.History.Events[at-1].String() != b.History.Events[at-1].String() {
		t.Errorf("they differ first at %d", at)
	}
	short := a
	short.History = &history.History{Events: a.History.Events[:5]}
	if at := firstDifference(short, a); at != 5 {
		t.Errorf("a run that ends sooner differs first at %d", at)
	}
}

// The embedded files are built from the sources in web. make web builds them.
func TestTheEmbeddedScriptIsOfItsSources(t *testing.T) {
	files := []string{"build.mjs", "package-lock.json"}
	sources, err := filepath.Glob("web/src/*")
	if err != nil || len(sources) < 5 {
		t.Fatal(sources, err)
	}
	for _, s := range sources {
		files = append(files, "src/"+filepath.Base(s))
	}
	slices.Sort(files)
	sum := sha256.New()
	for _, f := range files {
		data, err := os.ReadFile("web/" + f)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(sum, "%s\n", f)
		sum.Write(data)
	}
	stamp, err := os.ReadFile("dist/STAMP")
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != strings.TrimSpace(string(stamp)) {
		t.Error("dist was not built from the sources in web; run make web")
	}
}

// long is a run of about n steps. Two processes write in turn, one of them with a lagging cache,
// with crashes in between and a violation at the end.
func long(n int) Run {
	h := &history.History{}
	at := time.Duration(0)
	add := func(e history.Event) int {
		at += 3 * time.Millisecond
		e.Step, e.At = len(h.Events)+1, at
		return h.Add(e)
	}
	incarnation := 1
	add(history.Event{Kind: history.Start, Process: "left", Incarnation: 1})
	add(history.Event{Kind: history.Start, Process: "right", Incarnation: 1})
	var object []byte
	for rv := int64(1); len(h.Events) < n; rv++ {
		ref := history.Ref{Kind: "Widget", Namespace: "shop", Name: fmt.Sprintf("w%d", rv%20)}
		before := object
		object, _ = json.Marshal(map[string]any{
			"apiVersion": "example.org/v1", "kind": "Widget",
			"metadata": map[string]any{
				"name": ref.Name, "resourceVersion": fmt.Sprint(rv), "managedFields": strings.Repeat("f:spec ", 40),
			},
			"spec": map[string]any{"count": rv, "text": strings.Repeat("word ", 60)},
		})
		reconcile := history.Reconcile{Key: history.Key{Controller: "widgets", Namespace: "shop", Name: ref.Name},
			N: int(rv)}
		left := func(e history.Event) int {
			e.Process, e.Incarnation, e.Reconcile = "left", incarnation, reconcile
			return add(e)
		}
		left(history.Event{Kind: history.Dequeue, Cause: history.Cause{
			Kind: history.CauseWatch, Verb: "MODIFIED", Object: "Widget"}})
		change := history.Change{Type: "MODIFIED", Ref: ref, Revision: rv, Object: object, Previous: before, At: at}
		w := left(history.Event{
			Kind: history.Request, Verb: "update", Ref: ref, Code: 200, Revision: rv, Server: rv,
			Sent: object, Received: object, Changes: []history.Change{change},
		})
		left(history.Event{Kind: history.Reply, Call: w, Verb: "update", Ref: ref, Code: 200})
		left(history.Event{Kind: history.Done, Outcome: history.Outcome{Kind: history.OutcomeSuccess}})
		add(history.Event{Kind: history.Deliver, Process: "right", Incarnation: 1, Verb: "MODIFIED", Ref: ref,
			Revision: rv})
		if rv%400 == 0 {
			add(history.Event{Kind: history.Crash, Process: "left", Incarnation: incarnation})
			incarnation++
			add(history.Event{Kind: history.Start, Process: "left", Incarnation: incarnation})
		}
	}
	add(history.Event{Kind: history.Violation, Note: `always "widgets are few" broke: there are too many`})
	return Run{Name: fmt.Sprintf("A run of %d steps", n), History: h}
}

// restarts is a run in which a process is killed in each of its incarnations but the last.
func restarts(incarnations int) Run {
	h := &history.History{}
	add := func(e history.Event) {
		e.Step, e.At = len(h.Events)+1, time.Duration(len(h.Events))*time.Millisecond
		h.Add(e)
	}
	key := history.Key{Controller: "widgets", Namespace: "shop", Name: "w"}
	for n := 1; n <= incarnations; n++ {
		if n > 1 {
			add(history.Event{Kind: history.Crash, Process: "operator", Incarnation: n - 1})
		}
		add(history.Event{Kind: history.Start, Process: "operator", Incarnation: n})
		add(history.Event{Kind: history.Dequeue, Process: "operator", Incarnation: n,
			Reconcile: history.Reconcile{Key: key, N: 1}, Cause: history.Cause{Kind: history.CauseInitialList}})
	}
	add(history.Event{Kind: history.Violation, Note: `always "the operator rests" broke: it does not`})
	return Run{Name: fmt.Sprintf("restarts-%d", incarnations), History: h}
}

// Many incarnations share a lane, and each row still says which one acts.
func TestManyIncarnationsShareALane(t *testing.T) {
	for incarnations, want := range map[int]string{
		2:   "API server, operator/1, operator/2",
		473: "API server, operator/1–473",
	} {
		m := newModel(restarts(incarnations))
		var names []string
		for _, l := range m.Lanes {
			names = append(names, l.Name)
		}
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("the lanes of %d incarnations are %s", incarnations, got)
		}
		for i, e := range m.Events[:len(m.Events)-1] {
			if e.Lane < 1 {
				t.Fatalf("event %d has the lane %d", i, e.Lane)
			}
		}
		last := m.Events[len(m.Events)-2]
		if who := map[int]string{2: "", 473: "operator/473"}[incarnations]; last.Who != who {
			t.Errorf("the last reconcile is of %q, want %q", last.Who, who)
		}
	}
	if n := strings.Count(sequenceDiagram(restarts(473).History), "participant"); n != 2 {
		t.Errorf("the sequence diagram has %d participants, want 2", n)
	}
}

// What make pages needs in addition to the demo's pages: a run that the browser's tests know, and
// long runs, for which they measure how soon they are painted.
func TestWritePagesForTheBrowser(t *testing.T) {
	out := os.Getenv("WAVETANK_PAGES")
	if out == "" {
		t.Skip("it writes files for make pages, which asks for it")
	}
	known := read(t, "dies")
	known.File = "known.txtar"
	if _, err := WriteRun(filepath.Join(out, "known"), known); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{500, 50000} {
		r := long(n)
		r.Name = fmt.Sprintf("long-%d", n)
		if _, err := WriteRun(filepath.Join(out, "long"), r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := WriteRun(filepath.Join(out, "long"), restarts(473)); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteRun(filepath.Join(out, "explained"), explained(t)); err != nil {
		t.Fatal(err)
	}
	campaign := campaignOf("p, under Crash")
	campaign.Package = "github.com/an-organisation/an-operator/internal/controller/namespaces"
	campaign.Findings[0].Property = "a namespace that a user has deleted is not created again by the operator"
	dir := filepath.Join(out, "wrong")
	if err := campaign.Write(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteIndex(dir, Front{Title: "What was found"}); err != nil {
		t.Fatal(err)
	}
}

// explained is a run with a paragraph and with measured shares. It has a process with a long name,
// and lines that need several rows.
func explained(t *testing.T) Run {
	r := read(t, "dies")
	r.Name = "explained"
	for i := range r.History.Events {
		if e := &r.History.Events[i]; e.Incarnation > 0 {
			e.Process = "namespace-controller"
		}
		if e := &r.History.Events[i]; e.Kind == history.Done {
			e.Outcome = history.Outcome{Kind: history.OutcomeFailure,
				Text: strings.Repeat("the server is unable to continue; ", 7)}
		}
	}
	last := r.History.Events[len(r.History.Events)-1].Step
	r.Story.Why = []string{"The last step that led to it was at 00:01.002: namespace-controller/1 create Namespace a."}
	r.Story.Measured = []string{"It was decided then: after that, 20 of 20 continuations violate the property."}
	r.Story.Shares = []story.Share{{Step: 0, Violating: 0, Of: 20}, {Step: last / 2, Violating: 5, Of: 20},
		{Step: last, Violating: 20, Of: 20, Rises: true}}
	for i := range r.History.Events {
		if e := &r.History.Events[i]; e.Kind == history.Request && e.Incarnation > 0 {
			e.Reads = []history.Read{{Step: e.Step, Ref: history.Ref{Kind: "Secret", Namespace: "shop"}, Found: 2,
				Source: "pkg/op.go:7"}}
		}
	}
	return r
}

// The page has the paragraph and the shares of the story.
func TestTheModelHasTheExplanation(t *testing.T) {
	m := newModel(explained(t))
	if len(m.Why) != 2 || len(m.Shares) != 3 || m.Shares[1].Violating != 5 || !m.Shares[2].Rises {
		t.Errorf("%q, %v", m.Why, m.Shares)
	}
	reads := 0
	for _, e := range m.Events {
		if len(e.Reads) == 1 && e.Reads[0] == "pkg/op.go:7 (list Secret in shop: 2 objects)" {
			reads++
		}
	}
	if reads == 0 {
		t.Error("no request has the read before it")
	}
}

// Each API server has a lane and its own revisions. A write in one cluster is not confused with
// that of another.
func TestTwoClustersAreKeptApart(t *testing.T) {
	h := &history.History{}
	write := func(cluster string) {
		ref := history.Ref{Cluster: cluster, Kind: "Pod", Name: "a"}
		changes := []history.Change{{Type: "ADDED", Ref: ref, Revision: 7}}
		h.Add(history.Event{
			Kind: history.Request, Process: "user", Verb: "create", Ref: ref, Revision: 7, Changes: changes,
		})
	}
	write("")
	write("prod.example")
	pod := history.Ref{Kind: "Pod", Name: "a"}
	h.Add(history.Event{Kind: history.Deliver, Process: "p", Incarnation: 1, Verb: "ADDED", Ref: pod, Revision: 7})
	h.Add(history.Event{Kind: history.Request, Process: apiserver, Verb: "POST", Host: "hook.example"})
	m := newModel(Run{Name: "two clusters", History: h})
	var names []string
	for _, l := range m.Lanes {
		names = append(names, l.Name)
	}
	if got := strings.Join(names, ", "); got != "user, API server, prod.example, p/1, hook.example" {
		t.Errorf("the lanes are %s", got)
	}
	if m.Events[0].To == m.Events[1].To || m.Events[2].Partner != 1 || m.Events[3].Lane != 1 {
		t.Errorf("%+v", m.Events)
	}
}
