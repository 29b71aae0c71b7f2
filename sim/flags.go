package sim

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
)

// settings are the -sim.* flags. Each has an environment twin, because a flag given to ./... fails in packages that do
// not import sim.
type settings struct {
	runs        int
	budget      time.Duration // CPU time
	strict      bool          // the budget was given and not left to the default
	seed        string
	strategy    string
	replay      string
	shard       string
	report      string
	drift       string
	bound       int
	maxSteps    int
	verify      int
	verbose     bool
	log         bool
	keepGoing   bool
	shrink      time.Duration
	hang        time.Duration
	stories     string // directory; set by options
	keep        bool   // keep stories where Check does
	host        Host
	undisturbed *undisturbed
	window      time.Duration    // of the record that is kept; 0 for all of it
	twin        *history.History // what the run is compared with as it forgets
	callers     bool             // the run notes from where requests are made
}

var flags settings

func init() {
	flag.IntVar(&flags.runs, "sim.runs", env("RUNS", 100, strconv.Atoi), "runs per scenario; 0 means as many as -sim.for allows (env SIM_RUNS)")
	flag.DurationVar(&flags.budget, "sim.for", env("FOR", defaultBudget, time.ParseDuration), "CPU time per scenario; 0 means no limit; left to the default, a scenario makes 20 runs "+
		"or uses 30s even so (env SIM_FOR)")
	flag.StringVar(&flags.seed, "sim.seed", env("SEED", "", text), "base seed: a number, \"random\", or empty for one fixed by the test's name (env SIM_SEED)")
	flag.StringVar(&flags.strategy, "sim.strategy", env("STRATEGY", "portfolio", text), "how tapes are made: "+strings.Join(strategies, ", ")+" (env SIM_STRATEGY)")
	flag.IntVar(&flags.bound, "sim.bound", env("BOUND", 2, strconv.Atoi), "disturbances in a run of the exhaustive strategy, at most (env SIM_BOUND)")
	flag.StringVar(&flags.shard, "sim.shard", env("SHARD", shardFromEnvironment(), text), "make only the runs of shard i of n, written i/n and counted from 0 (env SIM_SHARD, or JOB_COMPLETION_INDEX with SIM_SHARDS, or TEST_SHARD_INDEX with TEST_TOTAL_SHARDS, but not in tests built by Bazel's rules_go, which divides by test)")
	flag.StringVar(&flags.report, "sim.report", env("REPORT", "", text), "write each campaign's result as JSON into this directory, with the timeline of what is found as a page, and go on where such a result left off (env SIM_REPORT)")
	flag.StringVar(&flags.replay, "sim.replay", env("REPLAY", "", text), "replay this story file, or the directory of stories, instead of searching (env SIM_REPLAY)")
	flag.StringVar(&flags.drift, "sim.drift", env("DRIFT", driftWarns, text), "what becomes of a kept story that holds only because the code no longer asks for what its faults were injected at: warn or fail (env SIM_DRIFT)")
	flag.IntVar(&flags.maxSteps, "sim.max-steps", env("MAX_STEPS", 50000, strconv.Atoi), "steps after which a run that does not settle is given up (env SIM_MAX_STEPS)")
	flag.IntVar(&flags.verify, "sim.verify", env("VERIFY", 50, strconv.Atoi), "run every n-th run twice and compare the histories; 0 means never (env SIM_VERIFY). Runs that always differ fail the test, and those that differ now and then are a warning")
	flag.DurationVar(&flags.shrink, "sim.shrink", env("SHRINK", shrinkTime, time.ParseDuration), "real time for shrinking a failure, or with -sim.replay the story that is replayed; 0 means not at all (env SIM_SHRINK)")
	flag.DurationVar(&flags.hang, "sim.hang", env("HANG", hangLimit, time.ParseDuration), "time without progress after which a run counts as hung: CPU time while a goroutine could run, real time while all wait (env SIM_HANG)")
	flag.BoolVar(&flags.keepGoing, "sim.keep-going", env("KEEP_GOING", false, strconv.ParseBool), "go on after a failure and group what is found by cause (env SIM_KEEP_GOING)")
	flag.BoolVar(&flags.log, "sim.log", env("LOG", false, strconv.ParseBool), "print what the programs log, with virtual time: for -sim.replay, and go test -v where nothing breaks (env SIM_LOG)")
	flag.BoolVar(&flags.verbose, "sim.v", env("V", false, strconv.ParseBool), "print every event of a failing or replayed run (env SIM_V)")
}

// badEnv keeps what was wrong with the environment until a scenario can report it.
var badEnv error

// variables are the names that were looked up.
var variables []string

// lookAgain reads the environment where go test notices it, so that it does not take a result for cached that was made with
// other settings.
func lookAgain() {
	for _, name := range variables {
		os.Getenv(name)
	}
	shardFromEnvironment()
}

func env[T any](name string, otherwise T, parse func(string) (T, error)) T {
	variables = append(variables, "SIM_"+name)
	s := os.Getenv("SIM_" + name)
	if s == "" {
		return otherwise
	}
	v, err := parse(s)
	if err != nil {
		badEnv = fmt.Errorf("sim: environment variable SIM_%s=%q cannot be read as %T; write it as you would write -sim.%s",
			name, s, otherwise, strings.ToLower(strings.ReplaceAll(name, "_", "-")))
		return otherwise
	}
	return v
}

func text(s string) (string, error) { return s, nil }

// check reports contradictory or impossible settings.
func (s settings) check() error {
	switch {
	case badEnv != nil:
		return badEnv
	case s.runs < 0:
		return fmt.Errorf("sim: -sim.runs=%d is negative; write 0 for as many runs as -sim.for allows", s.runs)
	case s.budget < 0:
		return fmt.Errorf("sim: -sim.for=%v is negative; write 0 for no limit", s.budget)
	case s.runs == 0 && s.budget == 0:
		return fmt.Errorf("sim: -sim.runs=0 and -sim.for=0 together would never end; give one of them a limit")
	case s.maxSteps <= 0:
		return fmt.Errorf("sim: -sim.max-steps=%d must be positive", s.maxSteps)
	case s.hang <= 0:
		return fmt.Errorf("sim: -sim.hang=%v must be positive", s.hang)
	case s.shrink < 0:
		return fmt.Errorf("sim: -sim.shrink=%v is negative; write 0 for no shrinking", s.shrink)
	case s.verify < 0:
		return fmt.Errorf("sim: -sim.verify=%d is negative; write 0 for never", s.verify)
	case !slices.Contains(strategies, s.strategy):
		return fmt.Errorf("sim: -sim.strategy=%q is unknown; write one of %s", s.strategy, strings.Join(strategies, ", "))
	case s.shard != "" && !goodShard(s.shard):
		return fmt.Errorf("sim: -sim.shard=%q is not a shard; write i/n with 0 <= i < n, for example 0/4", s.shard)
	case s.shards() > 1 && slices.Contains([]string{"exhaustive", "evolve", "rapid"}, s.strategy):
		return fmt.Errorf("sim: -sim.strategy=%s cannot be sharded, each of its runs depends on those before it; use portfolio, random, swarm, pct, delay, starve, sweep or pairs", s.strategy)
	case s.window != 0 && s.window < shortestWindow:
		return fmt.Errorf("sim: sim.Window(%v) is shorter than %v, which the default pack looks back", s.window, shortestWindow)
	case s.window > 0 && !slices.Contains([]string{"random", "swarm", "starve", "storm"}, s.strategy):
		return fmt.Errorf("sim: -sim.strategy=%s plans with the whole record of earlier runs, which sim.Window does not keep; use random, swarm, starve or storm", s.strategy)
	case s.drift != driftWarns && s.drift != driftFails:
		return fmt.Errorf("sim: -sim.drift=%q is unknown; write %s or %s", s.drift, driftWarns, driftFails)
	case s.bound < 1:
		return fmt.Errorf("sim: -sim.bound=%d must be at least 1", s.bound)
	}
	for _, name := range []string{"sim.seed", "sim.strategy"} {
		if flags.replay != "" && given(name, "") { // sim.Replay has its way where only the option is given
			return fmt.Errorf("sim: -sim.replay plays the choices of a story, so leave out -%s", name)
		}
	}
	if s.seed != "" && s.seed != "random" {
		if _, err := strconv.ParseUint(s.seed, 0, 64); err != nil {
			return fmt.Errorf("sim: -sim.seed=%q is neither a number nor \"random\"", s.seed)
		}
	}
	return nil
}

// given says whether a setting was made by flag or environment.
func given(flagName, envName string) bool {
	if os.Getenv(envName) != "" {
		return true
	}
	found := false
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == flagName })
	return found
}
