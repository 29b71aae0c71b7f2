package campaign

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// Check is [Explore], and fails the test with what it found.
func Check(t *testing.T, r run.Runner, s Settings) {
	t.Helper()
	makeCampaign(t, r, s).announce()
}

// Explore makes a campaign, and reports what it found without failing the test. Misuse still fails
// it.
func Explore(t *testing.T, r run.Runner, s Settings) result.Report {
	t.Helper()
	return *makeCampaign(t, r, s).report
}

// oneCampaign is held while a campaign runs: runs own process-wide settings.
var oneCampaign sync.Mutex

func makeCampaign(t *testing.T, r run.Runner, s Settings) *explorer {
	t.Helper()
	if err := errors.Join(s.check(), s.writable()); err != nil {
		s.Host.Fatalf("%v", err)
	}
	if r == nil {
		s.Host.Fatalf("sim: Check and Explore need a scenario: " +
			"a func(w *sim.World) that says what happens and what must hold")
	}
	if !oneCampaign.TryLock() {
		s.Host.Fatalf("sim: two scenarios at once in one process; runs own process-wide settings, " +
			"so remove t.Parallel, and do not call Check inside a scenario")
	}
	defer oneCampaign.Unlock()
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
	if os.Getenv(hostedTest) != "" {
		serveHosted(t, r, s)
	}
	c := newCampaign(t, r, s, name, baseSeed(s.Host.Name(), s.Seed))
	if os.Getenv(hostedTest) != "" {
		return c
	}
	defer startWatchdog(t.Name(), s, c.hangs)()
	defer c.interruption.heedSignals()()
	c.progress.watch()
	c.run()
	c.progress.done()
	c.recorder.elapse()
	c.printEvents()
	if s.Coverage != "" {
		s.writeCoverage(c.recorder.result(0))
	}
	if f := c.report.Failure; f != nil && f.Kind == result.Misuse {
		s.Host.Fatalf("%s", f.Message)
	} else if f != nil && s.replayFlag && !s.Keep {
		s.Host.Fatalf("%s", f.Text()) // -sim.replay shows the failure; Check shows it by itself
	}
	e := c.evidence()
	c.report.Missed, c.report.Warnings = e.missed(), e.warnings()
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

// run replays the stories that are kept or given, and makes the runs of the search.
func (e *explorer) run() {
	s := e.settings
	if s.Replay != "" || s.Confirm != "" {
		e.replayer.replayGiven()
		return
	}
	if !e.replayer.replayKept() {
		if e.recorder.unfinished() == nil {
			e.finish(0)
		}
		e.recorder.touch() // what has been done of the campaign is not thrown away
		return
	}
	if s.Strategy == "rapid" {
		e.byRapid()
		e.finish(0)
		return
	}
	defer e.search.report()
	e.runs.keepGoing(s.KeepGoing && s.Strategy != "exhaustive")
	if broken := e.search.prepare(); broken != nil {
		e.keeper.addFailing(0, e.report.Seed, "undisturbed", broken, broken)
		if !s.KeepGoing || s.Strategy == "exhaustive" {
			e.finish(0)
			return
		}
	}
	first := e.resume()
	if e.report.Failure != nil && !s.KeepGoing {
		e.recorder.touch() // an earlier process has found it, and what it wrote down stays
		return
	}
	e.finish(e.searchFrom(first))
}

// resume takes up what an earlier process has left, and returns the number of the run to continue
// with.
func (e *explorer) resume() int {
	old := e.recorder.resume(e.replayer.player.stillFails)
	if old == nil {
		return 0
	}
	e.tally.restore(old)
	e.findings.restore(old.Findings, e.settings.Stories)
	e.verifier.restore(old)
	e.search.restore(old)
	return old.Next
}

// searchFrom makes the runs of the search from run i on, until all are made, the time is up or one
// has failed. It returns the number of the run that is still to be made.
func (e *explorer) searchFrom(i int) int {
	s, spent, made := e.settings, newEffort(cpuTime), 0
	for ; s.Runs == 0 || i < s.Runs; i++ {
		e.report.Spent = spent.spent()
		if made > 0 && s.exhausted(e.tally.searched, e.report.Spent) {
			return i
		}
		if !s.mine(i) {
			continue
		}
		if !e.searchRun(i) {
			break
		}
		made++
		if e.interruption.asked.Load() {
			e.recorder.keep(i + 1)
			e.interruption.end(e.t.Name())
		}
		if e.report.Failure != nil && !s.KeepGoing {
			return i + 1
		}
		e.recorder.save(i+1, false)
	}
	e.report.Complete, e.report.Spent = true, spent.spent()
	return s.Runs
}

// searchRun makes run i of the search. It reports false if the strategy has nothing left to try.
func (e *explorer) searchRun(i int) bool {
	seed, began, s := choice.Mix(e.report.Seed, i), time.Now(), e.settings
	e.runs.doing.Store(&activity{fmt.Sprintf("run %d (seed %d)", i, seed), s.Strategy, i, seed})
	twice := s.Verify > 0 && i%s.Verify == 0
	e.runs.noteCallers(twice)
	res, strategy, more := e.search.next(i, seed)
	if !more {
		return false
	}
	e.recorder.keepPace(i, strategy, res, time.Since(began))
	if res.Ending.Failed() || len(res.Passed) > 0 {
		e.keeper.addBroken(i, seed, strategy, res)
	} else if twice {
		e.verifier.runTwice(i, seed, strategy, res)
	}
	return true
}
