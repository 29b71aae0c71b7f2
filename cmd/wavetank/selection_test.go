package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// kubebuilt is a project as kubebuilder lays it out.
const kubebuilt = "./testdata/scaffold/..."

// wavetank run runs the scenarios that --list shows: no suite that needs etcd, and no spec without
// a scenario.
//
//make:campaigns
func TestRunRunsWhatListShows(t *testing.T) {
	_, out := do(t, t.Context(), "run", "--list", kubebuilt)
	for _, want := range []string{"greeter_sim_test.go:", "simginkgo.Check  suite_test.go:"} {
		if !strings.Contains(out, want) {
			t.Errorf("list does not show %q:\n%s", want, out)
		}
	}
	code, out := do(t, t.Context(), "run", kubebuilt, "--runs", "4", "--procs", "1", "--report", t.TempDir())
	if code != exitHeld || !strings.Contains(out, "TestGreeter: 4 runs") ||
		!strings.Contains(out, "A greeter greets whoever comes: 4 runs") {
		t.Errorf("run: exit code %d, expected %d and both scenarios:\n%s", code, exitHeld, out)
	}
	code, out = do(t, t.Context(), "run", "./testdata/scaffold/internal/controller", "--run", "^TestControllers$",
		"--report", t.TempDir())
	if code != exitUsage || !strings.Contains(out, "no-such-directory") {
		t.Errorf("--run selects any test: exit code %d, expected %d and that of envtest:\n%s", code, exitUsage, out)
	}
}

func TestSelectedTests(t *testing.T) {
	packages, err := testPackages(t.Context(), []string{"./testdata/scaffold/...", "../../sim/simginkgo", shop})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"controller": "-test.run=^(TestGreeter)$",
		"simulation": "-test.run=^(TestSimulations)$ -ginkgo.focus-file=/suite_test\\.go$",
		"shop":       "-test.run=^(TestBreaks|TestHolds)$",
		"simginkgo":  "-test.run=^(TestFixtures)$ -ginkgo.focus-file=/fixtures_test\\.go$",
	}
	for _, p := range packages {
		name := p.Path[strings.LastIndex(p.Path, "/")+1:]
		args, err := p.selection()
		if got := strings.Join(args, " "); err != nil || got != want[name] {
			t.Errorf("%s: %s (%v); expected %s", p.Path, got, err, want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("packages that were not found: %v", want)
	}
}

// ci gives each scenario the time for its runs. Who says how many runs or how much time decides.
func TestBudgetOfCI(t *testing.T) {
	for name, c := range map[string]struct {
		o    options
		said string // by the environment
		want []string
	}{
		"ci": {options{runs: -1, breadth: breadth}, "", []string{"SIM_FOR=1m0s"}},
		"ci --for": {options{runs: -1, breadth: breadth, budget: time.Second}, "",
			[]string{"SIM_RUNS=0", "SIM_FOR=1s"}},
		"ci --runs":      {options{runs: 7, breadth: breadth}, "", []string{"SIM_RUNS=7", "SIM_FOR=0s"}},
		"run":            {options{runs: -1}, "", nil},
		"SIM_FOR=3s ci":  {options{runs: -1, breadth: breadth}, "3s", []string{"SIM_FOR=3s"}},
		"SIM_FOR=3s run": {options{runs: -1}, "3s", []string{"SIM_FOR=3s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("SIM_FOR", c.said)
			t.Setenv("SIM_RUNS", "")
			var got []string
			for _, v := range c.o.environment(0, "results") {
				budget := strings.HasPrefix(v, "SIM_FOR=") || strings.HasPrefix(v, "SIM_RUNS=")
				if budget && !strings.HasSuffix(v, "=") {
					got = append(got, v)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("the settings are %q, expected %q", got, c.want)
			}
		})
	}
}
