//go:build unix

package sim_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim"
)

// A process to which Go's runtime does not give memory back is replaced by a fresh one, which goes
// on with the campaign. That the memory does not come back is a part of the test: when it fails for
// that, sim/internal/campaign/worn.go has no purpose any more.
func TestAWornProcessIsReplaced(t *testing.T) {
	if os.Getenv(part) == t.Name() {
		worn(t)
		return
	}
	dir := t.TempDir()
	out, r := wornCampaign(t, dir)
	if began, _ := os.ReadFile(filepath.Join(dir, marks)); string(began) != "++" {
		t.Errorf("%d processes were begun, not two:\n%s", len(began), out)
	}
	if !strings.Contains(out, "going on with run") {
		t.Errorf("the second does not go on:\n%s", out)
	}
	if !r.Complete || r.Runs != 20 {
		t.Errorf("%d runs were made, complete: %v", r.Runs, r.Complete)
	}

	r.Next, r.Complete, r.Orders = 3, false, 77
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	if out, r = wornCampaign(t, dir); r.Orders != 77 {
		t.Errorf("who goes on has seen %d orders, and the one before had seen 77:\n%s", r.Orders, out)
	}
}

// marks is a file with a mark for each process that was begun.
const marks = "marks"

// wornCampaign makes the campaign in a process, or goes on with it, and returns its result.
func wornCampaign(t *testing.T, dir string) (string, *story.Result) {
	t.Helper()
	out, ok := child(dir, t.Name(), []string{"-sim.runs=40", "-sim.for=0", "-sim.shard=1/2", "-sim.report=" + dir}, nil)
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
