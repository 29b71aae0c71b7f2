// This file is the suite: the matrix, and the fixed variant under every fault.

package promotion

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/scenarios/internal/suite"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/simginkgo"
)

func TestPromotion(t *testing.T) {
	RegisterFailHandler(Fail)
	simginkgo.Use(t)
	RunSpecs(t, "Promotion", suite.Config())
}

var _ = DescribeTable("A Pipeline", suite.Check(Table()), suite.Entries(Table()))

// TestMatrix checks the pages, and writes the results.
func TestMatrix(t *testing.T) {
	matrix.Test(t, Table())
	t.Run("lesson", lesson)
}

// TestKeptStoryReplays pastes a story's replay command into a shell.
func TestKeptStoryReplays(t *testing.T) {
	if testing.Short() {
		t.Skip("it links the test again")
	}
	paths, err := story.List("testdata/catalogue")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d stories: %v", len(paths), err)
	}
	s, err := story.Read(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(s.Replay, " -sim.replay="+filepath.ToSlash(paths[0])) {
		t.Errorf("%s says it is replayed with %q", paths[0], s.Replay)
	}
	out, err := exec.Command("sh", "-c", s.Replay).CombinedOutput()
	if err == nil {
		t.Errorf("the replay passes:\n%s", out)
	}
	for _, want := range []string{strconv.Quote(s.Property), s.Message, "replay: " + s.Replay} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the replay does not say %q but\n%s", want, out)
		}
	}
}

var _ = Describe("A promotion by the fixed variant", Label("hold"), func() {
	check := func(scenario func(*sim.World)) {
		GinkgoHelper()
		simginkgo.Check(scenario, briefly(sim.For(3*time.Second))...)
	}
	It("happens once and gets everywhere, whatever is injected", func() {
		check(Everything(promotion.V8, EveryFault()...))
	})
	It("happens once in every corner, whatever is injected", func() {
		check(scenario(quietly, anyCorner, promotion.V8, holds, EveryFault()...))
	})
	It("happens once in another cluster, whatever is injected", func() {
		// The operator's own caches of other clusters are none that the harness sees: it would
		// take the world for settled while such a cache waits to open its watch again. So only the
		// watches of Pipelines end.
		check(scenario(between("dev", "prod"), farAway, promotion.V8, holds, EveryFault(fault.OfKind("Pipeline"))...))
	})
	It("rests on what all targets have proved, in two clusters", func() {
		check(scenario(inTwoClusters("dev", "staging", "prod"), unevenly, promotion.V8,
			[]string{inOrder, notStale, complete}, lagging()...))
	})
	It("says so when nobody can be asked what became of it", func() {
		check(scenario(quietly, losesForge, promotion.V8, []string{actionable}, crash()...))
	})
	It("happens once to each of many pipelines while the operator dies and comes back", func() {
		many := 30
		if briefly(sim.Runs(0)) == nil {
			many = 500 // for make hold
		}
		simginkgo.Check(scenario(between("dev", "staging"), fleet(many), promotion.V8, []string{effectOnce, everywhere},
			fault.Crash(Operator), fault.Restart(Operator)), sim.Runs(2), sim.For(0), sim.Verify(0))
	})
	It("happens once and gets everywhere in a crowd", func() {
		check(scenario(between("dev", "staging"), crowd, promotion.V8,
			[]string{effectOnce, oncePerStay, inOrder, notStale, everywhere, isRecorded, statusIsTrue},
			fault.StaleCache(30*time.Second, fault.HardLimit()), fault.Crash(Operator), fault.RacingRequeue(),
			fault.SlowEffect(10*time.Minute), fault.DoubledEffect()))
	})
})

// briefly are the options of campaigns that must pass, unless the environment says how long they
// should be: see make hold.
func briefly(opts ...sim.ExploreOption) []sim.ExploreOption {
	if os.Getenv("SIM_RUNS") != "" || os.Getenv("SIM_FOR") != "" {
		return nil
	}
	return opts
}
