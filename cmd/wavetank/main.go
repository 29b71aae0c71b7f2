// Command wavetank runs go test on the scenarios of your packages. It divides a campaign among
// processes, shows its progress, and works with the stories and results that campaigns leave. Plain
// go test is enough to use Wavetank; this command only adds comfort.
//
// Exit codes:
//   - 0: every property held.
//   - 1: a property was violated, or a Sometimes was never reached.
//   - 2: the command was not understood, or something could not be built or read.
//   - 130: the command was interrupted. The partial report is valid.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The exit codes, as the package comment has them.
const (
	exitHeld        = 0
	exitBroke       = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// errBroke and errInterrupted set the exit code only: what they are about has been printed already.
var (
	errBroke       = errors.New("a property broke")
	errInterrupted = errors.New("interrupted")
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(execute(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs one command line and returns the exit code.
func execute(ctx context.Context, args []string, out, errs io.Writer) int {
	root := &cobra.Command{
		Use:   "wavetank",
		Short: "Deterministic simulation tests for Kubernetes controllers",
		Long: "Wavetank runs your real controllers in a simulated cluster. This command runs go test on the\n" +
			"scenarios of your packages, and works with the stories and results that they leave.\n\n" +
			"Exit codes: 0 every property held, 1 a property was violated, 2 usage or build error,\n" +
			"130 interrupted (the report is valid).",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetArgs(args)
	root.SetFlagErrorFunc(explainFlag)
	root.SetOut(out)
	root.SetErr(errs)
	root.AddCommand(initCommand(), runCommand(), ciCommand(), replayCommand(), confirmCommand(), shrinkCommand(),
		storiesCommand())
	root.AddCommand(reportCommand(), exportCommand(), vetCommand(), doctorCommand(), overlayCommand())
	root.AddCommand(renamedCommands()...)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitHeld
	case errors.Is(err, errBroke):
		return exitBroke
	case errors.Is(err, errInterrupted) || ctx.Err() != nil:
		return exitInterrupted
	}
	fmt.Fprintf(errs, "wavetank: %v\n", err)
	return exitUsage
}

// explainFlag adds to an unknown flag those that are meant, and where all are listed.
func explainFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return fmt.Errorf("%w%s; %s --help lists the flags", err, suggestion("--"+unknown.GetSpecifiedName(), names),
		cmd.CommandPath())
}

// suggestion asks for the names that are like a word; "" if none is.
func suggestion(word string, names []string) string {
	c := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, name := range names {
		c.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	similar := c.SuggestionsFor(word)
	if len(similar) == 0 {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", strings.Join(similar, " or "))
}

// version is the module's version, with the commit of a build from a checkout.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := cmp.Or(info.Main.Version, "(devel)")
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && !strings.Contains(v, s.Value[:min(12, len(s.Value))]) {
			v += " " + s.Value[:min(12, len(s.Value))]
		}
	}
	return fmt.Sprintf("%s, %s", v, info.GoVersion)
}
