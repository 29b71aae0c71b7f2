//go:build unix

package sim_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
)

// A test binary that is killed leaves a whole result, about two seconds old at most, and whole
// stories. The same command continues from there.
func TestKilledCampaignLeavesItsResult(t *testing.T) {
	const name = "TestKilledCampaignLeavesItsResult"
	if os.Getenv(part) == name {
		sim.Check(t, func(w *sim.World) {
			n := sim.Draw(w, "number", rapid.IntRange(0, 1000))
			w.Always("nothing fails", func(*history.History) error {
				if n > 900 {
					return errors.New("it fails")
				}
				return nil
			})
			w.Apply(configMap("a"))
			w.Settle()
		})
		return
	}
	dir := t.TempDir()
	report := filepath.Join(dir, "report")
	args := []string{"-test.run=^" + name + "$", "-sim.for=0", "-sim.keep-going", "-sim.report=" + report}
	cmd := exec.Command(os.Args[0], append(args, "-sim.runs=1000000")...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), part+"="+name)
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
	out, _ := child(dir, name, append(args[1:], "-sim.runs=1000000", "-sim.for=100ms"), nil)
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
