package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/wavetank/wavetank/cmd/wavetank/internal/exact"
)

func overlayCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "overlay directory",
		Hidden: true, // --exact of run and replay is enough, except with go test
		Short:  "Make the overlay of exact mode, in which Go's runtime leaves nothing to chance",
		Long: "Writes copies of some files of your Go runtime and prints the path of the overlay. In the copies,\n" +
			"map ranges, select, timers of one instant and math/rand/v2 behave alike in each execution of a run.\n" +
			"Code under test that ranges over maps or selects over several channels then replays, too.\n\n" +
			"Not covered are system calls of more than a second, and what the garbage collector decides (sync.Pool,\n" +
			"finalizers). The first build takes minutes, because everything is compiled again. run and replay use\n" +
			"the overlay with --exact, and replay also uses it for stories that were found with it.",
		Example: "  go test -overlay=$(wavetank overlay .wavetank) ./internal/controller",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := overlay(args[0])
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), path)
			return nil
		},
	}
}

// overlay makes the overlay for the go command that is on the path.
func overlay(dir string) (string, error) {
	out, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	lines := bytes.Fields(out)
	if len(lines) != 2 {
		return "", fmt.Errorf("go env answered %q", out)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return exact.Overlay(string(lines[0]), string(lines[1]), abs)
}
