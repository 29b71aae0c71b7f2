// This file is the suite: the table of the story with its catalogue; and, in Ginkgo, the fixed
// variant.

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
	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/result"
	"github.com/wavetank/wavetank/sim/simginkgo"
	"github.com/wavetank/wavetank/story"
)

func TestPromotion(t *testing.T) {
	RegisterFailHandler(Fail)
	simginkgo.Use(t)
	RunSpecs(t, "Promotion")
}

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

var _ = Describe("A promotion", func() {
	DescribeTable("goes wrong with V1 from any base seed:", func(seed uint64) {
		expectCaught(simginkgo.Explore(OneEvent(promotion.V1, lag()...), search(sim.Seed(seed))...), AttemptedOnce)
	},
		Entry("one", uint64(1)),
		Entry("two", uint64(2)),
		Entry("three", uint64(3)),
	)

	Context("with the fixed variant", Label("hold"), func() {
		It("happens once and gets everywhere, whatever is injected", func() {
			simginkgo.Check(Everything(promotion.V8, EveryFault()...), briefly(sim.For(3*time.Second))...)
		})
		It("happens once in every corner, whatever is injected", func() {
			simginkgo.Check(Corners(promotion.V8, EveryFault()...), briefly(sim.For(3*time.Second))...)
		})
		It("happens once in another cluster, whatever is injected", func() {
			// The operator's own caches of other clusters are none that the harness sees: it would
			// take the world for settled while such a cache waits to open its watch again. So only
			// the watches of Pipelines end.
			simginkgo.Check(Faraway(promotion.V8, EveryFault(fault.OfKind("Pipeline"))...),
				briefly(sim.For(3*time.Second))...)
		})
		It("rests on what all targets have proved, in two clusters", func() {
			simginkgo.Check(uneven.New(promotion.V8, []string{inOrder, notStale, complete}, lag()...),
				briefly(sim.For(3*time.Second))...)
		})
		It("says so when nobody can be asked what became of it", func() {
			simginkgo.Check(ForgeDown(promotion.V8, crash()...), briefly(sim.For(3*time.Second))...)
		})
		It("happens once to each of many pipelines while the operator dies and comes back", func() {
			simginkgo.Check(Fleet(fleet())(promotion.V8, fault.Crash(Operator), fault.Restart(Operator)), sim.Runs(2),
				sim.For(0), sim.Verify(0))
		})
		It("happens once and gets everywhere in a crowd", func() {
			simginkgo.Check(Crowd(promotion.V8, fault.StaleCache(30*time.Second), fault.Crash(Operator),
				fault.RacingRequeue(),
				fault.SlowEffect(10*time.Minute), fault.DoubledEffect()), briefly(sim.For(3*time.Second))...)
		})
	})
})

// fleet is 500 pipelines for make hold, and as many as do not take long for everybody else.
func fleet() int {
	if briefly(sim.Runs(0)) == nil {
		return 500
	}
	return 30
}

// search looks for longer than it should take: what is there is usually found in a few runs.
func search(more ...sim.ExploreOption) []sim.ExploreOption {
	return append(more, sim.Runs(1000), sim.For(time.Minute))
}

// briefly are the options of campaigns that must hold, unless the environment says how long they
// should be: see make hold.
func briefly(opts ...sim.ExploreOption) []sim.ExploreOption {
	if os.Getenv("SIM_RUNS") != "" || os.Getenv("SIM_FOR") != "" {
		return nil
	}
	return opts
}

func expectCaught(r result.Report, sentence string) {
	GinkgoHelper()
	Expect(r.Failure).NotTo(BeNil(), "nothing was found in %d runs", r.Runs)
	Expect(r.Failure.Property).To(Equal(sentence), r.Failure.Message)
}
