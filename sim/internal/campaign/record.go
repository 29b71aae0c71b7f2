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

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/sim/internal/run"
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

// recorder writes the result of a campaign, and takes up what an earlier process has left of it.
type recorder struct {
	settings Settings
	report   *result.Report
	search   *search
	exact    bool // the test binary was built for exact mode
	began    time.Time
	before   time.Duration // real time that earlier processes spent on the campaign
	saved    time.Time
	open     bool         // the runs of the search have begun
	pace     story.Result // its Growth and Slowest
}

// result is the campaign so far.
func (c *recorder) result(next int) *story.Result {
	r, s := c.report, c.settings
	shard, shards, _ := parseShard(s.Shard)
	return &story.Result{
		Test: r.Name, Package: s.Host.Package(), Seed: r.Seed, Strategy: s.Strategy,
		Planned: s.Runs, Shard: shard, Shards: shards, Next: next,
		Complete: r.Complete, Explored: !s.Keep, Exact: c.exact, Versions: recordedWith(), Build: build(),
		Runs: r.Runs, Elapsed: r.Elapsed, Steps: r.Steps, Reconciles: r.Reconciles, Requests: r.Requests,
		Virtual: r.Virtual, Doubled: r.Doubled, Orders: r.Orders, Findings: r.Findings,
		Growth: c.pace.Growth, Slowest: c.pace.Slowest, Objects: r.Objects, Sites: r.Sites, Calls: r.Calls,
		Drifted: r.Drifted, Outdated: r.Outdated, Divergences: r.Divergences, Rights: r.Rights,
		Faults: r.Faults, Sometimes: r.Sometimes, Strategies: r.Strategies,
	}
}

// elapse notes how long the campaign has taken so far.
func (c *recorder) elapse() { c.report.Elapsed = c.before + time.Since(c.began) }

// path is the file of the result; "" if none is written.
func (c *recorder) path() string {
	if c.settings.ReportDir == "" {
		return ""
	}
	return filepath.Join(c.settings.ReportDir, c.result(0).FileName())
}

// keep writes the result now, unless an earlier process's has not been taken up yet.
func (c *recorder) keep(next int) {
	if c.open {
		c.save(next, true)
	}
}

// save writes the result if it is time to, or if this is the last time. It does not return if a
// fresh process is to continue.
func (c *recorder) save(next int, last bool) {
	if c.settings.ReportDir == "" || !last && time.Since(c.saved) < saveEvery {
		return
	}
	c.saved = time.Now()
	c.elapse()
	c.search.report()
	if err := c.result(next).Write(c.settings.ReportDir); err != nil {
		c.settings.Host.Logf("sim: the campaign's result could not be kept: %v", err)
		return
	}
	if !last && c.settings.worn() {
		replaceProcess() // which continues with run next
	}
}

// touch says of the result that an earlier process has written that it is this process's, too.
func (c *recorder) touch() {
	if path, now := c.path(), time.Now(); path != "" {
		os.Chtimes(path, now, now) // only the wavetank command looks at it
	}
}

// keepPace notes how long a run took and how much had been seen by then: eight times at least for
// each doubling of runs.
func (c *recorder) keepPace(i int, strategy string, res *run.Result, took time.Duration) {
	c.pace.Slow(story.SlowRun{Run: i, Strategy: strategy, Steps: res.Steps, Elapsed: took})
	n, every := c.report.Runs, 1
	for every*16 <= n {
		every *= 2
	}
	if n%every == 0 {
		c.pace.Growth = append(c.pace.Growth, story.Growth{Runs: n, Orders: len(c.search.orders)})
	}
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
func (c *recorder) unfinished() *story.Result {
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
func (c *recorder) interrupted(old *story.Result) bool {
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
func (c *recorder) dropPassing(old *story.Result, fails func(story.Finding) bool) {
	old.Findings = slices.DeleteFunc(old.Findings, func(f story.Finding) bool {
		if fails(f) {
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

// resume takes up what an earlier process has left, without what does not fail any more. It is nil
// if there is nothing.
func (c *recorder) resume(fails func(story.Finding) bool) *story.Result {
	defer func() { c.open = true }()
	old := c.unfinished()
	if old == nil {
		return nil
	}
	old.Findings = slices.DeleteFunc(old.Findings, func(f story.Finding) bool { return f.Strategy == outdatedStory })
	c.dropPassing(old, fails)
	c.before = old.Elapsed
	c.pace.Slowest = old.Slowest // what had been seen is not kept, so its growth begins at 0
	c.settings.Host.Logf("sim: going on with run %d of %s, as %s has it", old.Next, c.report.Name, c.settings.ReportDir)
	return old
}
