package reports

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
)

// result is a campaign that found the stories of some runs, and did not reach one of its sometimes
// properties.
func result(t *testing.T, names ...string) *story.Result {
	r := &story.Result{
		Test: "TestX/a_case", Package: "example.org/m/pkg/x", Seed: 7, Strategy: "portfolio", Planned: 100, Shards: 1,
		Complete: true, Runs: 100, Elapsed: 2 * time.Second, Steps: 12345, Doubled: 2, Orders: 30,
		Versions: map[string]string{"go": "go1.26"},
		Faults: []story.FaultTotal{
			{Fault: "Crash(p)", Opportunities: 10, Injected: 4, Observed: 1},
			{Fault: "Expired", Opportunities: 3},
		},
		Sometimes: []story.ProbeTotal{
			{Sentence: "it dies in between", Site: "x_test.go:9", Reached: 12},
			{Sentence: "100% of it, never", Site: "x_test.go:10"},
		},
		Strategies: []story.StrategyTotal{{Name: "random", Runs: 60, Finds: 1}, {Name: "sweep", Runs: 40}},
		Growth:     []story.Growth{{Runs: 1, Orders: 5}, {Runs: 50, Orders: 28}, {Runs: 100, Orders: 30}},
	}
	for i, d := range []time.Duration{3, 9, 1, 7, 5, 8} {
		r.Slow(story.SlowRun{Run: i, Strategy: "random", Elapsed: d * time.Millisecond})
	}
	for _, n := range names {
		s := read(t, n).Story
		r.Found(story.Finding{
			Cause: s.Property + ", under " + n, Kind: s.Kind, Property: s.Property, Count: 2, Strategy: "random",
			Story: string(s.Encode()), Steps: s.After.Steps,
		})
	}
	return r
}

var escapes = regexp.MustCompile("\x1b\\[[0-9]*m")

// Colour adds to the text and changes nothing else; without it there is no escape.
func TestTextIsColouredOnlyIfAsked(t *testing.T) {
	r := read(t, "cache-lags")
	var without, with bytes.Buffer
	if err := WriteText(&without, r, false); err != nil {
		t.Fatal(err)
	}
	if err := WriteText(&with, r, true); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(without.String(), "\x1b") {
		t.Error("there is an escape in plain text")
	}
	if got := escapes.ReplaceAllString(with.String(), ""); got != without.String() || got == with.String() {
		t.Error("colour changes more than colour")
	}
	for _, want := range []string{`always "each revision is attempted at most once" broke`, "of quiet", "│ 03:00.023",
		r.Story.Replay} {
		if !strings.Contains(without.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, without.String())
		}
	}
}

// Every line of the diagram is a statement that mermaid knows, and nothing in a text ends it early.
func TestTheSequenceIsMermaid(t *testing.T) {
	statement := regexp.MustCompile(`^    (?:(?:participant|actor) p\d+ as [^;]+|` +
		`p\d+(?:->>|-->>|--x)p\d+: .+|Note over p\d+(?:,p\d+)?: .+)$`)
	entity := regexp.MustCompile(`#(?:\d+|lt|gt);`)
	for _, name := range []string{"record-lost", "cache-lags", "dies"} {
		lines := strings.Split(strings.TrimSpace(sequenceDiagram(read(t, name).History)), "\n")
		if lines[0] != "sequenceDiagram" || len(lines) < 15 {
			t.Fatalf("%s: %q", name, lines)
		}
		for _, l := range lines[1:] {
			if bare := entity.ReplaceAllString(l, "_"); !statement.MatchString(l) || strings.ContainsAny(bare, ";#") {
				t.Errorf("%s: %q", name, l)
			}
		}
		if last := lines[len(lines)-1]; !strings.Contains(last, "broke") {
			t.Errorf("%s ends with %q", name, last)
		}
	}
	page := Markdown(read(t, "dies"))
	for _, want := range []string{"```mermaid\nsequenceDiagram", "is killed", "go test ", "<details>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the Markdown lacks %q", want)
		}
	}
}

func TestJUnitCountsWhatBroke(t *testing.T) {
	good := result(t)
	good.Sometimes = good.Sometimes[:1]
	data, err := JUnit([]*story.Result{result(t, "dies", "cache-lags"), good, result(t)})
	if err != nil {
		t.Fatal(err)
	}
	var got junitSuites
	if err := xml.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != 3 || got.Failures != 2 || len(got.Suites) != 1 || got.Suites[0].Time != "6.000" {
		t.Errorf("%s", data)
	}
	cases := got.Suites[0].Cases
	if f := cases[0].Failure; f == nil || !strings.HasPrefix(f.Message, "2 causes") {
		t.Errorf("%s", data)
	}
	if cases[1].Failure != nil || cases[2].Failure.Type != "sometimes" {
		t.Errorf("%s", data)
	}
}

func TestAnnotationsPointIntoTheRepository(t *testing.T) {
	got := Annotations("example.org/m", []*story.Result{result(t, "dies")})
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines, one for each annotation is wanted:\n%s", len(lines), got)
	}
	site := strings.Split(read(t, "dies").Story.Site, ":")
	want := fmt.Sprintf("::error file=pkg/x/%s,line=%s,title=each revision takes effect at most once%%2C under dies::",
		site[0], site[1])
	if !strings.HasPrefix(lines[0], want) {
		t.Errorf("%q does not begin with %q", lines[0], want)
	}
	want = "::warning file=pkg/x/x_test.go,line=10,title=not reached::" +
		`sometimes "100%25 of it, never" was not reached in 100 runs`
	if lines[1] != want {
		t.Errorf("%q is not %q", lines[1], want)
	}
}

// Each report of a failure begins with the paragraph that explains it, with the lines of the
// request that decided and of the read that it was based on.
func TestEveryReportHasTheParagraph(t *testing.T) {
	r := read(t, "dies")
	r.Story.Why = []string{"The last step that led to it was at 00:01.002: op/1 create Pod a at op/op.go:9.",
		"Before that step it had read its cache at op/op.go:5 (list Pod: 0 objects)."}
	r.Story.Measured = []string{"It was decided then: after that, 20 of 20 continuations violate the property."}
	campaign := campaignOf("p, decided at op/op.go:9")
	campaign.Findings[0].Story = string(r.Story.Encode())
	results := []*story.Result{campaign}
	suites, err := JUnit(results)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := WriteText(&text, r, false); err != nil {
		t.Fatal(err)
	}
	for name, report := range map[string]string{"JUnit": string(suites), "annotations": Annotations("m", results),
		"the summary of a job": Markdown(r), "text": text.String(), "an issue": Issue(r.Story)} {
		before := 0
		for _, want := range append(r.Story.Paragraph(), "create ") { // of the story's lines
			at := strings.Index(report[before:], want)
			if name == "annotations" {
				at = strings.Index(report[before:], escapeMessage(want))
			}
			if at < 0 {
				t.Fatalf("%s lacks %q, or has it too early:\n%s", name, want, report[:min(len(report), 3000)])
			}
			before += at + len(want)
		}
	}
}

// An annotation of a long story is short, and contains the replay command.
func TestAnnotationsAreShort(t *testing.T) {
	r := result(t, "dies")
	s := read(t, "dies").Story
	for i := range 5000 {
		s.History = append(s.History, fmt.Sprintf("00:00.001    user             step %d", i))
	}
	r.Findings[0].Story = string(s.Encode())
	got, _, _ := strings.Cut(Annotations("example.org/m", []*story.Result{r}), "\n")
	if len(got) > 8<<10 || !strings.HasSuffix(got, "%0Areplay: "+escapeMessage(s.Replay)) {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	if !strings.Contains(got, "lines left out") || !strings.Contains(got, "step 4999%0A") {
		t.Errorf("the middle is not left out: %s", got)
	}
}

// The campaign's page says what was found, what was injected and what never was.
func TestTheCampaignPage(t *testing.T) {
	html, err := campaignPage(result(t, "dies"), func(name string) string { return "there/" + name }, "index.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1 cause of failure", "12,345", `href="there/`, `<td class="num never">0</td>`, "100% of it, never",
		`title="4 of 10"><i style="width:40%"`, `title="1 of 4"><i style="width:25%"`, "each counts once",
		`class="curve"`, "2 of 100 runs were made twice", "<td>9ms</td>", "go1.26",
	} {
		if !strings.Contains(strings.ReplaceAll(string(html), `<td class="num">9ms`, "<td>9ms"), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(string(html), ">1ms<") {
		t.Error("more than the slowest runs are shown")
	}
}

// An index leads to every campaign and story below it, and makes the pages that are missing.
func TestTheIndexLeadsEverywhere(t *testing.T) {
	dir := t.TempDir()
	below := filepath.Join(dir, "story")
	page, err := WriteRun(below, read(t, "dies"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(page); err != nil {
		t.Fatal(err)
	}
	found := result(t, "dies")
	if err := found.Write(below); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "other.json"), []byte("[]"), 0o666); err != nil {
		t.Fatal(err)
	}
	index, err := WriteIndex(dir, Front{Title: "All", Links: [][2]string{{"more", "more.html"}}})
	if err != nil {
		t.Fatal(err)
	}
	html, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(string(html), -1) {
		if m[1] == "data:," || m[1] == "more.html" {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, m[1])); err != nil {
			t.Error(err)
		}
	}
	if n := strings.Count(string(html), "story/"); n < 3 {
		t.Errorf("%d links lead to the campaign and the story", n)
	}
}

// An index says first what is wrong: what several campaigns of a package found of one cause, once.
func TestTheIndexSaysFirstWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	first, second := result(t, "dies"), result(t, "dies")
	second.Test = "TestOther"
	for _, r := range []*story.Result{first, second} {
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	index, err := WriteIndex(dir, Front{Title: "All"})
	if err != nil {
		t.Fatal(err)
	}
	html, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	page := string(html)
	for _, want := range []string{"1 thing is wrong", `<span class="badge">Crash(pipelines)</span>`,
		"<h2>" + first.Package + "</h2>"} {
		if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "(pipelines)", "")) {
			t.Errorf("the page lacks %q", want)
		}
	}
	table, rest, _ := strings.Cut(page[strings.Index(page, "What is wrong"):], "</table>")
	if n := strings.Count(table, "<tr><td>"); n != 1 {
		t.Errorf("%d things are wrong", n)
	}
	if !strings.Contains(table, ">TestOther</a>") || !strings.Contains(rest, ">TestOther</a>") {
		t.Error("a campaign is not named with what it found, or has no row")
	}
}

// A thumbnail has the parts that its story has, and none of its text.
func TestThumbnailsShowTheStory(t *testing.T) {
	lag := string(thumbnailOf([]string{
		"00:00.001    user             create Pod n/a → rv 8",
		"00:00.200    left/1           reconciles pods n/a #1, because of initial-list; " +
			"its cache does not hold Pod n/a, the server has rv 8",
		"00:00.201    left/1             POST git.example/x → 201",
		"00:00.202    left/1           fault: Crash: <b>",
		"00:30.001    left/1             learns of added Pod n/a rv 8, 30s late",
		"00:31.001                     the world has settled",
	}))
	for _, want := range []string{"6 lines in 4 lanes", "stroke:var(--late)", "fill:var(--outside)",
		"stroke:var(--fault)"} {
		if !strings.Contains(lag, want) {
			t.Errorf("the thumbnail lacks %q: %s", want, lag)
		}
	}
	if strings.Contains(lag, "<b>") {
		t.Error("text of the story got into the picture")
	}
	got := parseLine("00:31.001                     the world has settled")
	if got != (storyLine{"00:31.001", "", "the world has settled"}) {
		t.Errorf("%+v", got)
	}
}

// A request that never took effect answers to no event; the page shows it all the same.
func TestARequestThatGotLost(t *testing.T) {
	h := &history.History{}
	h.Add(history.Event{Kind: history.Reply, Process: "p", Incarnation: 1, Call: -1, Note: "lost"})
	if _, err := timelinePage(Run{Name: "lost", History: h}); err != nil {
		t.Fatal(err)
	}
}

func TestWhatExploreFoundIsNoFailure(t *testing.T) {
	r := result(t, "dies")
	r.Explored = true
	data, err := JUnit([]*story.Result{r})
	if err != nil || strings.Contains(string(data), "<failure") ||
		!strings.Contains(string(data), `<property name="found"`) {
		t.Errorf("%v:\n%s", err, data)
	}
	if all := Annotations("", []*story.Result{r}); !strings.HasPrefix(all, "::notice ") ||
		strings.Contains(all, "::error") {
		t.Errorf("annotations:\n%s", all)
	}
}

// Differences between doubled runs are on the campaign's page and among the annotations, and fail
// nothing.
func TestDivergencesAreShown(t *testing.T) {
	r := result(t)
	r.Sometimes = nil
	r.Divergences = []story.Divergence{{
		Cause: "a select in op", Runs: 3, First: 50, Step: 12, What: "event 7 differs", Pairs: 10, Differed: 4,
		Command: "wavetank run --exact x",
	}}
	html, err := campaignPage(r, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	annotations := Annotations("example.org/m", []*story.Result{r})
	for _, want := range []string{"a select in op", "4 of 10 further pairs", "event 7 differs",
		"wavetank run --exact x"} {
		if !strings.Contains(string(html), want) || !strings.Contains(annotations, want) {
			t.Errorf("the page or the annotation lacks %q:\n%s", want, annotations)
		}
	}
	if !strings.HasPrefix(annotations, "::warning title=") || failureOf(r) != nil {
		t.Errorf("it is no warning:\n%s", annotations)
	}
}
