// This file is the Ginkgo suite: an entry for each variant and property, and the fixed variant
// under every fault.

package throttle

import (
	"os"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/simginkgo"
)

func TestThrottle(t *testing.T) {
	RegisterFailHandler(Fail)
	simginkgo.Use(t)
	RunSpecs(t, "Throttle")
}

// entries are one for each variant and property, of the first case of each.
func entries() (out []TableEntry) {
	seen := map[string]bool{}
	for _, c := range Cases() {
		if seen[c.Property] {
			continue
		}
		seen[c.Property] = true
		for _, v := range throttle.Variants() {
			if outcome := c.Outcome(v); outcome != matrix.NotRun {
				out = append(out, Entry(outcome+" "+string(v)+": "+c.Property, c, v, outcome == matrix.Fails))
			}
		}
	}
	return out
}

var _ = Describe("An operator whose writes are refused", func() {
	DescribeTable("as a variant", func(c matrix.Case[throttle.Variant], v throttle.Variant, fails bool) {
		if !fails {
			simginkgo.Check(c.Scenario(v), sim.Runs(1), sim.For(0), sim.Verify(0))
			return
		}
		r := simginkgo.Explore(c.Scenario(v), sim.Runs(1000), sim.For(time.Minute), sim.Shrink(0), sim.Verify(0))
		Expect(r.Failure).NotTo(BeNil(), "nothing was found in %d runs", r.Runs)
		Expect(r.Failure.Property).To(Equal(c.Property), r.Failure.Message)
	}, entries())

	Context("with the fixed variant", Label("hold"), func() {
		It("does everything once, whatever is injected", func() {
			opts := []sim.ExploreOption{sim.Runs(20), sim.For(0)}
			if os.Getenv("SIM_RUNS") != "" || os.Getenv("SIM_FOR") != "" {
				opts = nil // see make hold
			}
			simginkgo.Check(Table().Case("every fault").Scenario(throttle.V4), opts...)
		})
	})
})
