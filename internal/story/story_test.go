package story

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func example() *Story {
	return &Story{
		Test: "TestPromoteOnce/V1", Package: "example.com/op", Kind: "always", Property: `each "x" once`,
		Site:    "op_test.go:12",
		Message: "twice\nin two lines", Seed: "run 7 of base seed 12", Took: 1250 * time.Millisecond,
		Confirmed: "kube-apiserver v1.37.1, 2026-11-27",
		Replay:    "go test example.com/op -run '^TestPromoteOnce$/^V1$'",
		Before:    Length{431, 12, 900}, After: Length{2, 1, 30},
		Versions: map[string]string{"go": "go1.26.8", "sigs.k8s.io/controller-runtime": "v0.25.2"},
		Choices: []Choice{
			{ID{Label{Kind: Arm, Of: "StaleCache", What: "(30s)"}, 0}, 2},
			{ID{Label{Kind: Inject, Of: "StaleCache(30s)", Who: "pipelines", Verb: "MODIFIED",
				What: "Pipeline default/web"}, 2}, 4},
		},
		History:  []string{"00:00.000 start   pipelines/1", "00:00.001 crash   pipelines/1"},
		Why:      []string{"The last step was a crash.", "It was the first."},
		Measured: []string{"It was decided at 00:00.001."},
		Idle:     []int{1},
		Shares:   []Share{{Step: 1, Violating: 0, Of: 20}, {Step: 2, Violating: 19, Of: 20, Rises: true}},
	}
}

func TestAStorySurvivesItsFile(t *testing.T) {
	path, err := example().Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(example(), got); d != "" {
		t.Error(d)
	}
}

// Git may check a story out with the line ends of Windows.
func TestAStorySurvivesOtherLineEnds(t *testing.T) {
	got, err := Decode(bytes.ReplaceAll(example().Encode(), []byte("\n"), []byte("\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(example(), got); d != "" {
		t.Error(d)
	}
}

// A message may be any text, even a txtar archive.
func TestAMessageIsNoSection(t *testing.T) {
	s := example()
	s.Message = "want\n-- choices --\nnonsense\n-- a.go --"
	got, err := Decode(s.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(s.Choices, got.Choices); d != "" || got.Message != "want\n -- choices --\nnonsense\n -- a.go --" {
		t.Errorf("%q, choices %s", got.Message, d)
	}
}

func TestBadStoriesSayWhatIsWrong(t *testing.T) {
	good := string(example().Encode())
	for _, c := range []struct{ name, file, want string }{
		{"empty", "", "not a wavetank story"},
		{"foreign", "go test fuzz v1\nint(3)\n", "not a wavetank story"},
		{"newer", strings.Replace(good, "format 2", "format 9", 1), "use a newer one"},
		{"older", strings.Replace(good, "format 2", "format 1", 1), "find the failure again"},
		{"no test", strings.Replace(good, "test: TestPromoteOnce/V1\n", "", 1), "names no test"},
		{"bad header", strings.Replace(good, "declared: ", "declared ", 1), "is not \"key: value\""},
		{"unknown key", strings.Replace(good, "declared:", "mood:", 1), `"mood" is unknown`},
		{"no choices", strings.Replace(good, "-- choices --", "-- other --", 1), "no choices section"},
		{"bad value", strings.Replace(good, "4 inject", "four inject", 1), "line 2 of the choices"},
		{"bad kind", strings.Replace(good, "4 inject", "4 lag", 1), `unknown kind of choice, "lag"`},
		{"no fault", strings.Replace(good, "(30s): pipelines: ", "(30s) pipelines ", 1), "before a colon"},
		{"no occurrence", strings.Replace(good, "web #3", "web", 1), "does not end with an occurrence"},
		{"bad time", strings.Replace(good, "took: 1.25s", "took: long", 1), "must be a time"},
		{"bad length", strings.Replace(good, "2 choices", "two choices", 1), "must read like"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode([]byte(c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
	if _, err := Read("nowhere.txtar"); !os.IsNotExist(err) {
		t.Errorf("a missing file gives %v", err)
	}
}

// What led to a violation is read as it was written. A file without it, or with a history that was
// cut by hand, can be read, too.
func TestLedIsReadBack(t *testing.T) {
	want := Story{Test: "TestX", History: []string{"a", "b", "c"},
		Led: []Led{{Line: 0, Rank: 2}, {Line: 2, Rank: 0, Notes: []string{"its cache lacked x", "and y"}}}}
	got, err := Decode(want.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want.Led, got.Led); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	want.History = want.History[:1]
	if got, err := Decode(want.Encode()); err != nil || len(got.Led) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	bad := strings.Replace(string(want.Encode()), "1 2\n", "one 2\n", 1)
	if _, err := Decode([]byte(bad)); err == nil || !strings.Contains(err.Error(), `line "one 2" of section "led"`) {
		t.Errorf("a line that is no number: %v", err)
	}
}

// A long history keeps the lines that are closest to the violation, and its notes move with them.
func TestAbridgeKeepsWhatLedToIt(t *testing.T) {
	s := &Story{}
	for i := range 200 {
		s.History = append(s.History, fmt.Sprintf("line %d", i))
	}
	s.Led = []Led{{Line: 50, Rank: 1}, {Line: 100, Rank: 0, Notes: []string{"a note"}}, {Line: 150, Rank: 99}}
	s.Abridge(20)
	for _, l := range s.Led {
		if l.Rank == 0 && (s.History[l.Line] != "line 100" || len(l.Notes) != 1) {
			t.Errorf("line %d is %q", l.Line, s.History[l.Line])
		}
	}
	if len(s.Led) != 3 || len(s.History) > 20 || s.History[0] != "… 50 lines left out; a replay has them all …" {
		t.Errorf("%q, %v", s.History, s.Led)
	}
	s = &Story{History: s.History}
	if s.Abridge(100); len(s.Led) != 0 {
		t.Errorf("%v", s.Led)
	}
}
