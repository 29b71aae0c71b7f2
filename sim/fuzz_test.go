package sim_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// FuzzBreaks is a target with a bug, for the children of TestFuzzStoryReplays.
func FuzzBreaks(f *testing.F) {
	if !simtest.InChild() {
		f.Skip("it is meant to break, in a process of its own")
	}
	sim.Fuzz(f, simtest.SendsTwice)
}

// FuzzNothing has no scenario, for the child of TestFuzzNeedsAScenario.
func FuzzNothing(f *testing.F) {
	if !simtest.InChild() {
		f.Skip("it is meant to fail, in a process of its own")
	}
	sim.Fuzz(f, nil)
}

func TestFuzzNeedsAScenario(t *testing.T) {
	if out, ok := simtest.Child(t.TempDir(), "FuzzNothing", nil, nil); ok || !strings.Contains(out, "fuzz_test.go") ||
		!strings.Contains(out, "sim: Fuzz needs a scenario") {
		t.Errorf("it says:\n%s", out)
	}
}

// What a fuzz target finds is replayed by the printed command, and tried again by plain go test.
func TestFuzzStoryReplays(t *testing.T) {
	dir := t.TempDir()
	corpus := filepath.Join(dir, "testdata", "fuzz", "FuzzBreaks")
	if err := os.MkdirAll(corpus, 0o777); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 40 { // as go test -fuzz would leave them
		data := make([]byte, 400)
		for j := range data {
			if random.IntN(5) == 0 {
				data[j] = byte(200 + random.IntN(56))
			}
		}
		if err := os.WriteFile(filepath.Join(corpus, fmt.Sprint(i)),
			fmt.Appendf(nil, "go test fuzz v1\n[]byte(%q)\n", data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const sentence = `"each mail is sent at most once" broke`
	out, ok := simtest.Child(dir, "FuzzBreaks", nil, nil)
	if ok || !strings.Contains(out, sentence) {
		t.Fatalf("nothing was found:\n%s", out)
	}
	args := simtest.ReplayArgs(t, out)
	again, ok := simtest.Child(dir, "FuzzBreaks", append(args, "-sim.v"), nil)
	if ok || strings.Count(again, "replay: ") != 1 || !strings.Contains(again, sentence) ||
		!strings.Contains(again, "dequeue mailer/1") {
		t.Errorf("%v:\n%s", args, again)
	}
	if next, ok := simtest.Child(dir, "FuzzBreaks", nil, nil); ok ||
		!strings.Contains(next, "--- FAIL: FuzzBreaks/seed#0") {
		t.Errorf("the kept story was not tried before the first input, which is the dull run:\n%s", next)
	}
	if none, ok := simtest.Child(dir, "FuzzBreaks", []string{"-sim.replay=no/such/file"}, nil); ok ||
		!strings.Contains(none, "there is no such file") {
		t.Errorf("a file that is not there:\n%s", none)
	}
}
