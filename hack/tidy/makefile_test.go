// This file checks that .ci/run makes every test that make test leaves out.

package tidy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
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

// What make test leaves out has a step of its own in .ci/run, or in make nightly if it is about
// exact mode.
func TestNoTestIsLeftOutOfCI(t *testing.T) {
	const leftOut = `-skip '^$(call names,$(CAMPAIGNS) $(RESULTS) $(EXACT))$$'`
	if n := strings.Count(contents(t, "Makefile"), " -skip "); n != 1 ||
		!strings.Contains(contents(t, "Makefile"), leftOut) {
		t.Errorf("the Makefile skips tests in %d places; only make test may, with %s", n, leftOut)
	}
	if !regexp.MustCompile(`(?m)^NIGHTLY = .* exact `).MatchString(contents(t, "Makefile")) {
		t.Error("make nightly has no step exact; it makes what make test leaves out by $(EXACT)")
	}
	steps := strings.Split(contents(t, ".ci/run"), "\n")
	for _, step := range []string{"step test", "step campaigns", "step reprove PROVE=5"} {
		if !slices.Contains(steps, step) {
			t.Errorf(".ci/run has no %q; together, these make every test", step)
		}
	}
}

// Each step of .ci/run is something that make knows.
func TestStepsAreTargets(t *testing.T) {
	steps := 0
	for line := range strings.Lines(contents(t, ".ci/run")) {
		step, ok := strings.CutPrefix(strings.TrimSpace(line), "step ")
		if !ok {
			continue
		}
		steps++
		dry := append([]string{"-n"}, strings.Fields(step)...)
		if out, err := exec.Command("make", dry...).CombinedOutput(); err != nil {
			t.Errorf("make %s: %v\n%s", step, err, out)
		}
	}
	if steps == 0 {
		t.Error(".ci/run has no steps")
	}
}

// Workflows call the Makefile and nothing else, so each of their steps can be run anywhere.
func TestWorkflowsRunTargets(t *testing.T) {
	paths, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	for _, path := range paths {
		steps := 0
		for line := range strings.Lines(contents(t, path)) {
			_, step, ok := strings.Cut(line, "run: ")
			if !ok {
				continue
			}
			steps++
			step = strings.TrimSpace(step)
			if !strings.HasPrefix(step, "make ") {
				t.Errorf("%s runs %q, which is not a make target", path, step)
			} else if out, err := exec.Command("sh", "-c", step+" --dry-run").CombinedOutput(); err != nil {
				t.Errorf("%s: %s: %v\n%s", path, step, err, out)
			}
		}
		if steps == 0 {
			t.Errorf("%s runs nothing", path)
		}
	}
}

// make help fits on a screen.
func TestHelpFitsOnAScreen(t *testing.T) {
	out, err := exec.Command("make", "--no-print-directory", "help").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) < 15 || len(lines) > 30 {
		t.Errorf("make help prints %d lines; expected 15 to 30", len(lines))
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 90 {
			t.Errorf("make help prints a line of %d columns, at most 90 fit: %s", n, line)
		}
	}
}

var (
	goTest    = regexp.MustCompile(`\bgo test [^;&|]*`)
	timeout   = regexp.MustCompile(` -timeout (\$\(TIMEOUT\)|0) `)
	timeLimit = regexp.MustCompile(`^TIMEOUT \?= ([0-9]+)h$`)
)

// Each go test of a make target has a time limit that holds on a busy machine: that of all, or
// none.
func TestEveryStepHasATimeLimit(t *testing.T) {
	steps, limits := 0, 0
	for _, path := range []string{"Makefile", "conformance/conformance.mk", "reports/reports.mk",
		"hack/envtest/envtest.mk", ".ci/run", "hack/steps.sh"} {
		for i, line := range strings.Split(contents(t, path), "\n") {
			if m := timeLimit.FindStringSubmatch(line); m != nil {
				if hours, _ := strconv.Atoi(m[1]); hours < 2 {
					t.Errorf("%s:%d: %s is too short for a machine with a load of 15", path, i+1, line)
				}
				limits++
			}
			if strings.HasPrefix(line, "#") {
				continue
			}
			for _, command := range goTest.FindAllString(line, -1) {
				steps++
				if !timeout.MatchString(command) {
					t.Errorf("%s:%d: %q has no -timeout $(TIMEOUT), or 0 for a step that takes as long as it is told",
						path, i+1, command)
				}
			}
		}
	}
	if steps < 15 || limits != 1 {
		t.Errorf("%d go test commands and %d limits were found", steps, limits)
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

// Commit subjects fit into the columns of git log. Older commits are not checked, nor those that a
// shallow clone lacks.
func TestCommitSubjectsAreShort(t *testing.T) {
	out, err := exec.Command("git", "log", "--since=2026-11-27T00:00:00Z", "--format=%h %s").CombinedOutput()
	if err != nil {
		t.Fatalf("git log: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		hash, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n := utf8.RuneCountInString(subject); n > 72 {
			t.Errorf("commit %s: the subject has %d characters, at most 72 fit: %s", hash, n, subject)
		}
	}
}
