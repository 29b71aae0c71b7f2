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
func (r *recorder) result(next int) *story.Result {
	all, s := r.report, r.settings
	shard, shards, _ := parseShard(s.Shard)
	return &story.Result{
		Test: all.Name, Package: s.Host.Package(), Seed: all.Seed, Strategy: s.Strategy,
		Planned: s.Runs, Shard: shard, Shards: shards, Next: next,
		Complete: all.Complete, Explored: !s.Keep, Exact: r.exact, Versions: recordedWith(), Build: build(),
		Runs: all.Runs, Elapsed: all.Elapsed, Steps: all.Steps, Reconciles: all.Reconciles, Requests: all.Requests,
		Virtual: all.Virtual, Doubled: all.Doubled, Orders: all.Orders, Findings: all.Findings,
		Growth: r.pace.Growth, Slowest: r.pace.Slowest, Objects: all.Objects, Sites: all.Sites, Calls: all.Calls,
		Drifted: all.Drifted, Outdated: all.Outdated, Divergences: all.Divergences, Rights: all.Rights,
		Faults: all.Faults, Sometimes: all.Sometimes, Strategies: all.Strategies,
	}
}

// elapse notes how long the campaign has taken so far.
func (r *recorder) elapse() { r.report.Elapsed = r.before + time.Since(r.began) }

// path is the file of the result; "" if none is written.
func (r *recorder) path() string {
	if r.settings.ReportDir == "" {
		return ""
	}
	return filepath.Join(r.settings.ReportDir, r.result(0).FileName())
}

// keep writes the result now, unless an earlier process's has not been taken up yet.
func (r *recorder) keep(next int) {
	if r.open {
		r.save(next, true)
	}
}

// save writes the result if it is time to, or if this is the last time. It does not return if a
// fresh process is to continue.
func (r *recorder) save(next int, last bool) {
	if r.settings.ReportDir == "" || !last && time.Since(r.saved) < saveEvery {
		return
	}
	r.saved = time.Now()
	r.elapse()
	r.search.report()
	if err := r.result(next).Write(r.settings.ReportDir); err != nil {
		r.settings.Host.Logf("sim: the campaign's result could not be kept: %v", err)
		return
	}
	if !last && r.settings.worn() {
		replaceProcess() // which continues with run next
	}
}

// touch says of the result that an earlier process has written that it is this process's, too.
func (r *recorder) touch() {
	if path, now := r.path(), time.Now(); path != "" {
		os.Chtimes(path, now, now) // only the wavetank command looks at it
	}
}

// keepPace notes how long a run took and how much had been seen by then: eight times at least for
// each doubling of runs.
func (r *recorder) keepPace(i int, strategy string, res *run.Result, took time.Duration) {
	r.pace.Slow(story.SlowRun{Run: i, Strategy: strategy, Steps: res.Steps, Elapsed: took})
	n, every := r.report.Runs, 1
	for every*16 <= n {
		every *= 2
	}
	if n%every == 0 {
		r.pace.Growth = append(r.pace.Growth, story.Growth{Runs: n, Orders: len(r.search.orders)})
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

// unfinished is the result that this process continues; nil if there is none. A result of other
// code or other settings will be overwritten.
func (r *recorder) unfinished() *story.Result {
	if r.settings.ReportDir == "" {
		return nil
	}
	fresh := r.result(0)
	old, err := story.ReadResult(filepath.Join(r.settings.ReportDir, fresh.FileName()))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		r.settings.Host.Fatalf("sim: -sim.report: %v; mend or remove the file", err)
	}
	if old.Package != fresh.Package || old.Test != fresh.Test || old.Build != fresh.Build || old.Seed != fresh.Seed ||
		old.Strategy != fresh.Strategy || old.Strategy == "exhaustive" || old.Shards != fresh.Shards || old.Next == 0 {
		return nil
	}
	if old.Complete && old.Planned >= fresh.Planned && !r.interrupted(old) {
		return nil
	}
	return old
}

// interrupted reports whether another campaign of the same command was not completed, for example
// because the process ended before its last test. The same command continues then, and what it had
// completed is kept.
func (r *recorder) interrupted(old *story.Result) bool {
	paths, _ := filepath.Glob(filepath.Join(r.settings.ReportDir, "*.json"))
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
func (r *recorder) dropPassing(old *story.Result, fails func(story.Finding) bool) {
	old.Findings = slices.DeleteFunc(old.Findings, func(f story.Finding) bool {
		if fails(f) {
			return false
		}
		r.settings.Host.Logf("sim: %s holds %d runs of %s, of which %d broke a property (%s); played again they hold, "+
			"so only these are taken off the record; give another directory to make all runs again",
			r.settings.ReportDir, old.Runs, r.report.Name, f.Count, f.Cause)
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
func (r *recorder) resume(fails func(story.Finding) bool) *story.Result {
	defer func() { r.open = true }()
	old := r.unfinished()
	if old == nil {
		return nil
	}
	old.Findings = slices.DeleteFunc(old.Findings, func(f story.Finding) bool { return f.Strategy == outdatedStory })
	r.dropPassing(old, fails)
	r.before = old.Elapsed
	r.pace.Slowest = old.Slowest // what had been seen is not kept, so its growth begins at 0
	r.settings.Host.Logf("sim: continuing with run %d of %s, as %s has it", old.Next, r.report.Name,
		r.settings.ReportDir)
	return old
}
