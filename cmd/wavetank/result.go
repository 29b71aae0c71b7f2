package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/sim/story"
)

func mergeCommand() *cobra.Command {
	to := ""
	cmd := &cobra.Command{
		Use:   "merge directory …",
		Short: "Merge the results of shards, wherever they ran",
		Long: "Reads every result (*.json) below the directories, adds up those of one campaign, and writes the merged results and the\n" +
			"shortest story of each cause into --to. Exit code 1 if something was found, or a probe of a complete campaign was never reached.",
		Example: "  wavetank merge --to merged shard-0 shard-1 shard-2",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			results, err := mergeDir(time.Time{}, args...)
			if err != nil {
				return err
			}
			found := false
			for _, r := range results {
				if err := r.Write(to); err != nil {
					return err
				}
				for _, f := range r.Findings {
					found = true
					if err := keep(f, to); err != nil {
						return err
					}
				}
			}
			if summary(cmd.OutOrStdout(), results) || found {
				return errBroke
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&to, "to", filepath.Join("reports", "out", "merged"), "directory for the merged results and stories")
	return cmd
}

// keep writes the story of a finding into a directory.
func keep(f story.Finding, dir string) error {
	if f.Story == "" {
		return nil
	}
	s, err := story.Decode([]byte(f.Story))
	if err != nil {
		return fmt.Errorf("the story of %q: %w", f.Cause, err)
	}
	_, err = s.Write(filepath.Join(dir, "stories"))
	return err
}

// isResult says whether a file holds a campaign's result, by its name.
func isResult(path string) bool {
	return strings.HasSuffix(path, ".json") && !strings.HasSuffix(path, reports.RunSuffix)
}

// mergeDir reads every result below directories and merges those of one campaign. With since, files that are older do not
// count, and there may be none.
func mergeDir(since time.Time, dirs ...string) ([]*story.Result, error) {
	shards := map[string][]*story.Result{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !isResult(path) {
				return err
			}
			if info, err := d.Info(); err != nil || info.ModTime().Before(since) {
				return err
			}
			r, err := story.ReadResult(path)
			if err != nil {
				return err
			}
			key := r.Package + " " + r.Test
			shards[key] = append(shards[key], r)
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if len(shards) == 0 && since.IsZero() {
		return nil, fmt.Errorf("no result (*.json) lies below %s; give the campaigns -sim.report or SIM_REPORT", strings.Join(dirs, ", "))
	}
	var out []*story.Result
	for _, s := range shards {
		m, err := story.Merge(s)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	sort.Slice(out, func(i, j int) bool {
		return out[i].Package+out[i].Test < out[j].Package+out[j].Test
	})
	return out, nil
}

// summary prints what campaigns have come to, and says whether one that was complete never reached a probe.
func summary(out io.Writer, results []*story.Result) (missed bool) {
	for _, r := range results {
		state := "complete"
		if !r.Complete {
			state = "not complete"
		}
		fmt.Fprintf(out, "%s: %d runs in %v of CPU time, %s; %d steps, %v of virtual time, %d runs doubled\n",
			r.Test, r.Runs, r.Elapsed.Round(100*time.Millisecond), state, r.Steps, r.Virtual.Round(time.Minute), r.Doubled)
		for _, f := range r.Faults {
			if f.Struck == 0 {
				fmt.Fprintf(out, "  %s never struck (%d points)\n", f.Fault, f.Could)
			}
		}
		for _, p := range r.Sometimes {
			if p.Reached == 0 {
				fmt.Fprintf(out, "  sometimes %q (%s) was never reached\n", p.Sentence, p.Site)
				missed = missed || r.Complete
			}
		}
		for _, f := range r.Findings {
			fmt.Fprintf(out, "  %d × %s; first by %s in run %d; shortest story %d steps\n", f.Count, f.Cause, f.Strategy, f.First, f.Steps)
		}
	}
	return missed
}
