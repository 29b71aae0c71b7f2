package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/reports"
)

// merge adds up the results below directories, by campaign. It writes them and the shortest story
// of each cause into a directory.
func merge(out io.Writer, dirs []string, to string) error {
	results, err := mergeDir(selection{}, dirs...)
	if err != nil {
		return err
	}
	for _, r := range results {
		if err := r.Write(to); err != nil {
			return err
		}
	}
	found, err := keep(results, to)
	if err != nil {
		return err
	}
	if summary(out, results) || found {
		return errBroke
	}
	return nil
}

// storiesDir is where a directory of results has the stories of what was found.
const storiesDir = "stories"

// keep writes the stories of all findings into a directory, and reports whether there are findings.
func keep(results []*story.Result, dir string) (found bool, err error) {
	for _, r := range results {
		for _, f := range r.Findings {
			found = true
			if f.Story == "" {
				continue
			}
			s, err := story.Decode([]byte(f.Story))
			if err != nil {
				return found, fmt.Errorf("the story of %q: %w", f.Cause, err)
			}
			if _, err := s.Write(filepath.Join(dir, storiesDir)); err != nil {
				return found, err
			}
		}
	}
	return found, nil
}

// isResult reports whether a file holds a campaign's result, by its name.
func isResult(path string) bool {
	return strings.HasSuffix(path, ".json") && !strings.HasSuffix(path, reports.RunSuffix)
}

// selection says which results count.
type selection struct {
	since  time.Time // ignore older files, and accept that there is no other
	newest bool      // take only the campaign of each test that was written to last
}

// shard is a result and the time of its file.
type shard struct {
	*story.Result
	written time.Time
}

// mergeDir reads every result below directories and merges those of one campaign.
func mergeDir(which selection, dirs ...string) ([]*story.Result, error) {
	tests := map[string][]shard{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !isResult(path) {
				return err
			}
			info, err := d.Info()
			if err != nil || info.ModTime().Before(which.since) {
				return err
			}
			r, err := story.ReadResult(path)
			if err != nil {
				return err
			}
			key := r.Package + " " + r.Test
			if r.Exact && !which.newest {
				key += " in exact mode" // a campaign of its own
			}
			tests[key] = append(tests[key], shard{r, info.ModTime()})
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if len(tests) == 0 && which.since.IsZero() {
		return nil, fmt.Errorf("no result (*.json) lies below %s; run the campaigns with -sim.report or SIM_REPORT",
			strings.Join(dirs, ", "))
	}
	var out []*story.Result
	for _, shards := range tests {
		last := slices.MaxFunc(shards, func(a, b shard) int { return a.written.Compare(b.written) })
		var results []*story.Result
		for _, s := range shards {
			if !which.newest || s.SameCampaign(last.Result) {
				results = append(results, s.Result)
			}
		}
		m, err := story.Merge(results)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if a.Package+a.Test == b.Package+b.Test {
			return b.Exact
		}
		return a.Package+a.Test < b.Package+b.Test
	})
	return out, nil
}

// summary prints the results of campaigns, and reports whether a complete one never reached a
// Sometimes, or an object that must succeed never did.
func summary(to io.Writer, results []*story.Result) (missed bool) {
	out := &strings.Builder{}
	defer func() { _ = writePrintable(to, out.String()) }()
	var rights *story.Rights
	for _, r := range results {
		rights = rights.And(r.Rights)
		state, runs := "complete", fmt.Sprint(r.Runs)
		if !r.Complete {
			state = "not complete"
			if r.Planned > 0 {
				runs = fmt.Sprintf("%d of %d", r.Runs, r.Planned)
			}
		}
		mode := ""
		if r.Exact {
			mode = " in exact mode"
		}
		elapsed, virtual := r.Elapsed.Round(100*time.Millisecond), r.Virtual.Round(time.Minute)
		fmt.Fprintf(out, "%s%s: %s runs in %v (real time, all processes added up), %s; ", r.Test, mode, runs, elapsed,
			state)
		fmt.Fprintf(out, "%d steps, %v of virtual time, %d runs doubled\n", r.Steps, virtual, r.Doubled)
		for _, f := range r.Faults {
			if f.Injected == 0 {
				fmt.Fprintf(out, "  %s was never injected (%d opportunities)\n", f.Fault, f.Opportunities)
			}
		}
		for _, d := range r.Drifted {
			fmt.Fprintf(out, "  stored story %s passes, but the code no longer sends what its faults were "+
				"injected at, so it may test nothing\n", d.File)
		}
		for _, d := range r.Outdated {
			fmt.Fprintf(out, "  stored story %s\n", d.Sentence())
		}
		for _, d := range r.Divergences {
			fmt.Fprintf(out, "  warning: %s\n", d.Sentence())
		}
		for _, p := range r.Sometimes {
			if p.Reached == 0 {
				fmt.Fprintf(out, "  sometimes %q (%s) was never reached\n", p.Sentence, p.Site)
				missed = missed || r.Complete
			}
		}
		failed := r.HollowSentences(true)
		missed = missed || len(failed) > 0
		for _, sentence := range append(failed, r.HollowSentences(false)...) {
			fmt.Fprintf(out, "  %s\n", sentence)
		}
		for line := range strings.Lines(reports.Sites(r) + reports.Unreached(r)) {
			fmt.Fprintf(out, "  %s", line)
		}
		for _, f := range story.Causes(r.Findings) {
			fmt.Fprintf(out, "  %d × %s; first by %s in run %d; shortest story %d steps\n",
				f.Count, f.Cause, f.Strategy, f.First, f.Steps)
		}
	}
	for _, line := range rights.Words() {
		fmt.Fprintf(out, "rights that no campaign has used, of %s\n", line)
	}
	return missed
}
