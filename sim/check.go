package sim

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/story"
)

// Check runs a scenario many times, each run with other choices, and fails the test at the first run in which a
// property breaks. It is [Explore] and a report. The test and its parents must not be parallel: a run owns
// process-wide settings.
func Check(t *testing.T, scenario func(*World), opts ...ExploreOption) {
	t.Helper()
	r := Explore(t, scenario, append([]ExploreOption{Stories("")}, opts...)...)
	r.report(t)
}

// ExploreOption overrides a flag for one scenario.
type ExploreOption func(*settings)

// Runs sets the number of runs; 0 means as many as the time allows.
func Runs(n int) ExploreOption { return func(s *settings) { s.runs = n } }

// For limits the CPU time that the process spends on all runs; 0 means no limit. Where the system reports no CPU time, it
// limits the real time. Without For and -sim.for the limit is 5 s; a campaign with fewer than 20 runs then goes on until it has
// made 20 or has used 30 s.
func For(d time.Duration) ExploreOption { return func(s *settings) { s.budget, s.strict = d, true } }

// Seed sets the base seed.
func Seed(n uint64) ExploreOption {
	return func(s *settings) { s.seed = strconv.FormatUint(n, 10) }
}

// Verify runs every n-th run twice and compares the histories; 0 means never. A pair that differs is repeated ten times.
// If all those pairs differ, the campaign fails. If fewer do, or if only the text of an error differs, that is a warning:
// see [Report.Divergences].
func Verify(n int) ExploreOption { return func(s *settings) { s.verify = n } }

// Shrink limits the real time for shrinking what is found; 0 means not at all.
func Shrink(d time.Duration) ExploreOption { return func(s *settings) { s.shrink = d } }

// Strategy sets how tapes are made: portfolio (the default, which takes turns), random, swarm, pct, delay, starve, storm, sweep,
// pairs, exhaustive, evolve or rapid.
func Strategy(name string) ExploreOption { return func(s *settings) { s.strategy = name } }

// Bound sets how many disturbances a run of the exhaustive strategy has at most.
func Bound(n int) ExploreOption { return func(s *settings) { s.bound = n } }

// ReportTo writes the campaign's result into a directory as JSON while it runs, and goes on where such a result left off. Of
// each failure it writes the timeline there, as a page for people and as JSON.
func ReportTo(dir string) ExploreOption { return func(s *settings) { s.report = dir } }

// KeepGoing goes on after a failure until all runs are made, and groups what is found by its cause.
func KeepGoing() ExploreOption { return func(s *settings) { s.keepGoing = true } }

// MaxSteps sets after how many steps a run that does not settle is given up.
func MaxSteps(n int) ExploreOption { return func(s *settings) { s.maxSteps = n } }

// Window bounds what a run remembers, so that it needs no more memory the longer it is. It keeps its record for the last d of
// virtual time (and for as long again, at times), and of what came before only the objects, the effects, the counts and a mark
// of each event by which two runs are compared. So that everything has been read by then, Eventually functions are called once
// in each d as well, and what they say then does not count. Properties that look back further panic with a sentence that says
// so, and a failure is told from where its record begins.
//
// The API servers forget with it, as kube-apiserver has etcd do every five minutes (--etcd-compaction-interval): a watch that
// trails by more than d is told 410 Gone. The goroutines of dead processes end then, not when the run does. The dice that
// programs throw (math/rand) may fall otherwise from there on, which is where a run departs from the same without a window.
//
// d must be at least a minute and longer than faults last. [World.Undisturbed], and strategies that plan with the record of
// earlier runs (portfolio, sweep, pairs, pct, delay, evolve, exhaustive, rapid), cannot be had with it.
func Window(d time.Duration) ExploreOption { return func(s *settings) { s.window = d } }

// Stories keeps what is found as story files in a directory, and tries the stories that are there before searching. ""
// is the directory that Check uses by itself: the one of the test's name, under testdata/sim.
func Stories(dir string) ExploreOption {
	return func(s *settings) { s.stories, s.keep = dir, s.keep || dir == "" }
}

// Replay plays one story instead of searching, whichever test it belongs to: for catalogues of stories that must still
// break one program and no longer another. Where -sim.replay is given, that one is played.
func Replay(path string) ExploreOption {
	return func(s *settings) {
		if s.replay == "" {
			s.replay = path
		}
	}
}

// Report is what a campaign found.
type Report struct {
	Name    string        // of the campaign: the test's, with ~2 and so on for others in the same test
	Seed    uint64        // base seed
	Runs    int           // runs made, the failing one included, those for shrinking not
	Elapsed time.Duration // real time, shrinking included
	// Spent is the CPU time that this process spent on runs, or the real time where the system reports no CPU time.
	// Shrinking is not included.
	Spent time.Duration
	// Steps, Reconciles and Requests (to the API servers and to the outside) are those of all runs together, Virtual their
	// virtual time.
	Steps      int
	Reconciles int
	Requests   int
	Virtual    time.Duration
	Doubled    int // runs that were made twice and compared
	Faults     []FaultCount
	Sometimes  []Probe
	Complete   bool // all runs that were asked for were made
	// Failure is the first run that broke a property; nil if none did.
	Failure *Failure
	// Replayed is the history of the story that was played last, whether it broke a property or not; nil if none was.
	Replayed *history.History
	// Findings are all failures by cause: more than one only with KeepGoing.
	Findings []story.Finding
	// Drifted are the kept stories that hold although not all of their faults were injected, as the code no longer asks for what they
	// were injected at: they may test nothing any more.
	Drifted []story.Drift
	// Divergences are the causes for which doubled runs differ now and then, or only in the text of an error.
	Divergences []story.Divergence
	Strategies  []StrategyCount
	// Features is the number of different abstract states and (reconcile path, fault) pairs that were seen.
	Features int
	outcomes []outcomes
	refused  []refused
	unseen   []string // controllers that were not observed
	strayed  bool     // something connected to the real network, perhaps not in a run
	unheeded []unheeded
	shards   int // that the campaign was divided into
	planned  int // runs that this process was to make; 0 means as many as the time allows
	searched int // runs made in search of failures, those of earlier processes included; kept stories are not
	idle     int // searched runs in which no process was started
	// Explored says, for the exhaustive strategy, what was covered and what was not.
	Explored string
}

// running is held while a campaign runs: runs own process-wide settings.
var running sync.Mutex

// Explore runs a scenario many times and reports what it found without failing the test: for faulty variants, canaries
// and tables. A scenario or an option that cannot be (Temper misuse) still fails the test.
func Explore(t *testing.T, scenario func(*World), opts ...ExploreOption) Report {
	t.Helper()
	lookAgain()
	s := flags
	s.strict = given("sim.for", "SIM_FOR")
	s.undisturbed = &undisturbed{}
	s.host = testHost{t}
	if testing.Short() && !given("sim.runs", "SIM_RUNS") {
		s.runs = 20
	}
	for _, o := range opts {
		o(&s)
	}
	if err := errors.Join(s.check(), s.keepable()); err != nil {
		s.host.Fatalf("%v", err)
	}
	if scenario == nil {
		s.host.Fatalf("sim: Check and Explore need a scenario: a func(w *sim.World) that says what happens and what must hold")
	}
	if !running.TryLock() {
		s.host.Fatalf("sim: two scenarios at once in one process; runs own process-wide settings, so remove t.Parallel, and do not call Check inside a scenario")
	}
	defer running.Unlock()
	name := countCampaign(s.host)
	if err := refuseParallel(t); err != nil {
		s.host.Fatalf("%v", err)
	}
	if s.keep && s.stories == "" {
		s.stories = storyDir(name)
	}
	findOverlay(t)
	defer process.Enter(runLog(), process.Outside{Dialled: dialled})()
	c := &campaign{t: t, scenario: scenario, settings: s, shrunk: map[string]int{}}
	c.report.Name, c.report.Seed, c.report.shards = name, baseSeed(s.host.Name(), s.seed), s.shards()
	c.report.planned = s.planned()
	defer watch(t.Name(), s.hang, c)()
	began := time.Now()
	c.run(began)
	c.report.Elapsed = c.before + time.Since(began)
	c.report.print(s.host)
	if f := c.report.Failure; f != nil && f.Temper == "misuse" {
		s.host.Fatalf("%s", f.Message)
	} else if f != nil && flags.replay != "" && !s.keep {
		s.host.Fatalf("%s", f.Text()) // whoever types -sim.replay wants to see it; Check shows it by itself
	}
	return c.report
}

// refuseParallel finds out whether the test or one of its parents is parallel.
func refuseParallel(t *testing.T) (err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("sim: %s or one of its parents called t.Parallel; a run owns process-wide settings (GOMAXPROCS, the global "+
				"random sources, http.DefaultTransport), so remove t.Parallel and use more processes instead", t.Name())
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

type campaign struct {
	t        *testing.T
	scenario func(*World)
	settings settings
	report   Report
	progress *progress
	shrunk   map[string]int // failing runs that were shrunk, by property
	repeated map[string]int // doubled runs that differed and were repeated, by cause
	saved    time.Time
	before   time.Duration // real time that earlier processes spent on the campaign
	cpu      time.Duration // of the process, when the campaign began in it
	doing    atomic.Pointer[doing]
	dialled  string         // where a run that hangs has connected to the real network, as the process that repeated it says
	keep     func(next int) // writes the result, from run next on still to be made; nil before the first run
	pace     story.Result   // how the campaign went on: its Growth and Slowest
}

func (c *campaign) run(began time.Time) {
	c.progress, c.cpu = newProgress(began), cpuTime()
	defer c.progress.done()
	if c.settings.replay != "" {
		c.replay()
		return
	}
	s := c.settings
	search := newSearch(c)
	if !c.regress() {
		if c.left() == nil {
			c.save(search, 0, began, true)
		}
		c.stands() // what has been done of the campaign is not thrown away
		return
	}
	if c.settings.strategy == "rapid" {
		c.byRapid()
		c.save(search, 0, began, true)
		return
	}
	defer search.report()
	if broken := search.prepare(); broken != nil {
		c.found(0, c.report.Seed, "undisturbed", broken, broken)
		c.save(search, 0, began, true)
		return
	}
	i := c.resume(search)
	spent, made := newEffort(cpuTime), 0
	c.keep = func(next int) { c.save(search, next, began, true) }
	if c.report.Failure != nil && !s.keepGoing {
		c.stands() // an earlier process has found it, and what it wrote down stays
		return
	}
	for ; s.runs == 0 || i < s.runs; i++ {
		c.report.Spent = spent.spent()
		if made > 0 && s.exhausted(c.report.searched, c.report.Spent) {
			c.save(search, i, began, true)
			return
		}
		if !s.mine(i) {
			continue
		}
		seed := choice.Mix(c.report.Seed, i)
		clock := time.Now()
		c.doing.Store(&doing{fmt.Sprintf("run %d (seed %d)", i, seed), s.strategy, i, seed})
		c.settings.callers = s.verify > 0 && i%s.verify == 0
		res, strategy, more := search.next(i, seed)
		if !more {
			break
		}
		made++
		c.keepPace(i, strategy, res, time.Since(clock), search)
		if res.verdict != nil {
			c.found(i, seed, strategy, res, res)
		} else if s.verify > 0 && i%s.verify == 0 {
			c.double(i, seed, strategy, res)
		}
		if c.report.Failure != nil && !s.keepGoing {
			c.save(search, i+1, began, true)
			return
		}
		c.save(search, i+1, began, false)
	}
	c.report.Complete, c.report.Spent = true, spent.spent()
	c.save(search, s.runs, began, true)
}

// keepPace notes how long a run took and how much had been seen by then: eight times at least for each doubling of runs.
func (c *campaign) keepPace(run int, strategy string, res *result, took time.Duration, s *search) {
	c.pace.Slow(story.SlowRun{Run: run, Strategy: strategy, Steps: res.steps, Elapsed: took})
	n, every := c.report.Runs, 1
	for every*16 <= n {
		every *= 2
	}
	if n%every == 0 {
		c.pace.Growth = append(c.pace.Growth, story.Growth{Runs: n, Features: s.evolve.Features()})
	}
}

// searched adds a run that was made in search of failures to the report.
func (c *campaign) searched(res *result) {
	c.report.searched++
	if res.processes == 0 {
		c.report.idle++
	}
	c.count(res)
}

// count adds a run to the report.
func (c *campaign) count(res *result) {
	r := &c.report
	r.Runs++
	r.Steps += res.steps
	r.Reconciles += res.reconciles
	r.Requests += res.requests
	r.Virtual += res.virtual
	for _, o := range res.outcomes {
		r.outcomes = addOutcomes(r.outcomes, o)
	}
	for _, o := range res.refused {
		r.refused = addRefused(r.refused, o)
	}
	for _, u := range res.unheeded {
		r.unheeded = addUnheeded(r.unheeded, u)
	}
	r.strayed = r.strayed || res.strayed
	for _, name := range res.unseen {
		if !slices.Contains(r.unseen, name) {
			r.unseen = append(r.unseen, name)
		}
	}
	for _, f := range res.faults { // which there are may depend on choices
		i := slices.IndexFunc(r.Faults, func(have FaultCount) bool { return have.Fault == f.Fault })
		if i < 0 {
			i, r.Faults = len(r.Faults), append(r.Faults, FaultCount{Fault: f.Fault})
		}
		r.Faults[i].Opportunities += f.Opportunities
		r.Faults[i].Injected += f.Injected
		r.Faults[i].Observed += f.Observed
	}
	for _, p := range res.sometimes {
		i := slices.IndexFunc(r.Sometimes, func(have Probe) bool { return have.Sentence == p.Sentence && have.Site == p.Site })
		if i < 0 {
			i, r.Sometimes = len(r.Sometimes), append(r.Sometimes, Probe{Sentence: p.Sentence, Site: p.Site})
		}
		r.Sometimes[i].Reached += p.Reached
	}
	c.progress.show(r, c.settings)
}
