package simtest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/campaign"
	"github.com/wavetank/wavetank/sim/internal/host"
	"github.com/wavetank/wavetank/sim/result"
)

// Holds explores a scenario and fails the test if a run fails.
func Holds(t *testing.T, scenario func(*sim.World), opts ...sim.ExploreOption) result.Report {
	t.Helper()
	r := sim.Explore(t, scenario, opts...)
	if r.Failure != nil {
		t.Error(r.Failure.Text())
	}
	return r
}

// Violates explores a scenario and fails the test unless the property is violated. It returns the
// failure.
func Violates(t *testing.T, property string, scenario func(*sim.World), opts ...sim.ExploreOption) *result.Failure {
	t.Helper()
	r := sim.Explore(t, scenario, opts...)
	if r.Failure == nil || r.Failure.Property != property {
		t.Fatalf("%d runs, want a violation of %q: %+v", r.Runs, property, r.Failure)
	}
	return r.Failure
}

// Contains fails the test unless the text has each of the parts.
func Contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing:\n%s", part, text)
		}
	}
}

const child = "WAVETANK_TEST_CHILD"

// InChild reports whether this process was started by [Child].
func InChild() bool { return os.Getenv(child) != "" }

// Case is what [ChildOf] was given as the case.
func Case() string { return os.Getenv(child + "_CASE") }

// Command returns the command that runs one test of this binary in a process of its own, in a
// directory.
func Command(dir, test string, args, env []string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"-test.v", "-test.run=^" + test + "$"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), child+"="+test), env...)
	return cmd
}

// Child runs a [Command]. ok reports whether the test passes.
func Child(dir, test string, args, env []string) (out string, ok bool) {
	text, err := Command(dir, test, args, env).CombinedOutput()
	return string(text), err == nil
}

// ChildOf is [Child] for the test's own function, one of its cases and a temporary directory.
func ChildOf(t *testing.T, name string, args ...string) (out string, ok bool) {
	t.Helper()
	test, _, _ := strings.Cut(t.Name(), "/")
	return Child(t.TempDir(), test, args, []string{child + "_CASE=" + name})
}

// ending is a host whose test is over when a process would end.
type ending struct {
	host.Testing
	cleanups []func()
}

// Cleanup implements [host.Host].
func (e *ending) Cleanup(f func()) { e.cleanups = append(e.cleanups, f) }

// InAProcess makes campaigns that have the names that they would have in a process of their own.
func InAProcess(t *testing.T, explore func(on sim.ExploreOption) result.Report) result.Report {
	e := &ending{Testing: host.Testing{T: t}}
	defer func() {
		for _, f := range e.cleanups {
			f()
		}
	}()
	return explore(campaign.On(e))
}

// ReplayArgs returns the arguments of the replay command that a test has printed.
func ReplayArgs(t *testing.T, out string) []string {
	t.Helper()
	_, command, ok := strings.Cut(out, "replay: ")
	if !ok {
		t.Fatalf("no replay command was printed:\n%s", out)
	}
	command, _, _ = strings.Cut(command, "\n")
	_, args, _ := strings.Cut(command, "' ")
	return strings.Fields(args)
}
