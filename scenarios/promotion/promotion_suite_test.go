// This file is the suite: the table of the story, a spec for each cell; the stories of the catalogue; and the full cure.

package promotion

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/simginkgo"
	"github.com/wavetank/wavetank/sim/story"
)

func TestPromotion(t *testing.T) {
	RegisterFailHandler(Fail)
	simginkgo.Use(t)
	RunSpecs(t, "Promotion")
}

// TestKeptStoryReplays pastes a story's replay command into a shell.
func TestKeptStoryReplays(t *testing.T) {
	if testing.Short() {
		t.Skip("it links the test again")
	}
	paths, err := story.List(catalogue)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d stories in %s: %v", len(paths), catalogue, err)
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
	for _, want := range []string{"Ran 1 of ", strconv.Quote(s.Property), s.Message, "replay: " + s.Replay} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the replay does not say %q but\n%s", want, out)
		}
	}
}

var _ = Describe("A promotion", func() {
	for _, column := range Columns() {
		DescribeTable(column.Name, func(v promotion.Variant) {
			scenario := column.Tell(v, column.Faults()...)
			if slices.Contains(column.Caught, v) {
				expectCaught(simginkgo.Explore(scenario, search(sim.Shrink(0))...), column.Broken)
			} else {
				simginkgo.Check(scenario, briefly(sim.Runs(5), sim.For(0), sim.Verify(0))...)
			}
		}, cells(column))
	}

	DescribeTable("goes wrong with V1 from any base seed:", func(seed uint64) {
		expectCaught(simginkgo.Explore(OneEvent(promotion.V1, lag()...), search(sim.Seed(seed))...), AttemptedOnce)
	},
		Entry("one", uint64(1)),
		Entry("two", uint64(2)),
		Entry("three", uint64(3)),
	)

	DescribeTable("goes wrong with", func(f Fall) {
		test := CurrentSpecReport().FullText()
		found := simginkgo.Explore(f.Of(f.Variant), search(keep(test)...)...)
		expectCaught(found, f.Broken)
		Expect(found.Failure.Story.After.Faults).To(BeNumerically("<=", f.Most), "faults in the shortest story")

		path, s, err := kept(test)
		Expect(err).NotTo(HaveOccurred())
		Expect(s.Property).To(Equal(f.Broken))
		Expect(replay(f, path, s)).To(Succeed())
	}, falls())

	It("is told by no story that nobody checks", func() {
		Expect(story.List(catalogue)).To(HaveLen(len(Falls())))
	})

	It("is not told by a stale story", func() {
		f := Falls()[0]
		paths, err := story.List(catalogue)
		Expect(err).NotTo(HaveOccurred())
		s, err := story.Read(paths[0])
		Expect(err).NotTo(HaveOccurred())
		s.Tape = nil // as if the code asked for none of its choices any more
		path, err := s.Write(GinkgoT().TempDir())
		Expect(err).NotTo(HaveOccurred())
		Expect(replay(f, path, s)).To(MatchError(ContainSubstring("does not break")))
	})

	Context("with the full cure", Label("hold"), func() {
		It("happens once and gets everywhere, whatever strikes", func() {
			simginkgo.Check(Everything(promotion.V8, EveryFault()...), briefly(sim.For(3*time.Second))...)
		})
		It("happens once and gets everywhere in a crowd", func() {
			simginkgo.Check(Crowd(promotion.V8, sim.StaleCache(30*time.Second), sim.Crash(Operator), sim.RacingRequeue(),
				sim.SlowEffect(10*time.Minute), sim.DoubledEffect()), briefly(sim.For(3*time.Second))...)
		})
	})
})

// cells are the entries of a column: one for each variant of which its question makes sense.
func cells(c Column) (entries []TableEntry) {
	for _, v := range promotion.Variants() {
		if !slices.Contains(c.Skipped, v) {
			entries = append(entries, Entry(string(v), Label(string(v)), v))
		}
	}
	return entries
}

// falls are the entries of the catalogue.
func falls() (entries []TableEntry) {
	for _, f := range Falls() {
		entries = append(entries, Entry(string(f.Variant)+" when "+f.When, Label(string(f.Variant), "catalogue"), f))
	}
	return entries
}

// search looks for longer than it should take: what is there is usually found in a few runs.
func search(more ...sim.ExploreOption) []sim.ExploreOption {
	return append(more, sim.Runs(1000), sim.For(time.Minute))
}

// briefly are the options of campaigns that must hold, unless the environment says how long they should be: see make hold.
func briefly(opts ...sim.ExploreOption) []sim.ExploreOption {
	if os.Getenv("SIM_RUNS") != "" || os.Getenv("SIM_FOR") != "" {
		return nil
	}
	return opts
}

// keep has the story of a test written anew, if that was asked for.
func keep(test string) []sim.ExploreOption {
	if os.Getenv(update) == "" {
		return nil
	}
	if path, _, err := kept(test); err == nil {
		Expect(os.Remove(path)).To(Succeed())
	}
	return []sim.ExploreOption{sim.Stories(catalogue)}
}

func expectCaught(r sim.Report, sentence string) {
	GinkgoHelper()
	Expect(r.Failure).NotTo(BeNil(), "nothing was found in %d runs", r.Runs)
	Expect(r.Failure.Property).To(Equal(sentence), r.Failure.Message)
}

// replay plays a kept story for the variant that it breaks and for the one that it must not break.
func replay(f Fall, path string, s *story.Story) error {
	return stale(s, simginkgo.Explore(f.Of(f.Variant), sim.Replay(path)), simginkgo.Explore(f.Of(promotion.V8), sim.Replay(path)))
}
