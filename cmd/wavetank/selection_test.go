package main

import (
	"strings"
	"testing"
)

// kubebuilt is a project as kubebuilder lays it out.
const kubebuilt = "./testdata/scaffold/..."

// wavetank run runs the scenarios that wavetank list shows: no suite that needs etcd, and no spec
// without a scenario.
//
//make:campaigns
func TestRunRunsWhatListShows(t *testing.T) {
	_, out := do(t, t.Context(), "list", kubebuilt)
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
