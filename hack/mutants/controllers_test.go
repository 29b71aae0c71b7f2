package mutants

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	differ "github.com/google/go-cmp/cmp"
)

const controllers = "../../controllers"

var inControllers = flag.String("mutants.controllers", "",
	"plant the mistakes whose operator/mistake matches this in the controllers of the reference scenarios")

var writePage = flag.Bool("mutants.page", false, "write the page of the mistakes in controllers")

// fixed are the fixed variants.
var fixed = map[string]string{"throttle": "V4", "promotion": "V8", "reposync": "V10", "bundledeployment": "V4",
	"clusterextension": "V6"}

// Each mistake in a fixed variant is found if the table says so. Parts of what is run for every
// change are tried one after another until one of them fails: the cells that the variant passes,
// the stories of other variants, with which it must pass, the other tests of the scenario, and
// those of the controller.
func TestMistakesInControllers(t *testing.T) {
	if *inControllers == "" {
		t.Skip("make mutants-controllers")
	}
	selected, found, tried := regexp.MustCompile(*inControllers), 0, 0
	for _, m := range InControllers {
		if !selected.MatchString(m.Operator + "/" + m.Mistake) {
			continue
		}
		t.Run(m.Operator+"/"+m.Mistake, func(t *testing.T) {
			seen := finder(t, m)
			tried++
			if seen != "" {
				found++
			}
			t.Logf("found by: %s", seen)
			if (seen != "") != (m.Seen != "") {
				t.Errorf("it is found by %q, the table says %q", seen, m.Seen)
			}
		})
	}
	t.Logf("%d of %d are found", found, tried)
}

// The page states of each mistake what the table does.
func TestPageOfMistakes(t *testing.T) {
	const page = "../../scenarios/MISTAKES.md"
	var rows strings.Builder
	found, only := map[string]int{}, regexp.MustCompile(`^\w*`)
	for _, m := range InControllers {
		by := only.FindString(m.Seen)
		found[by]++
		fmt.Fprintf(&rows, "| [%s](../controllers/%s) | %s | %s |\n", m.Operator, m.File, m.Mistake,
			cmp.Or(m.Seen, "**nothing**"))
	}
	want := fmt.Sprintf(pageOfMistakes, len(InControllers), found["cell"], found["stories"], found["test"], found[""]) +
		rows.String()
	if *writePage {
		write(t, page, want)
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != want {
		t.Errorf("%s is stale; run go test ./hack/mutants -run TestPageOfMistakes -mutants.page: %v\n%s", page, err,
			differ.Diff(string(got), want))
	}
}

const pageOfMistakes = `# Mistakes in the fixed variants

What the runs of every change find. Each of %d one-line mistakes was planted in the fixed variant of a reference
scenario, one at a time. Parts of .ci/run were then tried one after another until one of them failed. %d are found by
a cell of the table in five runs, %d by the stored stories of other variants, with which the fixed variant must pass,
and %d by a test. %d are found by nothing.

"make mutants-controllers" plants them again, every night; [hack/mutants/controllers.go](../hack/mutants/controllers.go)
has the lines. Do not edit this page.

| controller | mistake | found by |
|---|---|---|
`

// These match what Ginkgo and package testing print for a failure.
var (
	failedSpec = regexp.MustCompile(`\[FAIL\] .*?\[It\] (.*?): \S+ (?:passes|fails) "`)
	failedTest = regexp.MustCompile(`--- FAIL: (Test\w+)`)
)

// finder returns what finds a mistake, or "".
func finder(t *testing.T, m Mutant) string {
	args, bin := overlayIn(t, m, absolute(t, controllers), nil), filepath.Join(t.TempDir(), "mutant.test")
	scenario := absolute(t, filepath.Join("../../scenarios", m.Operator))
	command(t, scenario, "go", append(append([]string{"test", "-c", "-o", bin}, args...), ".")...)
	suite := `^Test(?i:` + m.Operator + `)$`
	specs := []string{"-test.run", suite, "-ginkgo.fail-fast", "-ginkgo.no-color", "-matrix.runs", "5",
		"-sim.shrink", "0"}
	for _, part := range []struct {
		name string
		args []string
	}{
		{"cell", append(specs, "-ginkgo.focus", ": "+fixed[m.Operator]+" passes ")},
		{"stories", append(specs, "-ginkgo.focus", ": [^:]* fails ")},
		{"test", []string{"-test.skip", suite + "|^TestMatrix$/^page$", "-test.failfast"}},
	} {
		test := exec.Command(bin, append(part.args, "-test.timeout", "0")...)
		test.Dir = scenario
		out, err := test.CombinedOutput()
		if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		} else if err == nil {
			continue
		}
		for _, failed := range []*regexp.Regexp{failedSpec, failedTest} {
			if by := failed.FindSubmatch(out); by != nil {
				return part.name + " " + string(by[1])
			}
		}
		t.Fatalf("%s: %v\n%s", part.name, err, out)
	}
	unit := exec.Command("go", append(append([]string{"test"}, args...), "./"+m.Operator+"/...", "./internal/...")...)
	unit.Dir = absolute(t, controllers)
	out, err := unit.CombinedOutput()
	if by := failedTest.FindSubmatch(out); by != nil {
		return "test " + string(by[1])
	} else if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return ""
}

func absolute(t *testing.T, dir string) string {
	t.Helper()
	path, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
