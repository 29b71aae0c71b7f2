// This file is the suite: the table, with an entry for each variant and case, and the fixed variant
// under every fault.

package throttle

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/scenarios/internal/suite"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/simginkgo"
)

func TestThrottle(t *testing.T) {
	RegisterFailHandler(Fail)
	simginkgo.Use(t)
	RunSpecs(t, "Throttle", suite.Config())
}

var _ = DescribeTable("An operator whose writes are refused", suite.Check(Table()), suite.Entries(Table()))

// TestMatrix checks the page, and writes the results.
func TestMatrix(t *testing.T) { matrix.Test(t, Table()) }

var _ = Describe("The fixed variant", Label("hold"), func() {
	It("does everything once, whatever is injected", func() {
		opts := []sim.ExploreOption{sim.Runs(20), sim.For(0)}
		if os.Getenv("SIM_RUNS") != "" || os.Getenv("SIM_FOR") != "" {
			opts = nil // see make hold
		}
		simginkgo.Check(Table().Case("every fault").Scenario(throttle.V4), opts...)
	})
})
