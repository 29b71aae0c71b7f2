package mutants

import (
	"cmp"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	benchWrite      = flag.String("mutants.write", "", "measure the search and write the page to this file")
	benchStrategies = flag.String("mutants.strategies", "portfolio", "strategies to measure, with spaces between them")
	benchSeeds      = flag.Int("mutants.seeds", 3, "base seeds for each strategy and mutant")
	benchCap        = flag.Int("mutants.cap", 500, "runs after which a strategy has not found a mutant")
	benchHalf       = flag.String("mutants.half", "", "tuning or report: only mutants of this half")
	benchName       = flag.String("mutants.name", "", "only mutants whose name matches")
	benchDir        = flag.String("mutants.dir", "", "where the binaries of mutants stay")
	benchCommit     = flag.String("mutants.commit", "", "the commit that is measured, for the page")
)

// campaign is one campaign on a mutant.
type campaign struct {
	mutant, strategy string
	seed             int
	runs             float64 // to the find; infinite if there is none
	seconds          float64 // of CPU time, to the find
	all              float64 // seconds of CPU time of the whole process
	by, property     string  // how it was found, and what was violated
	step             int     // at which the property was violated
	flaky            bool    // the choices of the find do not violate it again
}

// TestBenchMutants measures which mutants of released operators the strategies find, and how soon.
func TestBenchMutants(t *testing.T) {
	if *benchWrite == "" {
		t.Skip("make bench-mutants measures the search")
	}
	dir, err := filepath.Abs(cmp.Or(*benchDir, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]string{}
	tuning, report := Halves(BenchMutants)
	page := benchPage{}
	for i, half := range [][]Bench{tuning, report} {
		if name := []string{"tuning", "report"}[i]; *benchHalf != "" && *benchHalf != name {
			continue
		}
		for _, m := range half {
			if !regexp.MustCompile(*benchName).MatchString(m.Name) {
				continue
			}
			page.halves[i] = append(page.halves[i], m)
			t.Run(m.Name, func(t *testing.T) {
				bin := built(t, m, dir, modules)
				for _, strategy := range strings.Fields(*benchStrategies) {
					for seed := range *benchSeeds {
						c := hunt(t, m, bin, strategy, seed+1)
						t.Log(c)
						page.campaigns = append(page.campaigns, c)
					}
				}
			})
		}
	}
	if t.Failed() {
		return
	}
	if err := os.WriteFile(*benchWrite, []byte(page.text()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The edits fit, what comes of them is Go, and each half has 15 mutants, whatever their order.
func TestBenchMutantsFit(t *testing.T) {
	names := map[string]bool{}
	for _, m := range BenchMutants {
		dir := examples(t, m.Operator)
		if m.Module != "" {
			dir = released(t, m.Mutant)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), m.File, mutated(t, m.Mutant, dir), 0); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if names[m.Name] || m.Mistake == "" {
			t.Errorf("%s is there twice, or says nothing of its mistake", m.Name)
		}
		names[m.Name] = true
	}
	tuning, report := Halves(BenchMutants)
	if len(tuning) != 15 || len(report) != 15 {
		t.Errorf("the halves have %d and %d mutants, not 15 each", len(tuning), len(report))
	}
	turned := slices.Clone(BenchMutants)
	slices.Reverse(turned)
	again, _ := Halves(turned)
	if a, b := benchNames(tuning), benchNames(again); a != b {
		t.Errorf("the half depends on the order of the table: %s, %s", a, b)
	}
}

func benchNames(mutants []Bench) string {
	var names []string
	for _, m := range mutants {
		names = append(names, m.Name)
	}
	return strings.Join(names, ", ")
}

// built compiles the test of a mutant. The go command leaves a binary alone that is up to date, so
// all paths are the same each time.
func built(t *testing.T, m Bench, dir string, modules map[string]string) string {
	t.Helper()
	args := overlay(t, m.Mutant, nil)
	if m.Module != "" {
		if modules[m.Module] == "" {
			to := filepath.Join(dir, "modules", m.Operator)
			if err := os.RemoveAll(to); err != nil { // an interrupted test leaves a mutant there
				t.Fatal(err)
			}
			modules[m.Module] = copied(t, m.Mutant, to)
		}
		args = replaced(t, m.Mutant, modules[m.Module])
	}
	bin := filepath.Join(dir, m.Name+".test")
	args = append([]string{"test", "-c", "-ldflags=-s -w", "-o", bin}, args...) // links take long
	command(t, examples(t, m.Operator), "go", append(args, m.Package)...)
	return bin
}

var huntLine = regexp.MustCompile(`found=(true|false) run=(\d+)` +
	`(?: seconds=([\d.]+) by="(.*?)" step=(\d+) flaky=(true|false) property="(.*?)":)?`)

// hunt makes one campaign.
func hunt(t *testing.T, m Bench, bin, strategy string, seed int, args ...string) campaign {
	t.Helper()
	out, used := promises(t, m, bin, append([]string{"-sim.strategy", strategy, "-sim.seed", strconv.Itoa(seed),
		"-sim.runs", strconv.Itoa(*benchCap), "-sim.for", "0", "-sim.shrink", "0", "-sim.verify", "0"}, args...)...)
	said := huntLine.FindStringSubmatch(out)
	if said == nil {
		t.Fatalf("%s: the test printed no result:\n%s", m.Name, out)
	}
	c := campaign{mutant: m.Name, strategy: strategy, seed: seed, runs: math.Inf(1), seconds: math.Inf(1), all: used}
	if said[1] == "true" {
		c.by, c.flaky, c.property = said[4], said[6] == "true", said[7]
		c.step, _ = strconv.Atoi(said[5])
		c.runs, _ = strconv.ParseFloat(said[2], 64)
		c.seconds, _ = strconv.ParseFloat(said[3], 64)
	}
	return c
}

// promises runs TestPromises of a mutant with these flags. It returns the output and the seconds of
// CPU time.
func promises(t *testing.T, m Bench, bin string, args ...string) (out string, seconds float64) {
	t.Helper()
	return ran(t, m, bin, "TestPromises", args...)
}

// ran runs a test of a mutant with these flags.
func ran(t *testing.T, m Bench, bin, name string, args ...string) (out string, seconds float64) {
	t.Helper()
	test := exec.Command(bin, append([]string{"-test.run", "^" + name + "$", "-test.v", "-test.cpu", "1",
		"-test.timeout", "0"}, args...)...)
	test.Dir, test.Env = filepath.Join(examples(t, m.Operator), m.Package), append(os.Environ(), "GOWORK=off")
	text, err := test.CombinedOutput()
	if err != nil && test.ProcessState == nil {
		t.Fatal(err)
	}
	return string(text), (test.ProcessState.UserTime() + test.ProcessState.SystemTime()).Seconds()
}

func (c campaign) String() string {
	return fmt.Sprintf("%s, %s, seed %d: run %.0f by %s, %.2f s (%.2f s in all), %q", c.mutant, c.strategy, c.seed,
		c.runs, c.by, c.seconds, c.all, c.property)
}

// machine is the model of the CPU.
func machine() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return "an unnamed CPU"
}

func today() string { return time.Now().UTC().Format(time.DateOnly) }
