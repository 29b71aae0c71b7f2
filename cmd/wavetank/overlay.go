package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/wavetank/wavetank/cmd/wavetank/exact"
)

func overlayCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "overlay directory",
		Short: "Make the overlay of exact mode, in which Go's runtime leaves nothing to chance",
		Long: "Writes a copy of some files of your Go runtime, changed so that map ranges, select, timers of one instant and math/rand/v2\n" +
			"inside a run come out alike each time, and prints the path of the overlay. With it, code under test that ranges over maps or\n" +
			"selects over several channels replays, too. Not covered: system calls of more than a second, and what the garbage collector\n" +
			"takes away when it pleases (sync.Pool, finalizers). The first build takes minutes: everything is compiled anew. run and\n" +
			"replay do all this with --exact, and replay does so for stories that were found with it.",
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
