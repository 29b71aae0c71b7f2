package campaign

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/internal/strategy"
	"github.com/wavetank/wavetank/sim/internal/host"
)

// commandLine is what the flags and the environment say. Only package flag changes it.
var commandLine struct {
	Settings
	variables []string // of the environment, as they were looked up
	wrong     error    // what is wrong with the environment, until a campaign can report it
}

// FromFlags are the settings of a campaign that has no options.
func FromFlags(t *testing.T) Settings {
	lookAgain()
	s := commandLine.Settings
	s.Strict, s.replayFlag = given("sim.for", "SIM_FOR"), s.Replay != ""
	s.Host = host.Testing{T: t}
	if testing.Short() && !given("sim.runs", "SIM_RUNS") {
		s.Runs = 20
	}
	return s
}

// add adds a flag, with its environment variable as the default.
func addFlag[T any](
	define func(*T, string, T, string), p *T, name string, otherwise T, parse func(string) (T, error), usage string,
) {
	variable := "SIM_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	commandLine.variables = append(commandLine.variables, variable)
	if s := os.Getenv(variable); s != "" {
		v, err := parse(s)
		if err == nil {
			otherwise = v
		} else {
			commandLine.wrong = fmt.Errorf("sim: environment variable %s=%q cannot be read as %T; "+
				"write it as you would write -sim.%s", variable, s, otherwise, name)
		}
	}
	define(p, "sim."+name, otherwise, usage+" (env "+variable+")")
}

func anyText(s string) (string, error) { return s, nil }

// lookAgain reads the environment where go test notices it, so that it does not take a result for
// cached that was made with other settings.
func lookAgain() {
	for _, name := range commandLine.variables {
		os.Getenv(name)
	}
	shardFromEnvironment()
}

// check reports contradictory or impossible settings.
func (s Settings) check() error {
	switch {
	case commandLine.wrong != nil:
		return commandLine.wrong
	case s.Runs < 0:
		return fmt.Errorf("sim: -sim.runs=%d is negative; write 0 for as many runs as -sim.for allows", s.Runs)
	case s.Budget < 0:
		return fmt.Errorf("sim: -sim.for=%v is negative; write 0 for no limit", s.Budget)
	case s.Runs == 0 && s.Budget == 0:
		return fmt.Errorf("sim: -sim.runs=0 and -sim.for=0 together would never end; give one of them a limit")
	case s.Run.MaxSteps <= 0:
		return fmt.Errorf("sim: -sim.max-steps=%d must be positive", s.Run.MaxSteps)
	case s.Hang <= 0:
		return fmt.Errorf("sim: -sim.hang=%v must be positive", s.Hang)
	case s.Shrink < 0:
		return fmt.Errorf("sim: -sim.shrink=%v is negative; write 0 for no shrinking", s.Shrink)
	case s.Verify < 0:
		return fmt.Errorf("sim: -sim.verify=%d is negative; write 0 for never", s.Verify)
	case s.unknownStrategy() != "":
		return fmt.Errorf("sim: -sim.strategy=%q is unknown; write one of %s, or several with commas",
			s.unknownStrategy(), strings.Join(strategy.Names, ", "))
	case s.Shard != "" && !goodShard(s.Shard):
		return fmt.Errorf("sim: -sim.shard=%q is not a shard; write i/n with 0 <= i < n, for example 0/4", s.Shard)
	case s.shards() > 1 && slices.Contains(alone, s.Strategy):
		return fmt.Errorf("sim: -sim.strategy=%s cannot be sharded, each of its runs depends on those before it; "+
			"use portfolio, or another", s.Strategy)
	case s.Run.Window != 0 && s.Run.Window < shortestWindow:
		return fmt.Errorf("sim: sim.Window(%v) is shorter than %v, which default properties look back",
			s.Run.Window, shortestWindow)
	case s.Run.Window > 0 && s.plans():
		return fmt.Errorf("sim: -sim.strategy=%s plans with the whole record of earlier runs, "+
			"which sim.Window does not keep; use %s", s.Strategy, strings.Join(unplanned, " or "))
	case s.Drift != driftWarns && s.Drift != driftFails:
		return fmt.Errorf("sim: -sim.drift=%q is unknown; write %s or %s", s.Drift, driftWarns, driftFails)
	case s.Child && s.Free:
		return fmt.Errorf("sim: -sim.child holds runs to a story, and -sim.free does not; leave one of them out")
	case s.Renew && !s.replayFlag:
		return fmt.Errorf("sim: -sim.renew writes stories again that -sim.replay plays; give both")
	case s.Bound < 1:
		return fmt.Errorf("sim: -sim.bound=%d must be at least 1", s.Bound)
	}
	for _, name := range []string{"sim.seed", "sim.strategy"} {
		if s.replayFlag && given(name, "") { // sim.Replay has its way where only the option is given
			return fmt.Errorf("sim: -sim.replay plays the choices of a story, so leave out -%s", name)
		}
	}
	if s.Seed != "" && s.Seed != "random" {
		if _, err := strconv.ParseUint(s.Seed, 0, 64); err != nil {
			return fmt.Errorf("sim: -sim.seed=%q is neither a number nor \"random\"", s.Seed)
		}
	}
	return nil
}

func init() {
	s, d := &commandLine.Settings, time.ParseDuration
	addFlag(flag.IntVar, &s.Runs, "runs", 100, strconv.Atoi,
		"runs per scenario; 0 means as many as -sim.for allows")
	addFlag(flag.DurationVar, &s.Budget, "for", defaultBudget, d,
		"CPU time per scenario; 0 means no limit; left to the default, a scenario makes 20 runs or uses 30s "+
			"even so")
	addFlag(flag.StringVar, &s.Seed, "seed", "", anyText,
		"base seed: a number, \"random\", or empty for one fixed by the test's name")
	addFlag(flag.StringVar, &s.Strategy, "strategy", "portfolio", anyText,
		"how choice sequences are made: "+strings.Join(strategy.Names, ", "))
	addFlag(flag.IntVar, &s.Bound, "bound", 2, strconv.Atoi,
		"disturbances in a run of the exhaustive strategy, at most")
	addFlag(flag.StringVar, &s.Shard, "shard", shardFromEnvironment(), anyText,
		"make only the runs of shard i of n, written i/n and counted from 0; set as well by "+
			"JOB_COMPLETION_INDEX with SIM_SHARDS, and by TEST_SHARD_INDEX with TEST_TOTAL_SHARDS, but not in "+
			"tests built by Bazel's rules_go, which divides by test")
	addFlag(flag.StringVar, &s.ReportDir, "report", "", anyText,
		"write each campaign's result as JSON into this directory, with the timeline of what is found as a "+
			"page, and continue from such a result")
	addFlag(flag.StringVar, &s.Coverage, "coverage", "", anyText,
		"write to this file, as JSON, which faults were injected at which lines of the program, and which writes in "+
			"its source no run has sent")
	addFlag(flag.StringVar, &s.Replay, "replay", "", anyText,
		"replay this story file, or the directory of stories, instead of searching")
	addFlag(flag.BoolVar, &s.Renew, "renew", false, strconv.ParseBool,
		"with -sim.replay, write a story again whose request has changed or that is outdated")
	addFlag(flag.StringVar, &s.Confirm, "confirm", "", anyText,
		"confirm stories at the real API server of this kubeconfig, instead of searching: those of -sim.replay, or "+
			"all that are kept; the server is a throw-away one, as the command wavetank confirm starts it")
	addFlag(flag.IntVar, &s.Attempts, "attempts", 1, strconv.Atoi, "with -sim.confirm, how often each story is tried")
	addFlag(flag.BoolVar, &s.Child, "child", false, strconv.ParseBool,
		"with -sim.confirm, run each incarnation of the program in a process of its own, which a crash kills; package "+
			"variables are lost with it")
	addFlag(flag.BoolVar, &s.Free, "free", false, strconv.ParseBool,
		"with -sim.confirm, do not hold runs to the story; estimate how often they violate its property, by "+
			"-sim.attempts runs under each condition")
	addFlag(flag.BoolVar, &s.Mark, "mark", false, strconv.ParseBool,
		"with -sim.confirm, note the version of the server in the files of stories that are confirmed")
	addFlag(flag.StringVar, &s.Drift, "drift", driftWarns, anyText,
		"what becomes of a kept story that passes only because the code no longer asks for what its faults "+
			"were injected at, or because its property is gone: warn or fail")
	addFlag(flag.IntVar, &s.Run.MaxSteps, "max-steps", 50000, strconv.Atoi,
		"steps after which a run that does not settle is given up")
	addFlag(flag.IntVar, &s.Verify, "verify", 50, strconv.Atoi,
		"run every n-th run twice and compare the histories; 0 means never; runs that always differ fail the "+
			"test, and those that differ now and then are a warning")
	addFlag(flag.DurationVar, &s.Shrink, "shrink", shrinkTime, d,
		"CPU time for shrinking a failure, or with -sim.replay the story that is replayed, and up to twice as much "+
			"while it still gets shorter; 0 means not at all")
	addFlag(flag.DurationVar, &s.Explain, "explain", explainTime, d,
		"CPU time to measure why the first failure happens; 0 means not at all")
	addFlag(flag.DurationVar, &s.Hang, "hang", hangLimit, d,
		"time without progress after which a run counts as hung: CPU time while a goroutine could run, real "+
			"time while all wait")
	addFlag(memoryVar, &s.Memory, "memory", defaultMemory, parseMemory,
		"memory of the process from which on garbage is collected more often, as 512Mi or 2Gi; 0 means no limit; "+
			"GOMEMLIMIT takes precedence")
	addFlag(flag.BoolVar, &s.KeepGoing, "keep-going", false, strconv.ParseBool,
		"continue after a failure and group the findings by cause")
	addFlag(flag.BoolVar, &s.Logs, "log", false, strconv.ParseBool,
		"print what the programs log, with virtual time: for -sim.replay, and go test -v where nothing breaks")
	addFlag(flag.BoolVar, &s.Verbose, "v", false, strconv.ParseBool,
		"print every event of a failing or replayed run, and how often each fault was injected at each class of "+
			"requests")
}
