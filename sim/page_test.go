package sim_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/sim"
)

// With a directory for reports, a failure leaves its timeline there and names it; a replay of its
// story leaves one in the same place, and keeps the history for whoever asks.
func TestAFailureLeavesItsTimeline(t *testing.T) {
	dir := t.TempDir()
	f := find(t, filepath.Join(dir, "stories"), sim.ReportTo(dir))
	if want := "    timeline: " + f.Page + "\n"; filepath.Dir(f.Page) != dir || !strings.Contains(f.Text(), want) {
		t.Errorf("the failure does not name its page %q:\n%s", f.Page, f.Text())
	}
	page, err := os.ReadFile(f.Page)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "<title>"+t.Name()) {
		t.Error("the page is not titled after the test")
	}
	r, err := reports.ReadRun(strings.TrimSuffix(f.Page, ".html") + reports.RunSuffix)
	if err != nil {
		t.Fatal(err)
	}
	if at, what := history.Difference(f.History, r.History); at >= 0 {
		t.Errorf("the run on file is another: %s", what)
	}
	if err := os.Remove(f.Page); err != nil {
		t.Fatal(err)
	}
	again := sim.Explore(t, sendsTwice, sim.Replay(f.File), sim.ReportTo(dir))
	if again.Failure == nil || again.Failure.Page != f.Page || again.Replayed == nil ||
		again.Replayed.Hash() != f.History.Hash() {
		t.Errorf("the replay leaves %+v", again.Failure)
	}
	if _, err := os.Stat(f.Page); err != nil {
		t.Error(err)
	}
}
