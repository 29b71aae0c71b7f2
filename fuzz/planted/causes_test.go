package planted

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// causes are the regular expressions of testdata/causes.txt, by bug.
func causes(t *testing.T) map[string][]*regexp.Regexp {
	t.Helper()
	data, err := os.ReadFile("testdata/causes.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]*regexp.Regexp{}
	bug := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		switch cause, ok := strings.CutPrefix(line, "\t"); {
		case line == "" || strings.HasPrefix(line, "#"):
		case ok:
			out[bug] = append(out[bug], regexp.MustCompile(cause))
		default:
			bug = line
		}
	}
	return out
}

// missing are the parts of a cause that no line of a message shows.
func missing(cause []*regexp.Regexp, message string) (out []string) {
	for _, part := range cause {
		shown := false
		for line := range strings.Lines(message) {
			shown = shown || part.MatchString(line)
		}
		if !shown {
			out = append(out, part.String())
		}
	}
	return out
}

func TestEveryPlantedBugHasACause(t *testing.T) {
	known := causes(t)
	for _, b := range Bugs() {
		if len(known[b.Name]) == 0 {
			t.Errorf("testdata/causes.txt does not say what causes %s", b.Name)
		}
		delete(known, b.Name)
	}
	for name := range known {
		t.Errorf("testdata/causes.txt has %s, which is not planted", name)
	}
}
