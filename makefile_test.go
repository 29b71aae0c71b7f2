// This file checks that .ci/run makes every test that make test leaves out.

package wavetank_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// longTest is the mark of a test that make test leaves out, and testFunction the line behind it.
const longTest = "//make:" + "campaigns"

var testFunction = regexp.MustCompile(`^func Test\w+\(`)

// The mark stands above tests only, where the Makefile looks for it.
func TestLongTestsAreMarked(t *testing.T) {
	walk(t, func(path string) {
		if !strings.HasSuffix(path, ".go") {
			return
		}
		lines := strings.Split(contents(t, path), "\n")
		for i, line := range lines {
			if line == longTest && (!strings.HasSuffix(path, "_test.go") || !testFunction.MatchString(lines[i+1])) {
				t.Errorf("%s:%d: %s does not stand above a test", path, i+1, longTest)
			}
		}
	})
}

// What make test leaves out has a step of its own in .ci/run.
func TestNoTestIsLeftOutOfCI(t *testing.T) {
	const leftOut = `-skip '^$(call names,$(CAMPAIGNS) $(RESULTS))$$'`
	if n := strings.Count(contents(t, "Makefile"), " -skip "); n != 1 ||
		!strings.Contains(contents(t, "Makefile"), leftOut) {
		t.Errorf("the Makefile skips tests in %d places; only make test may, with %s", n, leftOut)
	}
	steps := strings.Split(contents(t, ".ci/run"), "\n")
	for _, step := range []string{"step test", "step campaigns", "step reprove PROVE=10"} {
		if !slices.Contains(steps, step) {
			t.Errorf(".ci/run has no %q; together, these make every test", step)
		}
	}
}

func contents(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
