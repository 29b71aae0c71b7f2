//go:build unix

package campaign_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// A process whose memory Go's runtime does not free is replaced by a fresh one, which continues the
// campaign. If this test fails because the memory is freed, worn.go has no purpose any more.
func TestWornProcessIsReplaced(t *testing.T) {
	if simtest.InChild() {
		worn(t)
		return
	}
	dir := t.TempDir()
	out, r := wornCampaign(t, dir)
	if began, _ := os.ReadFile(filepath.Join(dir, marks)); string(began) != "++" {
		t.Errorf("%d processes were begun, not two:\n%s", len(began), out)
	}
	if !strings.Contains(out, "continuing with run") {
		t.Errorf("the second does not continue:\n%s", out)
	}
	if !r.Complete || r.Runs != 20 {
		t.Errorf("%d runs were made, complete: %v", r.Runs, r.Complete)
	}

	r.Next, r.Complete, r.Orders = 3, false, 77
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	if out, r = wornCampaign(t, dir); r.Orders != 77 {
		t.Errorf("the campaign that continues has seen %d orders, want 77:\n%s", r.Orders, out)
	}
}

// marks is a file with a mark for each process that was begun.
const marks = "marks"

// wornCampaign makes the campaign in a process, or continues it, and returns its result.
func wornCampaign(t *testing.T, dir string) (string, *story.Result) {
	t.Helper()
	out, ok := simtest.Child(
		dir,
		t.Name(),
		[]string{"-sim.runs=40", "-sim.for=0", "-sim.shard=1/2", "-sim.report=" + dir},
		nil,
	)
	if !ok {
		t.Fatal(out)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("results: %v, %v", paths, err)
	}
	r, err := story.ReadResult(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	return out, r
}

// worn is what the processes do: the first one wears itself out.
func worn(t *testing.T) {
	began, _ := os.ReadFile(marks)
	if err := os.WriteFile(marks, append(began, '+'), 0o666); err != nil {
		t.Fatal(err)
	}
	if len(began) == 0 {
		synctest.Test(t, func(*testing.T) {
			wg := &sync.WaitGroup{}
			for range 3 << 20 {
				wg.Go(func() {})
				wg.Wait()
			}
		})
	}
	sim.Explore(t, func(w *sim.World) { w.Settle() })
}

// A test binary that is killed leaves a whole result, about two seconds old at most, and whole
// stories. The same command continues from there.
func TestKilledCampaignLeavesItsResult(t *testing.T) {
	if simtest.InChild() {
		sim.Check(t, func(w *sim.World) {
			n := sim.Draw(w, "number", rapid.IntRange(0, 1000))
			w.Always("nothing fails", func(*history.History) error {
				if n > 900 {
					return errors.New("it fails")
				}
				return nil
			})
			w.Apply(simtest.ConfigMap("a"))
			w.Settle()
		})
		return
	}
	dir := t.TempDir()
	report := filepath.Join(dir, "report")
	args := []string{"-sim.for=0", "-sim.keep-going", "-sim.report=" + report, "-sim.runs=1000000"}
	cmd := simtest.Command(dir, t.Name(), args, nil)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var r *story.Result
	var written time.Time
	versions := 0
	for begun := time.Now(); versions < 2; time.Sleep(10 * time.Millisecond) {
		select {
		case err := <-ended:
			t.Fatalf("it ended by itself: %v", err)
		default:
		}
		if time.Since(begun) > time.Minute {
			cmd.Process.Kill() //nolint:errcheck // the test fails anyway
			t.Fatalf("its result was written %d times in a minute", versions)
		}
		r, written, versions = renewed(t, report, r, written, versions)
	}
	time.Sleep(300 * time.Millisecond)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Fatal("it ended well")
	}
	killed := time.Now()
	r, written, _ = renewed(t, report, r, written, versions)
	if age := killed.Sub(written); age > 10*time.Second || r.Runs == 0 { // a busy machine may need longer than two
		t.Errorf("the result is %v old and has %d runs", age, r.Runs)
	}
	stories, _ := filepath.Glob(filepath.Join(dir, "testdata/sim/*/*.txtar"))
	if len(stories) == 0 || len(r.Findings) == 0 {
		t.Errorf("there are %d stories and %d findings", len(stories), len(r.Findings))
	}
	for _, s := range stories {
		if _, err := story.Read(s); err != nil {
			t.Error(err)
		}
	}
	out, _ := simtest.Child(dir, t.Name(), append(args, "-sim.for=100ms"), nil)
	if after, _, _ := renewed(t, report, r, written, 0); after.Runs <= r.Runs || after.Seed != r.Seed {
		t.Errorf("the next command did not continue after run %d, but has %d runs:\n%s", r.Runs, after.Runs, out)
	}
}

// renewed reads the result in a directory if it is newer than the version that is known. It must be
// whole whenever it is there.
func renewed(t *testing.T, dir string, r *story.Result, at time.Time, versions int) (*story.Result, time.Time, int) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "Test*.json"))
	if len(files) == 0 {
		return r, at, versions
	}
	info, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if info.ModTime().Equal(at) {
		return r, at, versions
	}
	read, err := story.ReadResult(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return read, info.ModTime(), versions + 1
}

// A test binary that a signal ends reports what it has tried: while it searches, while it shrinks,
// and in a run that takes long.
func TestInterruptedCampaignReports(t *testing.T) {
	const made = `sim: TestInterruptedCampaignReports was ended by a signal \((interrupt|terminated)\) ` +
		`after (\d+) of 1000000 runs, (\d+) of which broke a property; `
	cases := map[string]struct {
		signal syscall.Signal
		says   string
	}{
		"searching": {syscall.SIGTERM, made + `the result is \S+\.json, and the same command continues from there\n`},
		"shrinking": {syscall.SIGINT, made + `the story is testdata/sim/\S+\.txtar; the result is `},
		"busy":      {syscall.SIGINT, made + `the result is `},
	}
	if simtest.InChild() {
		interrupted(t, simtest.Case(), cases[simtest.Case()].signal)
		return
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			report := filepath.Join(dir, "report")
			out, ok := simtest.Child(dir, "TestInterruptedCampaignReports",
				[]string{"-sim.runs=1000000", "-sim.for=0", "-sim.shrink=1h", "-sim.report=" + report},
				[]string{"WAVETANK_TEST_CHILD_CASE=" + name})
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
		fails := name == "shrinking" && sum > 5000
		if fails {
			failing++
		}
		w.Always("nothing fails", func(*history.History) error {
			if !fails {
				return nil
			}
			if failing == 20 {
				_ = syscall.Kill(os.Getpid(), s)
			}
			return errors.New("it fails")
		})
		if name != "shrinking" && runs == 20 {
			_ = syscall.Kill(os.Getpid(), s)
			for name == "busy" { //nolint:staticcheck // until the process is ended
			}
		}
		w.Apply(simtest.ConfigMap("a"))
		w.Settle()
	})
}
