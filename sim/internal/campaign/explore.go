package campaign

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// Check is [Explore], and fails the test with what it found.
func Check(t *testing.T, r run.Runner, s Settings) {
	t.Helper()
	explore(t, r, s).announce()
}

// Explore makes a campaign, and reports what it found without failing the test. Misuse still fails
// it.
func Explore(t *testing.T, r run.Runner, s Settings) result.Report {
	t.Helper()
	return explore(t, r, s).report
}

// running is held while a campaign runs: runs own process-wide settings.
var running sync.Mutex

func explore(t *testing.T, r run.Runner, s Settings) *campaign {
	t.Helper()
	if err := errors.Join(s.check(), s.writable()); err != nil {
		s.Host.Fatalf("%v", err)
	}
	if r == nil {
		s.Host.Fatalf("sim: Check and Explore need a scenario: " +
			"a func(w *sim.World) that says what happens and what must hold")
	}
	if !running.TryLock() {
		s.Host.Fatalf("sim: two scenarios at once in one process; runs own process-wide settings, " +
			"so remove t.Parallel, and do not call Check inside a scenario")
	}
	defer running.Unlock()
	name := nameOf(s.Host)
	if err := refuseParallel(t); err != nil {
		s.Host.Fatalf("%v", err)
	}
	if s.Keep && s.Stories == "" {
		s.Stories = storyDir(name)
	}
	s.prepareRuns()
	defer process.LimitMemory(int64(s.Memory))()
	defer process.Enter(s.Run.Log, s.Outside)()
	c := newCampaign(t, r, s, name)
	c.report.Seed = baseSeed(s.Host.Name(), s.Seed)
	defer watch(t.Name(), s, c)()
	defer c.heedSignals()()
	began := time.Now()
	c.run(began)
	c.report.Elapsed = c.before + time.Since(began)
	c.printEvents()
	c.writeCoverage()
	if f := c.report.Failure; f != nil && f.Kind == result.Misuse {
		s.Host.Fatalf("%s", f.Message)
	} else if f != nil && s.replayFlag && !s.Keep {
		s.Host.Fatalf("%s", f.Text()) // -sim.replay shows the failure; Check shows it by itself
	}
	c.report.Missed, c.report.Warnings = c.missed(), c.warnings()
	return c
}

// refuseParallel finds out whether the test or one of its parents is parallel.
func refuseParallel(t *testing.T) (err error) {
	defer func() {
		switch v := recover(); {
		case v == nil:
		case strings.Contains(fmt.Sprint(v), "Cryptographic Module"):
			err = fmt.Errorf("sim: %v; build the test without GOFIPS140=v1.0.0", v)
		default:
			err = fmt.Errorf("sim: %s or one of its parents called t.Parallel; a run owns process-wide settings "+
				"(GOMAXPROCS, the global random sources, http.DefaultTransport), "+
				"so remove t.Parallel and use more processes instead", t.Name())
		}
	}()
	process.Seed(t, 0)
	return nil
}

func baseSeed(name, flag string) uint64 {
	switch flag {
	case "":
		h := fnv.New64a()
		h.Write([]byte(name))
		return h.Sum64()
	case "random":
		return rand.Uint64()
	}
	n, _ := strconv.ParseUint(flag, 0, 64)
	return n
}

func (c *campaign) run(began time.Time) {
	c.progress, c.cpu = newProgress(began), cpuTime()
	defer c.progress.done()
	if c.settings.Replay != "" || c.settings.Confirm != "" {
		c.replayGiven()
		return
	}
	s := c.settings
	search := newSearch(c)
	if !c.replayKept() {
		if c.unfinished() == nil {
			c.finish(search, 0, began)
		}
		c.touchResult() // what has been done of the campaign is not thrown away
		return
	}
	if c.settings.Strategy == "rapid" {
		c.byRapid()
		c.finish(search, 0, began)
		return
	}
	defer search.report()
	c.settings.Run.Pass = s.KeepGoing && s.Strategy != "exhaustive"
	if !c.prepared(search) {
		c.finish(search, 0, began)
		return
	}
	i := c.resume(search)
	spent, made := newEffort(cpuTime), 0
	c.keep = func(next int) { c.save(search, next, began, true) }
	if c.report.Failure != nil && !s.KeepGoing {
		c.touchResult() // an earlier process has found it, and what it wrote down stays
		return
	}
	for ; s.Runs == 0 || i < s.Runs; i++ {
		c.report.Spent = spent.spent()
		if made > 0 && s.exhausted(c.tally.searched, c.report.Spent) {
			c.finish(search, i, began)
			return
		}
		if !s.mine(i) {
			continue
		}
		seed := choice.Mix(c.report.Seed, i)
		clock := time.Now()
		c.doing.Store(&activity{fmt.Sprintf("run %d (seed %d)", i, seed), s.Strategy, i, seed})
		c.settings.Run.Callers = s.Verify > 0 && i%s.Verify == 0
		res, strategy, more := search.next(i, seed)
		if !more {
			break
		}
		made++
		c.keepPace(i, strategy, res, time.Since(clock), search)
		if res.Ending.Failed() || len(res.Passed) > 0 {
			c.addBroken(i, seed, strategy, res)
		} else if s.Verify > 0 && i%s.Verify == 0 {
			c.runTwice(i, seed, strategy, res)
		}
		if c.mustEnd() {
			c.endInterrupted(i + 1)
		}
		if c.report.Failure != nil && !s.KeepGoing {
			c.finish(search, i+1, began)
			return
		}
		c.save(search, i+1, began, false)
	}
	c.report.Complete, c.report.Spent = true, spent.spent()
	c.finish(search, s.Runs, began)
}

// prepared makes the runs that a search plans with. It reports false if one of them breaks
// something and the campaign ends with that.
func (c *campaign) prepared(s *search) bool {
	broken := s.prepare()
	if broken == nil {
		return true
	}
	c.brokenRuns++
	c.addFailing(0, c.report.Seed, "undisturbed", broken, broken)
	return c.settings.KeepGoing && c.settings.Strategy != "exhaustive"
}

// keepPace notes how long a run took and how much had been seen by then: eight times at least for
// each doubling of runs.
func (c *campaign) keepPace(i int, strategy string, res *run.Result, took time.Duration, s *search) {
	c.pace.Slow(story.SlowRun{Run: i, Strategy: strategy, Steps: res.Steps, Elapsed: took})
	n, every := c.report.Runs, 1
	for every*16 <= n {
		every *= 2
	}
	if n%every == 0 {
		c.pace.Growth = append(c.pace.Growth, story.Growth{Runs: n, Orders: len(s.orders)})
	}
}
