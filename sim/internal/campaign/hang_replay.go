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

// repetition is what came of repeating a run that seems to hang. It is repeated before the hang is
// reported. A goroutine that does not stop cannot be taken out of a process. So another process
// plays the choices of the run, and the run itself is given time to continue.
type repetition int

const (
	repeatNot     repetition = iota // it was not repeated
	repeatHung                      // it made no progress in the other process either
	repeatHeld                      // it came to its end there
	repeatUnknown                   // the other process did not say
)

// repeating is set in the process that repeats a run: that one does not repeat it again.
const repeating = "WAVETANK_REPEATING"

// words are a line of the report of a hang.
func (r repetition) words() string {
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

// hangs repeats and reports runs that hang.
type hangs struct {
	settings Settings
	runs     *executor
	teller   *teller
	keep     func(next int) // writes the result, from run next on still to be made
	dialled  string         // found by the repetition: a connection to the real network
}

// repeat plays the choices of the run under way in another process, and stops waiting for it when
// this run continues.
func (h *hangs) repeat(limit time.Duration, done <-chan struct{}) repetition {
	r, d := h.settings.Run.Monitor.Latest.Load(), h.runs.doing.Load()
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
	path, err := h.teller.story(f, r.Choices.Sequence(), story.Length{}, story.Length{}).Write(dir)
	if err != nil {
		return repeatUnknown
	}
	cmd, said := h.repeatCommand(path, limit), filepath.Join(dir, "said")
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
	m := h.settings.Run.Monitor
	signs, began := m.Beats.Load(), time.Now()
	for {
		select {
		case <-ended:
			h.dialled = readDials(said)
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

// readDials reads which programs have connected to the real network; "" if none did.
func readDials(path string) string {
	said, _ := os.ReadFile(path)
	_, rest, _ := strings.Cut(string(said), connectedBy)
	connected, _, _ := strings.Cut(rest, "\n")
	return connected
}

// readRepeated reads what the other process has said.
func readRepeated(path string) repetition {
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
func (h *hangs) repeatCommand(path string, limit time.Duration) *exec.Cmd {
	self, err := os.Executable()
	replay := testArgs(h.settings.Host.Replay(path))
	replays := func(arg string) bool { return strings.HasPrefix(arg, "-sim.replay=") }
	if err != nil || !slices.ContainsFunc(replay, replays) {
		return nil
	}
	args := append(replay, fmt.Sprintf("-sim.hang=%v", limit), "-test.timeout=0", "-test.count=1")
	if given("sim.max-steps", "SIM_MAX_STEPS") {
		args = append(args, fmt.Sprintf("-sim.max-steps=%d", h.settings.Run.MaxSteps))
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

// report names the run that hangs, and keeps its story. Nothing else can do that any more. It
// is called by the watchdog: the goroutine that writes the run's record hangs, too, or soon will.
func (h *hangs) report(why string) (said string) {
	h.settings.reportReplayed("hung")
	d := h.runs.doing.Load()
	if d == nil {
		d = &activity{what: "a run before run 0, undisturbed or with every fault,"}
	}
	said = fmt.Sprintf("    it is %s of base seed %d\n", d.what, h.teller.report.Seed)
	h.keep(d.run) // the campaign continues with this run
	defer func() {
		if v := recover(); v != nil { // the record was being written after all
			said += fmt.Sprintf("    its story could not be told: %v\n", v)
		}
	}()
	r := h.settings.Run.Monitor.Latest.Load()
	if r == nil {
		return said
	}
	f := d.failure(result.Ending{Kind: result.Hang, Message: run.Repeatable(why)}, r.History.Rest())
	choices, length := r.Choices.Sequence(), story.Length{}
	if n := len(f.History.Events); n > 0 {
		f.Step, f.At = f.History.Events[n-1].Step, f.History.Events[n-1].At
	}
	length.Choices, length.Steps = len(choices), f.Step
	f.Story = h.teller.story(f, choices, length, length)
	for _, l := range f.Story.Excerpt(story.MaxLines) {
		said += "    " + l + "\n"
	}
	if h.settings.Replay != "" {
		return said + fmt.Sprintf("    replay: %s\n", h.teller.command(h.settings.Replay))
	}
	if h.settings.Stories == "" {
		return said + "    the story was not kept; sim.Stories(directory) keeps it\n"
	}
	path, err := f.Story.Write(h.settings.Stories)
	if err != nil {
		return said + fmt.Sprintf("    the story could not be kept: %v\n", err)
	}
	return said + fmt.Sprintf("    story:  %s\n    replay: %s\n", path, f.Story.Replay)
}
