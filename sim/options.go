package sim

import (
	"strconv"
	"time"

	"github.com/wavetank/wavetank/sim/internal/campaign"
)

// ExploreOption overrides a flag for one scenario.
type ExploreOption func(*campaign.Settings)

// Runs sets the number of runs; 0 means as many as the time allows.
func Runs(n int) ExploreOption { return func(s *campaign.Settings) { s.Runs = n } }

// For limits the CPU time that the process spends on all runs; 0 means no limit. Where the system
// reports no CPU time, it limits the real time. Without For and -sim.for the limit is 5 s; a
// campaign with fewer than 20 runs then continues until it has made 20 or has used 30 s.
func For(d time.Duration) ExploreOption {
	return func(s *campaign.Settings) { s.Budget, s.Strict = d, true }
}

// Seed sets the base seed.
func Seed(n uint64) ExploreOption {
	return func(s *campaign.Settings) { s.Seed = strconv.FormatUint(n, 10) }
}

// Verify runs every n-th run twice and compares the histories; 0 means never. A pair that differs
// is repeated ten times. If all those pairs differ, the campaign fails. If fewer do, or if only the
// text of an error differs, that is a warning: see [result.Report.Divergences].
func Verify(n int) ExploreOption { return func(s *campaign.Settings) { s.Verify = n } }

// Shrink limits the real time for shrinking what is found; 0 means not at all.
func Shrink(d time.Duration) ExploreOption { return func(s *campaign.Settings) { s.Shrink = d } }

// Strategy sets how choice sequences are made: portfolio (the default), burst, aimed, sweep,
// swarm, random, storm, exhaustive or rapid. Several with commas between them take turns, as those
// of the portfolio do.
func Strategy(name string) ExploreOption { return func(s *campaign.Settings) { s.Strategy = name } }

// Bound sets how many disturbances a run of the exhaustive strategy has at most.
func Bound(n int) ExploreOption { return func(s *campaign.Settings) { s.Bound = n } }

// ReportTo writes the campaign's result into a directory as JSON while it runs, and continues where
// such a result left off. Of each failure it writes the timeline there, as a page for people and as
// JSON.
func ReportTo(dir string) ExploreOption { return func(s *campaign.Settings) { s.ReportDir = dir } }

// KeepGoing continues after a failure until all runs are made, and groups findings by cause. A run
// continues after a violation, too, so what breaks first does not hide what breaks later. The
// report begins with the most harmful finding. A hot loop, a world that does not settle, and a
// panic of the scenario still end their run.
func KeepGoing() ExploreOption { return func(s *campaign.Settings) { s.KeepGoing = true } }

// MaxSteps sets after how many steps a run that does not settle is given up. [World.Settle] takes
// twice as many if a reflector or a failing key backs off at that moment.
func MaxSteps(n int) ExploreOption { return func(s *campaign.Settings) { s.Run.MaxSteps = n } }

// Window bounds what a run remembers, so that it needs no more memory the longer it is. It keeps
// its record for the last d of virtual time (and for as long again, at times), and of what came
// before only the objects, the effects, the counts and a mark of each event by which two runs are
// compared. So that everything has been read by then, Eventually functions are called once in each
// d as well, and what they say then does not count. Properties that look back further panic with a
// sentence that says so, and the story of a failure begins where the record does.
//
// The API servers forget with it, as kube-apiserver has etcd do every five minutes
// (--etcd-compaction-interval): a watch that lags by more than d gets 410 Gone. The goroutines
// of dead processes end then, not when the run does. From then on math/rand may return
// different values in the programs, so a run differs from the same one without a window.
//
// d must be at least a minute and longer than faults last. [World.Undisturbed], and strategies that
// plan with the record of earlier runs (all but random, swarm and storm), cannot be had with it.
func Window(d time.Duration) ExploreOption { return func(s *campaign.Settings) { s.Run.Window = d } }

// Stories keeps what is found as story files in a directory, and tries the stories that are there
// before searching. "" is the directory that Check uses by itself: the one of the test's name,
// under testdata/sim.
func Stories(dir string) ExploreOption {
	return func(s *campaign.Settings) { s.Stories, s.Keep = dir, s.Keep || dir == "" }
}

// Replay plays one story instead of searching, whichever test it belongs to: for catalogues of
// stories that must still break one program and no longer another. Where -sim.replay is given, that
// one is played.
func Replay(path string) ExploreOption {
	return func(s *campaign.Settings) {
		if s.Replay == "" {
			s.Replay = path
		}
	}
}
