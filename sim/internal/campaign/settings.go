package campaign

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/wavetank/wavetank/internal/strategy"
	"github.com/wavetank/wavetank/sim/internal/host"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// Settings are those of a campaign: what the -sim.* flags and their environment variables say, and
// the options of one campaign. The variables are there because a flag given to ./... fails in
// packages that do not import sim.
type Settings struct {
	Runs      int
	Budget    time.Duration // CPU time
	Strict    bool          // the budget was given and not left to the default
	Seed      string
	Strategy  string
	Replay    string
	Confirm   string // kubeconfig of a real API server that stories are confirmed at
	Attempts  int    // to confirm a story
	Child     bool   // incarnations are processes of their own at the real server
	Free      bool   // estimate how often runs without a story's order violate its property
	Mark      bool   // stories that are confirmed are written with the server's version
	Shard     string
	ReportDir string
	Coverage  string // file
	Drift     string
	Bound     int
	Verify    int
	Verbose   bool
	Logs      bool // programs log to standard error
	KeepGoing bool
	Renew     bool // stories that were replayed are written again
	Shrink    time.Duration
	Explain   time.Duration // CPU time
	Hang      time.Duration
	Memory    memory
	Stories   string // directory; set by options
	Keep      bool   // keep stories where Check does
	Host      host.Host
	Run       run.Settings
	Outside   process.Outside // what runs reach by no simulated connection

	replayFlag bool // -sim.replay is given, and not only the option
}

// On makes a campaign answer to a host other than the *testing.T that it was given. That one is
// still what bubbles are opened on.
func On(h host.Host) func(*Settings) { return func(s *Settings) { s.Host = h } }

// given reports whether a setting was made by flag or environment.
func given(flagName, envName string) bool {
	if os.Getenv(envName) != "" {
		return true
	}
	found := false
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == flagName })
	return found
}

// shortestWindow is how far properties of the default properties look back.
const shortestWindow = time.Minute

// log is where programs log: nowhere by default. It has a sink in any case, as managers would log
// to the suite's own logger without one.
func (s Settings) log() logr.Logger {
	if !s.Logs {
		return logr.New(ctrllog.NullLogSink{})
	}
	o := funcr.Options{LogTimestamp: true, TimestampFormat: "15:04:05.000"} // the bubble's clock begins at midnight
	return funcr.New(func(prefix, args string) { fmt.Fprintln(os.Stderr, strings.TrimSpace(prefix+" "+args)) }, o)
}

// prepareRuns completes the settings of runs.
func (s *Settings) prepareRuns() {
	s.Run.Log, s.Run.Monitor = s.log(), &run.Monitor{}
	if h, ok := s.Host.(leaver); ok {
		s.Run.Leaves = h.Leaves
	}
}

// leaver is a Host whose tests are left by panics, once they have been marked as failed or skipped.
type leaver interface{ Leaves(panicked any) bool }

// alone are the strategies that are made of all their runs: they take no turns and have no shards.
var alone = []string{"exhaustive", "rapid"}

// unplanned are the strategies that need no run to plan with.
var unplanned = []string{"random", "swarm", "storm"}

// portfolio is the order in which the default strategy takes turns. In small worlds bursts find
// more, in large ones random walks, which disturb everywhere, and aimed runs where a request is
// rare. docs/search.md shows what each is worth.
var portfolio = []string{"burst", "random", "burst", "aimed", "burst", "sweep", "burst", "swarm", "burst", "aimed"}

// turns are the strategies that take turns, in their order.
func (s *Settings) turns() []string {
	if s.Strategy == "portfolio" {
		return portfolio
	}
	return strings.Split(s.Strategy, ",")
}

// plans reports whether one of them plans with the record of earlier runs.
func (s *Settings) plans() bool {
	return slices.ContainsFunc(s.turns(), func(name string) bool { return !slices.Contains(unplanned, name) })
}

// unknownStrategy is the first word of the strategy that is none; "" if there is none.
func (s *Settings) unknownStrategy() string {
	names := strings.Split(s.Strategy, ",")
	for _, name := range names {
		if !slices.Contains(strategy.Names, name) {
			return name
		}
		if len(names) > 1 && (name == "portfolio" || slices.Contains(alone, name)) {
			return s.Strategy
		}
	}
	return ""
}

// ofCatalogue reports whether the test plays stories by itself, with sim.Replay. They may be those
// of another program, so nothing is said of how they fit.
func (s *Settings) ofCatalogue() bool { return s.Replay != "" && !s.replayFlag }
