// This file measures what package auto finds of the planted bugs, with no property of its own. The
// table in docs/auto.md is made from it.

package planted

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/auto"
)

var (
	autoRuns  = flag.Int("auto.runs", 0, "how many runs of each planted bug package auto makes; 0 for none")
	autoFixed = flag.Int("auto.fixed", 0, "the same for each fixed variant")
	autoOnly  = flag.String("auto.only", "", "the planted bugs to try, as a regular expression")
)

// byAuto is a planted operator in the scenario of package auto.
func byAuto(b Bug, fixed bool) func(*sim.World) {
	return func(w *sim.World) { auto.Scenario(w, auto.Objects(b.Operator(fixed)(w)...)) }
}

// autoTime is the CPU time that a campaign of package auto may take.
const autoTime = 20 * time.Second

// The table of docs/auto.md is written when runs are asked for.
func TestAuto(t *testing.T) {
	only := regexp.MustCompile(*autoOnly)
	for _, b := range Bugs() {
		if !only.MatchString(b.Name) {
			continue
		}
		if *autoFixed > 0 {
			r := sim.Explore(t, byAuto(b, true), sim.Runs(*autoFixed), sim.For(autoTime), sim.Verify(0))
			if f := r.Failure; f != nil {
				fmt.Printf("FIXED %s: run %d: %s\n", b.Name, r.Runs, f.Text())
			} else {
				fmt.Printf("FIXED %s: quiet in %d runs\n", b.Name, r.Runs)
			}
		}
		if *autoRuns > 0 {
			r := sim.Explore(t, byAuto(b, false), sim.Runs(*autoRuns), sim.For(autoTime), sim.Verify(0))
			if f := r.Failure; f != nil {
				fmt.Printf("FLAW %s: run %d: %s: %s\n", b.Name, r.Runs, f.Property, f.Message)
			} else {
				fmt.Printf("FLAW %s: nothing in %d runs\n", b.Name, r.Runs)
			}
		}
	}
	_, _, _ = os.ReadFile, filepath.Join, strings.Cut
}
