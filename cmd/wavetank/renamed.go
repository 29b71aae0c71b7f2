package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
)

// renamedCommands are commands that have become flags of others. They still work, and say what to
// use.
func renamedCommands() []*cobra.Command {
	all, to := false, filepath.Join("reports", "out", "merged")
	explained := renamed("explain story.txtar …", "replay --explain", cobra.MinimumNArgs(1),
		func(cmd *cobra.Command, args []string) error { return explainAll(cmd.OutOrStdout(), args, all) })
	explained.Flags().BoolVar(&all, "all", all, "every line of the story")
	merged := renamed("merge directory …", "report --merge", cobra.MinimumNArgs(1),
		func(cmd *cobra.Command, args []string) error {
			if err := ignoreDefault(cmd, "to", to); err != nil {
				return err
			}
			return merge(cmd.OutOrStdout(), args, to)
		})
	merged.Flags().StringVar(&to, "to", to, "directory for the merged results and stories")
	return []*cobra.Command{renamed("list [packages]", "run --list", cobra.ArbitraryArgs, list), explained, merged}
}

func renamed(
	use, now string, args cobra.PositionalArgs, run func(cmd *cobra.Command, args []string) error,
) *cobra.Command {
	return &cobra.Command{
		Use:    use,
		Short:  "Renamed: wavetank " + now,
		Hidden: true,
		Args:   args,
		RunE: func(cmd *cobra.Command, args []string) error {
			fmt.Fprintf(cmd.ErrOrStderr(), "note: %s is now wavetank %s\n", cmd.CommandPath(), now)
			return run(cmd, args)
		},
	}
}
