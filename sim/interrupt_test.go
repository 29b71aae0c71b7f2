//go:build unix

package sim_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
)

// A test binary that a signal ends says what it has tried, whatever it is doing: it ends its run
// and writes its result, or keeps what it has shrunk a failure to, or is ended in a run that takes
// long.
func TestInterruptedCampaignSaysWhatItTried(t *testing.T) {
	const made = `sim: TestInterruptedCampaignSaysWhatItTried was ended by a signal \((interrupt|terminated)\) ` +
		`after (\d+) of 1000000 runs, (\d+) of which broke a property; `
	cases := map[string]struct {
		signal syscall.Signal
		says   string
	}{
		"searching": {syscall.SIGTERM, made + `the result is \S+\.json, and the same command continues from there\n`},
		"shrinking": {syscall.SIGINT, made + `the story is testdata/sim/\S+\.txtar; the result is `},
		"busy":      {syscall.SIGINT, made + `the result is `},
	}
	if name := os.Getenv("WAVETANK_TEST_INTERRUPTED"); name != "" {
		interrupted(t, name, cases[name].signal)
		return
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			report := filepath.Join(dir, "report")
			out, ok := child(dir, "TestInterruptedCampaignSaysWhatItTried",
				[]string{"-sim.runs=1000000", "-sim.for=0", "-sim.shrink=1h", "-sim.report=" + report},
				[]string{"WAVETANK_TEST_INTERRUPTED=" + name})
			found := regexp.MustCompile(c.says).FindStringSubmatch(out)
			if ok || found == nil || found[1] != c.signal.String() {
				t.Fatalf("it ended well: %v; it does not say %q:\n%s", ok, c.says, out)
			}
			if name == "shrinking" {
				stories, _ := filepath.Glob(filepath.Join(dir, "testdata/sim/*/*.txtar"))
				if len(stories) != 1 || found[3] != "1" || !strings.Contains(out, "replay: ") {
					t.Errorf("stories %v; it says\n%s", stories, out)
				}
			}
			results, _ := filepath.Glob(filepath.Join(report, "Test*.json"))
			if len(results) != 1 {
				t.Fatalf("results: %v", results)
			}
			r, err := story.ReadResult(results[0])
			if err != nil {
				t.Fatal(err)
			}
			if n, _ := strconv.Atoi(found[2]); n < r.Runs || n > r.Runs && name != "busy" {
				t.Errorf("it says that %d runs were made, and its result has %d", n, r.Runs)
			}
		})
	}
}

// interrupted makes a campaign whose own scenario sends the signal.
func interrupted(t *testing.T, name string, s syscall.Signal) {
	runs, failing := 0, 0
	sim.Check(t, func(w *sim.World) {
		runs++
		sum := 0
		for _, n := range sim.Draw(w, "numbers", rapid.SliceOfN(rapid.IntRange(0, 1000), 20, 20)) {
			sum += n
		}
		w.Always("nothing fails", func(*history.History) error {
			if name != "shrinking" || sum <= 5000 {
				return nil
			}
			if failing++; failing == 5 {
				_ = syscall.Kill(os.Getpid(), s)
			}
			return errors.New("it fails")
		})
		if name != "shrinking" && runs == 20 {
			_ = syscall.Kill(os.Getpid(), s)
			for name == "busy" { //nolint:staticcheck // until the process is ended
			}
		}
		w.Apply(configMap("a"))
		w.Settle()
	})
}
