package campaign

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/realserver"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// hostedTest is the environment variable that makes this process an incarnation of a program: that
// of a scenario of the test that it names.
const hostedTest = "WAVETANK_HOSTED_TEST"

// child returns the command that starts an incarnation of a program of this test in a process of
// its own.
func (e *executor) child(test string) *exec.Cmd {
	var pattern []string
	for part := range strings.SplitSeq(e.t.Name(), "/") {
		pattern = append(pattern, "^"+regexp.QuoteMeta(part)+"$")
	}
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	cmd := exec.Command(self, append(slices.Clone(os.Args[1:]), "-test.testlogfile=", "-test.coverprofile=",
		"-test.timeout=0", "-test.count=1", "-test.run="+strings.Join(pattern, "/"))...)
	cmd.Env = append(os.Environ(), hostedTest+"="+test)
	return cmd
}

// serveHosted runs the incarnation that this process is, and ends the process with it. It returns
// if the process is an incarnation of another test's program.
func serveHosted(t *testing.T, r run.Runner, s Settings) {
	if os.Getenv(hostedTest) != s.Host.Name() {
		return
	}
	h, err := process.Hosts()
	if err != nil {
		s.Host.Fatalf("sim: %v", err)
	}
	settings := s.Run
	settings.Hosting = &run.Hosting{Process: h.Launch.Process}
	res := r(t, choice.Play(h.Launch.Choices), settings)
	p := settings.Hosting
	if p.Main == nil {
		why := "it ends"
		if res.Ending.Failed() {
			why = res.Ending.Sentence()
		}
		h.Refuse(fmt.Sprintf("in a process of its own, the scenario does not start %q before %s; it may need what "+
			"other programs do", h.Launch.Process, why))
		os.Exit(1)
	}
	mapper, err := realserver.Mapper(h.Launch.Kubeconfig)
	if err != nil {
		h.Refuse(err.Error())
		os.Exit(1)
	}
	h.Serve(p.Main, process.Settings{Account: p.Account, ListThenWatch: p.ListThenWatch}, mapper, s.Run.Log, p.InSetup)
	os.Exit(0)
}
