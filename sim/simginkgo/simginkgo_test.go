// This file runs the suite of fixtures_test.go in child processes and reads the reports that Ginkgo
// writes.

package simginkgo_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2/reporters"
	"github.com/onsi/ginkgo/v2/types"

	"github.com/wavetank/wavetank/sim/simginkgo"
)

// child runs the fixtures and returns what Ginkgo reported and what was printed.
func child(t *testing.T, mode, dir string, args ...string) (types.Report, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"-test.run=^TestFixtures$", "-ginkgo.no-color",
		"-ginkgo.json-report=" + filepath.Join(dir, "report.json"), "-ginkgo.junit-report=" + filepath.Join(dir,
			"junit.xml")}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SIMGINKGO_FIXTURES="+mode, "SIMGINKGO_STORIES="+filepath.Join(dir, "stories"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // the report says what failed
	data, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	var reports []types.Report
	if err := json.Unmarshal(data, &reports); err != nil || len(reports) != 1 {
		t.Fatalf("%v\n%s", err, data)
	}
	return reports[0], out.String()
}

// spec finds a spec's report by its leaf text.
func spec(t *testing.T, r types.Report, leaf string) types.SpecReport {
	t.Helper()
	for _, s := range r.SpecReports {
		if s.LeafNodeText == leaf {
			return s
		}
	}
	t.Fatalf("there is no spec %q", leaf)
	return types.SpecReport{}
}

// entry reads the last report entry of a spec.
func entry(t *testing.T, s types.SpecReport) (e simginkgo.Entry) {
	t.Helper()
	if len(s.ReportEntries) == 0 {
		t.Fatalf("%q has no report entry", s.LeafNodeText)
	}
	last := s.ReportEntries[len(s.ReportEntries)-1]
	if err := json.Unmarshal([]byte(last.Value.AsJSON), &e); err != nil || last.Name != "wavetank" {
		t.Fatalf("entry %q: %v", last.Name, err)
	}
	return e
}

// lineOf finds the line of fixtures_test.go that ends with a mark.
func lineOf(t *testing.T, mark string) int {
	t.Helper()
	data, err := os.ReadFile("fixtures_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range strings.Split(string(data), "\n") {
		if strings.HasSuffix(l, "// "+mark) {
			return i + 1
		}
	}
	t.Fatalf("no line is marked %q", mark)
	return 0
}

func TestSuite(t *testing.T) {
	dir := t.TempDir()
	report, out := child(t, "1", dir)
	if strings.Contains(out, "PANICKED") {
		t.Fatalf("a failure ended as a panic:\n%s", out)
	}
	for _, leaf := range []string{"holds", "is only searched", "as reported", "fixed",
		"in a setup function", "in a goroutine of a reconciler", "in a predicate", "outside the cluster"} {
		if s := spec(t, report, leaf); s.State != types.SpecStatePassed {
			t.Errorf("%q is %s: %s", leaf, s.State, s.Failure.Message)
		}
	}
	if e := entry(t, spec(t, report, "as reported")); e.Verdict != "caught" || e.Property != "nothing is marked" ||
		len(e.Told) == 0 {
		t.Errorf("the entry of a spec that only finds: %+v", e)
	}
	if e := entry(t, spec(t, report, "holds")); e.Verdict != "held" || e.Runs != 5 || e.Campaign != "A marker holds" ||
		e.Steps == 0 {
		t.Errorf("the entry of a spec that holds: %+v", e)
	}
	const warning = "warning: fault LostReply of Pig had no opportunity in 20 runs"
	if strings.Count(out, "warning:") != 1 || !strings.Contains(out, warning) {
		t.Errorf("the console does not say %q once:\n%s", warning, out)
	}
	if e := entry(t, spec(t, report, "declares a fault that never strikes")); len(e.Warnings) != 1 ||
		e.Verdict != "held" {
		t.Errorf("the entry of a spec with a fault that never strikes: %+v", e)
	}
	site := func(mark string) string {
		return fmt.Sprintf("fixtures_test.go:%d: expectation at step", lineOf(t, "site: "+mark))
	}
	for leaf, want := range map[string][]string{
		"doesn't hold (on purpose)": {`always "nothing is marked" broke at step`, "good is marked",
			"marker/1", "story:  ", "replay: go test "},
		"meets an expectation of the scenario's own": {site("the scenario's own"), "to be empty", "marker/1",
			"story:  ", "replay: go test "},
		"meets an expectation of a reconciler's own": {site("a reconciler's own"), "the marker met a bad one",
			"marker/1", "story:  ", "replay: go test "},
		"meets an expectation in a property": {site("in a property"), "to be empty", "marker/1", "story:  ",
			"replay: go test "},
		"is helped":                             {`always "nothing is marked" broke at step`},
		"is misused":                            {`sim: w.Stop("nobody"): there is no such process`},
		"misses what it should sometimes reach": {`sometimes "pigs fly" was not reached in 3 runs`},
	} {
		s := spec(t, report, leaf)
		if s.State != types.SpecStateFailed {
			t.Errorf("%q is %s: %s", leaf, s.State, s.Failure.Message)
		}
		if at, line := s.Failure.Location, lineOf(t,
			"line: "+leaf); filepath.Base(at.FileName) != "fixtures_test.go" || at.LineNumber != line {
			t.Errorf("%q failed at %s, not at line %d", leaf, at, line)
		}
		for _, w := range want {
			if !strings.Contains(s.Failure.Message, w) {
				t.Errorf("%q does not say %q but\n%s", leaf, w, s.Failure.Message)
			}
		}
		if len(s.AdditionalFailures) > 0 {
			t.Errorf("%q failed more than once: %v", leaf, s.AdditionalFailures)
		}
	}
	junit(t, filepath.Join(dir, "junit.xml"))
}

// junit looks for the entry in the properties of a JUnit file.
func junit(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var suites reporters.JUnitTestSuites
	if err := xml.Unmarshal(data, &suites); err != nil {
		t.Fatal(err)
	}
	for _, c := range suites.TestSuites[0].TestCases {
		if !strings.Contains(c.Name, "of a reconciler's own") {
			continue
		}
		if c.Failure == nil || !strings.Contains(c.Failure.Message+c.Failure.Description, "the marker met a bad one") {
			t.Errorf("the JUnit case has no failure text: %+v", c.Failure)
		}
		// The field came after Ginkgo 2.28, and older versions write no entries.
		if f := reflect.ValueOf(c).FieldByName("Properties"); f.IsValid() {
			p, _ := f.Interface().(*reporters.JUnitProperties)
			if p == nil || p.Properties[0].Name != "wavetank" ||
				!strings.Contains(p.Properties[0].Value, `"verdict":"caught"`) {
				t.Errorf("the JUnit case has no entry: %+v", p)
			}
		}
		return
	}
	t.Error("the spec is not in the JUnit file")
}

// A replay command is pasted into a shell as it is printed, and the spec fails as it did.
func TestReplayCommand(t *testing.T) {
	dir := t.TempDir()
	report, _ := child(t, "1", dir, "-ginkgo.focus=on purpose|own$")
	for _, leaf := range []string{"doesn't hold (on purpose)", "meets an expectation of a reconciler's own"} {
		s := spec(t, report, leaf)
		e := entry(t, s)
		cmd := exec.Command("sh", "-c", e.Replay+" -ginkgo.no-color")
		cmd.Env = append(os.Environ(), "SIMGINKGO_FIXTURES=1", "SIMGINKGO_STORIES="+filepath.Join(dir, "stories"))
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("%s\ndoes not fail:\n%s", e.Replay, out)
		}
		first, _, _ := strings.Cut(s.Failure.Message, "\n")
		for _, want := range []string{"Ran 1 of ", first, strings.Join(e.Told, "\n      ")} {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s\ndoes not say %q but\n%s", e.Replay, want, out)
			}
		}
	}
}

// A focus cannot say where a spec's text begins, so the command also chooses a spec whose text ends
// with the same words.
func TestReplayCommandOfANamesake(t *testing.T) {
	dir := t.TempDir()
	report, _ := child(t, "1", dir, "-ginkgo.focus=has a longer namesake$")
	s := report.SpecReports[slices.IndexFunc(report.SpecReports,
		func(s types.SpecReport) bool { return s.FullText() == "A marker has a longer namesake" })]
	file, _ := strings.CutPrefix(entry(t, s).Story, dir+"/")
	again, out := child(t, "1", dir, "-ginkgo.focus= A marker has a longer namesake$", "-sim.replay="+file)
	for _, s := range again.SpecReports {
		if fails := s.FullText() == "A marker has a longer "+
			"namesake"; s.State.Is(types.SpecStatePassed|types.SpecStateFailed) && s.Failed() != fails {
			t.Errorf("%q is %s:\n%s", s.FullText(), s.State, out)
		}
	}
	if !strings.Contains(out, "1 Passed") || !strings.Contains(out, "1 Failed") {
		t.Errorf("the command did not choose both:\n%s", out)
	}
}

// Ginkgo's own Skip and Fail have marked the spec when they leave the scenario: there is nothing to
// shrink, to keep or to report.
func TestGinkgosOwn(t *testing.T) {
	dir := t.TempDir()
	report, _ := child(t, "1", dir, "-ginkgo.focus=skips itself|fails by Ginkgo's own|holds after those")
	for leaf, want := range map[string]struct {
		state   types.SpecState
		message string
	}{
		"skips itself":          {types.SpecStateSkipped, "not today"},
		"fails by Ginkgo's own": {types.SpecStateFailed, "not like this"},
		"holds after those":     {types.SpecStatePassed, ""},
	} {
		s := spec(t, report, leaf)
		if s.State != want.state || strings.TrimSpace(s.Failure.Message) != want.message {
			t.Errorf("%q is %s: %s", leaf, s.State, s.Failure.Message)
		}
		if want.message != "" && len(s.ReportEntries) > 0 {
			t.Errorf("%q has an entry: %s", leaf, s.ReportEntries[0].Value.AsJSON)
		}
	}
	if kept, _ := filepath.Glob(filepath.Join(dir, "stories", "*")); len(kept) > 0 {
		t.Errorf("stories were kept: %v", kept)
	}
}

func TestLabelsSelect(t *testing.T) {
	report, _ := child(t, "1", t.TempDir(), "-ginkgo.label-filter=good")
	if !report.SuiteSucceeded || spec(t, report, "holds").State != types.SpecStatePassed ||
		spec(t, report, "is misused").State != types.SpecStateSkipped {
		t.Error("the label filter did not select")
	}
}

func TestForgottenUse(t *testing.T) {
	report, _ := child(t, "forgetful", t.TempDir(), "-ginkgo.label-filter=good")
	if m := spec(t, report, "holds").Failure.Message; !strings.Contains(m, "call simginkgo.Use(t) before RunSpecs") {
		t.Errorf("a suite without simginkgo.Use says %q", m)
	}
}

// What programs log during a campaign, wherever the suite has its logs go, is not among what a
// failing spec prints, except with -v.
func TestCampaignsAreMute(t *testing.T) {
	const focus = "-ginkgo.focus=A marker that logs"
	_, out := child(t, "logging", t.TempDir(), focus)
	if lines := strings.Count(out, "\n"); !strings.Contains(out, "good is marked") || lines > 80 {
		t.Errorf("a failure has %d lines:\n%s", lines, out)
	}
	for what, shown := range map[string]bool{
		"said before": true, " talks": false, "Starting": false, "level": false,
	} {
		if strings.Contains(out, what) != shown {
			t.Errorf("%q is printed: %v; expected %v\n%s", what, !shown, shown, out)
		}
	}
	if _, out := child(t, "logging", t.TempDir(), focus, "-ginkgo.v"); !strings.Contains(out, "a webhook talks") {
		t.Errorf("with -v, what is logged is not printed:\n%s", out)
	}
	if _, out := child(t, "logging", t.TempDir(), focus, "-sim.log"); !strings.Contains(out, "a reconciler talks") {
		t.Errorf("with -sim.log, what is logged is not printed:\n%s", out)
	}
}
