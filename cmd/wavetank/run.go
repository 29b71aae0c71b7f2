package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/wavetank/wavetank/internal/atomicfile"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/internal/strategy"
)

// options of a campaign, as the flags give them.
type options struct {
	runs      int
	budget    time.Duration
	seed      string
	strategy  string
	procs     int
	match     string
	report    string
	keepGoing bool
	exact     bool
	// breadth is the CPU time of each process per scenario where neither runs nor budget says it;
	// 0 for what the tests say.
	breadth time.Duration
}

// breadth is enough for the 100 runs of a scenario in most projects.
const breadth = 60 * time.Second

func runCommand() *cobra.Command {
	var o options
	listed := false
	cmd := &cobra.Command{
		Use:   "run [packages]",
		Short: "Run campaigns on all cores, a process each, and merge what they find",
		Long: "Builds the tests of each package that imports sim once, and runs them in several processes of one\n" +
			"CPU each. This is faster than one process with several CPUs. Process i of n makes the runs i, i+n,\n" +
			"i+2n, … Every process runs the scenarios that --list shows, or the tests that --run selects.\n\n" +
			"The strategies exhaustive and rapid get one process, because their runs depend on each other.\n" +
			"With several processes bursts do not start from earlier runs, which another process may have made.\n\n" +
			"Results are written to --report while the campaign runs. An interrupted campaign continues when it is\n" +
			"started again with the same flags and the same code.\n\n" +
			"If two runs of one choice sequence differ now and then, the campaigns of that package are made again\n" +
			"in exact mode, as with --exact. The exit code is then that of the second time, or 1 if the first time\n" +
			"violated a property. Both results stay.\n\n" +
			"It also warns of package variables that outlive a crash, as wavetank vet does.",
		Example: "  wavetank run ./... --runs 10000\n" +
			"  wavetank run ./controllers/backup --for 10m --seed random --keep-going",
		RunE: func(cmd *cobra.Command, args []string) error {
			if listed {
				return list(cmd, args)
			}
			if err := o.check(); err != nil {
				return err
			}
			if err := ignoreDefault(cmd, "report", o.report); err != nil {
				return err
			}
			return o.run(cmd.Context(), orHere(args), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.report, "report", filepath.Join("reports", "out", "campaign"), "directory for results")
	cmd.Flags().BoolVar(&listed, "list", false, "run nothing, and list the scenarios and the stored stories")
	cmd.Flags().BoolVar(&o.keepGoing, "keep-going", false, "continue after a failure and group failures by cause")
	return cmd
}

// ignoreDefault makes the directory that a flag names by default, with a file that keeps git from
// adding it. A directory that exists, or that was given by a flag, stays as it is.
func ignoreDefault(cmd *cobra.Command, flag, dir string) error {
	if _, err := os.Stat(dir); err == nil || cmd.Flags().Changed(flag) {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, ".gitignore"), []byte("# results of wavetank\n*\n"))
}

// flags adds the flags of a campaign, which several commands share.
func (o *options) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&o.runs, "runs", -1, "runs per scenario, all processes together; 0 for as many as --for allows "+
		"(default: what the tests say)")
	f.DurationVar(&o.budget, "for", 0, "CPU time of each process per scenario "+
		"(default: what the tests say; with --runs no limit)")
	f.StringVar(&o.seed, "seed", "", "base seed: a number or \"random\" (default: fixed by each test's name)")
	f.StringVar(&o.strategy, "strategy", "",
		"how choice sequences are generated: "+strings.Join(strategy.Names, ", ")+" (default portfolio)")
	f.IntVar(&o.procs, "procs", runtime.NumCPU(), "processes")
	f.StringVar(&o.match, "run", "", "tests that match this regular expression, as go test -run takes it "+
		"(default: those that run scenarios)")
	f.BoolVar(&o.exact, "exact", false, "use exact mode: see wavetank overlay")
}

func (o *options) check() error {
	if o.runs < -1 {
		return fmt.Errorf("--runs %d is negative; write 0 for as many runs as --for allows", o.runs)
	}
	if o.procs < 1 {
		return fmt.Errorf("--procs %d: at least one process is needed", o.procs)
	}
	if o.runs == 0 && o.budget <= 0 {
		return errors.New("--runs 0 would never end without a limit; add --for 10m, for example")
	}
	if o.budget < 0 {
		return fmt.Errorf("--for %v is negative", o.budget)
	}
	if _, err := regexp.Compile(o.match); err != nil {
		return fmt.Errorf("--run %q is no regular expression: %w", o.match, err)
	}
	if slices.Contains([]string{"exhaustive", "rapid"}, o.strategy) {
		o.procs = 1
	}
	for _, name := range strings.Split(o.strategy, ",") {
		if name != "" && !slices.Contains(strategy.Names, name) {
			return fmt.Errorf("--strategy %q is unknown%s; the strategies are %s", name,
				suggestion(name, strategy.Names), strings.Join(strategy.Names, ", "))
		}
	}
	if _, err := strconv.ParseUint(o.seed, 0, 64); err != nil && o.seed != "" && o.seed != "random" {
		return fmt.Errorf("--seed %q is neither a number nor \"random\"", o.seed)
	}
	if o.seed == "random" { // one seed for all processes, or they would not be shards of one campaign
		o.seed = fmt.Sprint(uint64(time.Now().UnixNano()))
	}
	var err error
	o.report, err = filepath.Abs(o.report)
	return err
}

func (o *options) run(ctx context.Context, patterns []string, out, errs io.Writer) error {
	packages, err := testPackages(ctx, patterns)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "wavetank")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	// It begins after the first build, which compiles the same packages.
	outlives := sync.OnceValue(func() func() []string { return outliving(ctx, patterns) })
	s := &session{options: o, tmp: tmp, out: out, errs: errs, built: func() { outlives() }}
	var failed []string
	var results []*story.Result
	for _, p := range packages {
		made, err := s.campaigns(ctx, p, o.exact)
		if err == nil && !o.exact && ctx.Err() == nil {
			made, err = s.repeatInExactMode(ctx, p, made)
		}
		if err != nil {
			return err
		}
		if made.failed {
			failed = append(failed, p.Path)
		}
		results = append(results, made.results...)
		if ctx.Err() != nil {
			break
		}
	}
	missed := summary(out, results)
	if err := o.warn(out, outlives()()); err != nil {
		return err
	}
	if ctx.Err() != nil {
		fmt.Fprintf(out, "interrupted: the results so far are kept in %s, and the same command continues\n",
			relative(o.report))
		return errInterrupted
	}
	fmt.Fprintf(out, "results: %s\n", relative(o.report))
	switch {
	case len(failed) > 0 && len(results) == 0:
		return fmt.Errorf("no campaign could begin in %s: see the output of their tests above",
			strings.Join(failed, ", "))
	case len(failed) > 0 || missed:
		return errBroke
	case len(results) == 0:
		return fmt.Errorf("no campaign was begun: --run %q selects none; wavetank run --list %s shows the scenarios",
			o.match, strings.Join(patterns, " "))
	}
	return nil
}

// warningsFile is where the report directory has what wavetank run warns of, a line each.
const warningsFile = "warnings.txt"

// warn prints warnings, and writes them down for the page that wavetank report makes.
func (o *options) warn(out io.Writer, lines []string) error {
	path := filepath.Join(o.report, warningsFile)
	if len(lines) == 0 {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	for _, line := range lines {
		fmt.Fprintf(out, "warning: %s\n", line)
	}
	return atomicfile.Write(path, []byte(strings.Join(lines, "\n")+"\n"))
}

// environment are the settings of one process, as SIM_ variables. A flag would fail in a package
// that does not import sim.
func (o *options) environment(shard int, dir string) []string {
	env := append(os.Environ(), "GOMAXPROCS=1", "SIM_REPORT="+dir)
	if o.procs > 1 {
		env = append(env, fmt.Sprintf("SIM_SHARD=%d/%d", shard, o.procs))
	}
	if o.runs >= 0 {
		env = append(env, fmt.Sprintf("SIM_RUNS=%d", o.runs), fmt.Sprintf("SIM_FOR=%v", o.budget))
	} else if o.budget > 0 {
		env = append(env, "SIM_RUNS=0", fmt.Sprintf("SIM_FOR=%v", o.budget))
	} else if o.breadth > 0 && os.Getenv("SIM_FOR") == "" {
		env = append(env, fmt.Sprintf("SIM_FOR=%v", o.breadth))
	}
	if o.seed != "" {
		env = append(env, "SIM_SEED="+o.seed)
	}
	if o.strategy != "" {
		env = append(env, "SIM_STRATEGY="+o.strategy)
	}
	if o.keepGoing {
		env = append(env, "SIM_KEEP_GOING=true")
	}
	return env
}

// runProcesses runs the test binary in several processes and returns the output of the first that
// failed.
func (o *options) runProcesses(ctx context.Context, p testPackage, binary, dir string, errs io.Writer) (string, error) {
	selected := []string{"-test.run=" + o.match}
	if o.match == "" {
		var err error
		if selected, err = p.selection(); err != nil {
			return "", err
		}
	}
	type ending struct {
		output string
		err    error
	}
	done := make(chan ending, o.procs)
	for i := range o.procs {
		go func() {
			cmd := exec.CommandContext(ctx, binary, append([]string{"-test.timeout=0"}, selected...)...)
			cmd.Dir, cmd.Env = p.Dir, o.environment(i, dir)
			var output bytes.Buffer
			cmd.Stdout, cmd.Stderr = &output, &output
			err := runInGroup(ctx, cmd)
			done <- ending{output.String(), err}
		}()
	}
	watch := newWatch(errs, p.Path, dir)
	defer watch.done()
	var first ending
	for range o.procs {
		var e ending
		for waiting := true; waiting; {
			select {
			case e = <-done:
				waiting = false
			case <-time.After(watchEvery):
				watch.show()
			}
		}
		if e.err != nil && first.err == nil {
			first = e
		}
	}
	return first.output, first.err
}
