package determinism

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
)

var (
	pairs  = flag.Int("determinism.pairs", 10, "how many runs of each program are made")
	double = flag.Bool("determinism.double", true, "make each run twice and compare the two")
	seed   = flag.Uint64("determinism.seed", 0, "base seed; 0 for the one fixed by the program's name")
	record = flag.String("determinism.record", "", "file that the outcome of one program is written to, as JSON")
)

// outcome is what came of the doubled runs of one program in one process.
type outcome struct {
	Program string `json:"program"`
	Runs    int    `json:"runs"`
	Doubled int    `json:"doubled"` // runs that were made twice and compared
	Differ  int    `json:"differ"`
	Steps   int    `json:"steps"`
	Seed    uint64 `json:"seed"`
	CPU     string `json:"cpu"` // CPU time of the process for these runs
	// Faults is how often each declared fault was injected.
	Faults map[string]int `json:"faults"`
	// Digests has one digest for each run, in hexadecimal: another process compares its own with
	// them.
	Digests []string `json:"digests"`
	// Differences has the message of each pair that differs.
	Differences []string `json:"differences,omitempty"`
}

// replays makes runs of a program twice and fails the test where two of them differ.
func replays(t *testing.T, program func(*sim.World)) {
	t.Helper()
	var digests []string
	opts := []sim.ExploreOption{sim.Runs(*pairs), sim.For(0), sim.KeepGoing(), sim.Shrink(0)}
	if *double {
		opts = append(opts, sim.Verify(1))
	} else {
		opts = append(opts, sim.Verify(0))
	}
	if *seed != 0 {
		opts = append(opts, sim.Seed(*seed))
	}
	r := sim.Explore(t, func(w *sim.World) {
		program(w)
		digests = append(digests, digest(w.History()))
	}, opts...)
	o := outcome{
		Program: strings.TrimPrefix(t.Name(), "Test"), Runs: r.Runs, Doubled: r.Doubled, Steps: r.Steps, Seed: r.Seed,
		CPU: r.Spent.Round(time.Millisecond).String(), Faults: map[string]int{}, Digests: digests,
	}
	for _, f := range r.Faults {
		o.Faults[f.Fault] = f.Injected
	}
	for _, f := range r.Findings {
		o.Differ += f.Count
		o.Differences = append(o.Differences, f.Cause)
		t.Errorf("%d runs: %s\n%s", f.Count, f.Cause, f.Story)
	}
	for _, d := range r.Divergences { // pairs that differ now and then, which are a warning
		o.Differ += d.Runs
		o.Differences = append(o.Differences, d.Sentence())
		t.Logf("%s", d.Sentence())
	}
	t.Logf("%d runs, %d made twice, %d differ, %d steps, %v of CPU time", o.Runs, o.Doubled, o.Differ, o.Steps, o.CPU)
	if *record == "" {
		return
	}
	out, err := json.MarshalIndent(o, "", "\t")
	if err == nil {
		err = os.WriteFile(*record, out, 0o644)
	}
	if err != nil {
		t.Fatalf("the outcome cannot be recorded: %v", err)
	}
}

// digest sums up all that is compared of a run, so that runs of two processes can be compared.
func digest(h *history.History) string {
	sum := fnv.New64a()
	for i := range h.Events {
		e := &h.Events[i]
		fmt.Fprintln(sum, e.Step, e.Server, e.Call, e.String())
		sum.Write(e.Sent)
		sum.Write(e.Received)
		for _, c := range e.Changes {
			sum.Write(c.Object)
		}
	}
	return fmt.Sprintf("%016x", sum.Sum64())
}
