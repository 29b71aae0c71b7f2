package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wavetank/wavetank/internal/story"
)

func storiesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stories",
		Short: "Renew or remove stored stories that no longer fit",
		Long: "Stored stories are replayed before each search. One no longer fits if\n\n" +
			"  - its request has changed, as from POST to PUT, and its fault follows it;\n" +
			"  - its faults are not injected, because the code no longer asks for their requests;\n" +
			"  - it is outdated: its property is gone or has another sentence, or another one is violated.",
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "renew story.txtar|directory …",
		Short: "Write stories again as their runs are now: exit code 1 if one cannot be",
		Long: "Replays each story. An outdated story gets the property that its run violates, or the new\n" +
			"sentence of its property. A fault whose request has changed gets the new label. Stories that\n" +
			"fit stay as they are. A story whose run passes without its property or its faults cannot be\n" +
			"renewed.",
		Example: "  wavetank stories renew testdata/sim",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return maintain(cmd, args, false) },
	}, &cobra.Command{
		Use:   "remove story.txtar|directory …",
		Short: "Remove the stories that are outdated or test nothing any more",
		Long: "Replays each story, and removes those that are outdated and those whose faults are not injected any\n" +
			"more. All others stay, also those whose property is still violated.",
		Example: "  wavetank stories remove testdata/sim",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return maintain(cmd, args, true) },
	})
	return cmd
}

// maintain replays stories, and renews or removes those that no longer fit.
func maintain(cmd *cobra.Command, paths []string, remove bool) error {
	var extra []string
	if !remove {
		extra = []string{"-sim.renew"}
	}
	r, err := newReplayer(cmd, extra)
	if err != nil {
		return err
	}
	defer r.close()
	if paths, err = storiesIn(paths); err != nil {
		return err
	}
	left := false
	for _, path := range paths {
		said, err := r.replay(path, nil)
		what, unfit := fitOf(said)
		switch {
		case errors.Is(err, errNoTest):
			left, what = true, err.Error()
		case err != nil:
			return err
		case unfit && remove:
			if err := os.Remove(path); err != nil {
				return err
			}
			what = "removed: " + what
		case unfit:
			left, what = true, "cannot be renewed: "+what
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", relative(path), story.Printable(what))
	}
	if left {
		return errBroke
	}
	return nil
}

// fitOf says in words how a story fits, as the test that replayed it said, and whether nothing can
// be done for it but to remove it.
func fitOf(said []string) (words string, unfit bool) {
	lines := map[string]string{}
	for _, line := range said {
		key, rest, _ := strings.Cut(line, ": ")
		lines[key] = rest
	}
	_, broke := lines["broke"]
	switch {
	case lines["renewed"] != "":
		return "renewed: " + relative(lines["renewed"]), false
	case lines["outdated"] != "":
		return lines["outdated"], true
	case lines["drifted"] != "":
		return lines["drifted"], true
	case broke:
		return "fits, and its property is still violated", false
	}
	return "fits", false
}
