package campaign

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/shell"
	"github.com/wavetank/wavetank/sim/result"
)

// repeated says what came of repeating a run that seemed to hang. It is repeated before anything is
// said of it. A goroutine that does not stop cannot be taken out of a process, so another process
// plays the choices of the run, while the run itself is given time to go on.
type repeated int

const (
	repeatNot     repeated = iota // it was not repeated
	repeatHung                    // it made no progress in the other process either
	repeatHeld                    // it came to its end there
	repeatUnknown                 // the other process did not say
)

// repeating is set in the process that repeats a run: that one does not repeat it again.
const repeating = "WAVETANK_REPEATING"

// replayedFile names the file to which a process adds a line for each story that it was told to
// replay: held, broke or hung.
const replayedFile = "WAVETANK_REPLAYED"

// words are a line of the report of a hang.
func (r repeated) words() string {
	switch r {
	case repeatHung:
		return "    repeated in another process, the same choices made no progress there either"
	case repeatHeld:
		return "    repeated in another process, the same choices came to an end: " +
			"something that the choices do not decide makes this run hang, for example a lock, " +
			"a socket or goroutines that race"
	case repeatUnknown:
		return "    it could not be repeated in another process"
	}
	return "    it was not repeated in another process"
}

// repeat plays the choices of the run under way in another process, and stops waiting for it when
// this run goes on.
func (c *campaign) repeat(limit time.Duration, done <-chan struct{}) repeated {
	r, d := c.settings.Run.Monitor.Latest.Load(), c.doing.Load()
	if r == nil || os.Getenv(repeating) != "" {
		return repeatNot
	}
	if d == nil {
		d = &activity{}
	}
	dir, err := os.MkdirTemp("", "wavetank-repeat-")
	if err != nil {
		return repeatUnknown
	}
	defer os.RemoveAll(dir)
	f := d.failure(result.Ending{Kind: result.Hang}, &history.History{})
	path, err := c.story(f, r.Choices.Sequence(), story.Length{}, story.Length{}).Write(dir)
	if err != nil {
		return repeatUnknown
	}
	cmd, said := c.repeatCommand(path, limit), filepath.Join(dir, "said")
	if cmd == nil {
		return repeatUnknown
	}
	cmd.Env = append(os.Environ(), repeating+"=1", replayedFile+"="+said, "SIM_REPORT=", "SIM_SHRINK=", "SIM_REPLAY=")
	if process.Dials() != r.Dials {
		cmd.Env = append(cmd.Env, recording+"=1")
	}
	if cmd.Start() != nil {
		return repeatUnknown
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	m := c.settings.Run.Monitor
	signs, began := m.Beats.Load(), time.Now()
	for {
		select {
		case <-ended:
			c.dialled = readDials(said)
			return readRepeated(said)
		case <-done:
			_ = cmd.Process.Kill()
			return repeatNot
		case <-time.After(limit / 20):
		}
		if m.Beats.Load() != signs || time.Since(began) > max(time.Minute, 30*limit) {
			_ = cmd.Process.Kill()
			<-ended
			return repeatUnknown
		}
	}
}

// recording is set in a process that repeats a run which has connected to the real network: it
// finds out who did.
const recording = "WAVETANK_RECORDING"

// connectedBy precedes what is known of a connection, where the other process tells it.
const connectedBy = "connected: "

// recordDials records who dials in a process that repeats a run for it, and returns the function
// that tells. In any other process it does nothing.
func (s Settings) recordDials() (tell func()) {
	if os.Getenv(recording) == "" {
		return func() {}
	}
	at := process.RecordDials()
	return func() {
		if site, byHTTP := at(); site != "" {
			s.reportReplayed(connectedBy + run.ConnectedAt(site, byHTTP))
		}
	}
}

// readDials reads who has connected to the real network; "" if nobody did.
func readDials(path string) string {
	said, _ := os.ReadFile(path)
	_, rest, _ := strings.Cut(string(said), connectedBy)
	connected, _, _ := strings.Cut(rest, "\n")
	return connected
}

// readRepeated reads what the other process has said.
func readRepeated(path string) repeated {
	said, err := os.ReadFile(path)
	switch {
	case err != nil || len(said) == 0:
		return repeatUnknown
	case slices.Contains(strings.Split(string(said), "\n"), "hung"):
		return repeatHung
	}
	return repeatHeld
}

// repeatCommand runs this test binary so that it plays a story, with the flags of the test's own;
// nil if the host cannot say how.
func (c *campaign) repeatCommand(path string, limit time.Duration) *exec.Cmd {
	self, err := os.Executable()
	replay := testArgs(c.settings.Host.Replay(path))
	replays := func(arg string) bool { return strings.HasPrefix(arg, "-sim.replay=") }
	if err != nil || !slices.ContainsFunc(replay, replays) {
		return nil
	}
	args := append(replay, fmt.Sprintf("-sim.hang=%v", limit), "-test.timeout=0", "-test.count=1")
	if given("sim.max-steps", "SIM_MAX_STEPS") {
		args = append(args, fmt.Sprintf("-sim.max-steps=%d", c.settings.Run.MaxSteps))
	}
	flag.Visit(func(f *flag.Flag) {
		group, _, grouped := strings.Cut(f.Name, ".")
		if !grouped || group != "test" && group != "sim" && group != "ginkgo" && group != "rapid" {
			args = append(args, fmt.Sprintf("-%s=%s", f.Name, f.Value.String()))
		}
	})
	return exec.Command(self, args...)
}

// testArgs turns a go test command into the arguments of the test binary.
func testArgs(command string) (args []string) {
	words := shell.Split(command)
	for i, w := range words {
		switch {
		case w == "-run" && i+1 < len(words):
			args = append(args, "-test.run="+words[i+1])
		case strings.HasPrefix(w, "-sim.") || strings.HasPrefix(w, "-ginkgo."):
			args = append(args, w)
		}
	}
	return args
}

// reportReplayed adds a line on a story that was replayed to the file that the wavetank command, or
// a process that repeats a run, asks for: an exit code does not report whether a test of that name
// was there.
func (s Settings) reportReplayed(outcome string) {
	path := os.Getenv(replayedFile)
	if path == "" || !s.replayFlag {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return // whoever asked will miss it
	}
	defer f.Close()
	fmt.Fprintln(f, outcome)
}
