package reports

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// An issue has all that a reader needs who does not know Wavetank.
func TestIssueExplainsAStory(t *testing.T) {
	for _, name := range []string{"cache-lags", "dies", "record-lost"} {
		s := read(t, name).Story
		got := Issue(s)
		for _, want := range []string{s.Property, "## Why it matters", "## Versions",
			s.History[len(s.History)-1], s.Replay,
			"## To see it without Wavetank"} {
			if !strings.Contains(got, want) {
				t.Errorf("the issue of %s lacks %q:\n%s", name, want, got)
			}
		}
		for _, class := range s.FaultClasses() {
			if strings.Count(got, "- "+class+": ") != 2 {
				t.Errorf(
					"the issue of %s does not state when %s happens and how to bring it about:\n%s",
					name,
					class,
					got,
				)
			}
		}
	}
}

// A story is data: it is no markup, and it notifies no user.
func TestIssueEscapesAStory(t *testing.T) {
	s := read(t, "dies").Story
	s.Message = "a <script> of @somebody"
	if got := Issue(s); strings.Contains(got, "<script>") || strings.Contains(got, "@somebody") {
		t.Errorf("the message is markup:\n%s", got)
	}
}

// Each fault of sim/fault is explained.
func TestIssueKnowsEveryFault(t *testing.T) {
	files, err := filepath.Glob("../sim/fault/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	faults := regexp.MustCompile(`(?m)^func ([A-Z]\w*)\(.*\) Fault \{`)
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range faults.FindAllStringSubmatch(string(data), -1) {
			if _, ok := causes[m[1]]; !ok {
				t.Errorf("%s declares %s, which no issue explains", f, m[1])
			}
		}
	}
}
