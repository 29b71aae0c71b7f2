package campaign

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/sim/result"
)

// saveEvery is how often the result of a running campaign is written, so that an interrupted
// campaign loses nothing.
const saveEvery = 2 * time.Second

// writable tries to write where results and pages are to go: a campaign may take a night, and a
// test that passes hides what could not be kept.
func (s Settings) writable() error {
	if s.ReportDir == "" {
		return nil
	}
	err := os.MkdirAll(s.ReportDir, 0o777)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(s.ReportDir, ".wavetank-*"); err == nil {
			err = errors.Join(f.Close(), os.Remove(f.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("sim: -sim.report=%s: nothing can be written there (%w); "+
			"give it a directory that can be made or written to; "+
			"the path is relative to the directory of the test's package", s.ReportDir, err)
	}
	return nil
}

// result is the campaign so far.
func (c *campaign) result(next int) *story.Result {
	r, s := &c.report, c.settings
	shard, shards, _ := parseShard(s.Shard)
	out := &story.Result{
		Test: r.Name, Package: s.Host.Package(), Seed: r.Seed, Strategy: s.Strategy,
		Planned: s.Runs, Shard: shard, Shards: shards, Next: next,
		Complete: r.Complete, Explored: !s.Keep, Exact: c.exact, Versions: recordedWith(), Build: build(),
		Runs: r.Runs, Elapsed: r.Elapsed, Steps: r.Steps, Reconciles: r.Reconciles, Requests: r.Requests,
		Virtual: r.Virtual, Doubled: r.Doubled, Orders: r.Orders, Findings: r.Findings,
	}
	out.Growth, out.Slowest = c.pace.Growth, c.pace.Slowest
	out.Objects, out.Sites, out.Calls = r.Objects, r.Sites, r.Calls
	out.Drifted, out.Outdated, out.Divergences = r.Drifted, r.Outdated, r.Divergences
	for _, f := range r.Faults {
		out.Faults = append(out.Faults, story.FaultTotal(f))
	}
	for _, p := range r.Sometimes {
		out.Sometimes = append(out.Sometimes, story.ProbeTotal(p))
	}
	out.Rights = r.Rights
	for _, s := range r.Strategies {
		out.Strategies = append(out.Strategies, story.StrategyTotal(s))
	}
	return out
}

// save writes the result if it is time to, or if this is the last time. It does not return if a
// fresh process is to go on.
func (c *campaign) save(s *search, next int, began time.Time, last bool) {
	if c.settings.ReportDir == "" || !last && time.Since(c.saved) < saveEvery {
		return
	}
	c.saved = time.Now()
	c.report.Elapsed = c.before + time.Since(began)
	s.report()
	if err := c.result(next).Write(c.settings.ReportDir); err != nil {
		c.settings.Host.Logf("sim: the campaign's result could not be kept: %v", err)
		return
	}
	if !last && c.worn() {
		replaceProcess() // which goes on with run next
	}
}

// finish ends the campaign and writes its result, from run next on still to be made.
func (c *campaign) finish(s *search, next int, began time.Time) {
	c.failOutdated()
	c.readSource()
	c.save(s, next, began, true)
}

// touchResult says of the result that an earlier process has written that it is this process's,
// too.
func (c *campaign) touchResult() {
	if dir, now := c.settings.ReportDir, time.Now(); dir != "" {
		os.Chtimes(filepath.Join(dir, c.result(0).FileName()), now, now) // only the wavetank command looks at it
	}
}

// earlierFailure is the failure that an earlier process found, as far as its story tells.
func earlierFailure(f story.Finding, stories string) *result.Failure {
	ending := result.Ending{Kind: result.KindOf(f.Kind), Property: f.Property, Message: f.Cause}
	out := &result.Failure{Ending: ending, Run: f.First, Strategy: f.Strategy, History: &history.History{}}
	s, err := story.Decode([]byte(f.Story))
	if err != nil {
		return out
	}
	out.Story, out.Site, out.Message, out.Step, out.Took = s, s.Site, s.Message, s.After.Steps, s.Took
	if path := filepath.Join(stories, s.Name()); stories != "" {
		if _, err := os.Stat(path); err == nil {
			out.File = path
		}
	}
	return out
}

// build tells test binaries apart: what other code has found says nothing of this one.
var build = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return fmt.Sprintf("%x", h.Sum(nil))
})

// unfinished is what an earlier process has left to go on with, nil if nothing: a result of other
// code or other settings will be overwritten.
func (c *campaign) unfinished() *story.Result {
	if c.settings.ReportDir == "" {
		return nil
	}
	fresh := c.result(0)
	old, err := story.ReadResult(filepath.Join(c.settings.ReportDir, fresh.FileName()))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		c.settings.Host.Fatalf("sim: -sim.report: %v; mend or remove the file", err)
	}
	if old.Package != fresh.Package || old.Test != fresh.Test || old.Build != fresh.Build || old.Seed != fresh.Seed ||
		old.Strategy != fresh.Strategy || old.Strategy == "exhaustive" || old.Shards != fresh.Shards || old.Next == 0 {
		return nil
	}
	if old.Complete && old.Planned >= fresh.Planned && !c.interrupted(old) {
		return nil
	}
	return old
}

// interrupted reports whether another campaign of the same command was not completed, as where a
// process ended before it came to all of its tests: the command is given again to go on, and what
// it had completed is kept.
func (c *campaign) interrupted(old *story.Result) bool {
	paths, _ := filepath.Glob(filepath.Join(c.settings.ReportDir, "*.json"))
	return slices.ContainsFunc(paths, func(path string) bool {
		if strings.HasSuffix(path, reports.RunSuffix) {
			return false // large, and there may be hundreds
		}
		other, err := story.ReadResult(path)
		same := err == nil && other.Package == old.Package && other.Build == old.Build && other.Shards == old.Shards
		return same && !other.Complete && len(other.Findings) == 0
	})
}

// dropPassing takes off an earlier process's record what it found and what does not break any more
// when it is played: a hang of a machine that was busy, or a failure for which a file was to blame
// that the program reads. The runs that it made are kept.
func (c *campaign) dropPassing(old *story.Result) {
	old.Findings = slices.DeleteFunc(old.Findings, func(f story.Finding) bool {
		if c.stillFails(f) {
			return false
		}
		c.settings.Host.Logf("sim: %s holds %d runs of %s, of which %d broke a property (%s); played again they hold, "+
			"so only these are taken off the record; give another directory to make all runs again",
			c.settings.ReportDir, old.Runs, c.report.Name, f.Count, f.Cause)
		for i := range old.Strategies {
			if s := &old.Strategies[i]; s.Name == f.Strategy {
				s.Finds = max(0, s.Finds-f.Count)
			}
		}
		return true
	})
}

// resume takes up what an earlier process has left, and returns the number of the run to go on
// with.
func (c *campaign) resume(s *search) int {
	old := c.unfinished()
	if old == nil {
		return 0
	}
	old.Findings = slices.DeleteFunc(old.Findings, func(f story.Finding) bool { return f.Strategy == outdatedStory })
	c.dropPassing(old)
	r := &c.report
	kept := r.Findings
	r.Runs, r.Steps, r.Reconciles, r.Requests = old.Runs, old.Steps, old.Reconciles, old.Requests
	r.Virtual, r.Doubled, s.before = old.Virtual, old.Doubled, old.Orders
	r.Findings, c.before, c.tally.searched = old.Findings, old.Elapsed, old.Runs
	for _, f := range kept {
		if !slices.ContainsFunc(r.Findings, func(have story.Finding) bool { return have.Cause == f.Cause }) {
			r.Findings = append(r.Findings, f)
		}
	}
	if len(old.Findings) > 0 && r.Failure == nil {
		r.Failure = earlierFailure(old.Findings[0], c.settings.Stories)
	}
	r.Divergences, r.Objects, r.Sites = old.Divergences, old.Objects, old.Sites
	c.pace.Slowest = old.Slowest // what had been seen is not kept, so its growth begins anew
	for _, f := range old.Faults {
		r.Faults = append(r.Faults, result.FaultCount(f))
	}
	for _, p := range old.Sometimes {
		r.Sometimes = append(r.Sometimes, result.Probe(p))
	}
	r.Rights = r.Rights.And(old.Rights)
	for _, n := range old.Strategies {
		c.brokenRuns += n.Finds
		s.counts[n.Name] = &result.StrategyCount{Name: n.Name, Runs: n.Runs, Finds: n.Finds}
	}
	c.settings.Host.Logf("sim: going on with run %d of %s, as %s has it", old.Next, r.Name, c.settings.ReportDir)
	return old.Next
}
