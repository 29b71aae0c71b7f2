package campaign

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// strategies are the ways to make choice sequences, as -sim.strategy takes them.
var strategies = []string{"portfolio", "random", "pct", "delay", "swarm", "starve", "storm", "sweep", "pairs",
	"exhaustive", "evolve", "rapid"}

// search makes a choice source for each run, and learns from what the run came to.
type search struct {
	c      *campaign
	name   string
	sweep  *choice.Sweep
	evolve *choice.Evolve
	all    *choice.Exhaustive
	armed  choice.Sequence
	log    []choice.Answer // of the armed run
	counts map[string]*result.StrategyCount
}

// portfolio is the order in which the default strategy takes turns. docs/search.md shows what each
// is worth: a sweep finds for certain what one disturbance can break, swarm and pairs find what
// needs several, the others what needs an order or a pace that nobody planned for.
var portfolio = []string{"random", "sweep", "swarm", "pct", "pairs", "sweep", "delay", "evolve", "swarm", "starve"}

func newSearch(c *campaign) *search {
	evolve := choice.NewEvolve(c.report.Seed)
	return &search{c: c, name: c.settings.Strategy, evolve: evolve, counts: map[string]*result.StrategyCount{}}
}

// prepare makes the two runs that the planned strategies start from: the one on the default
// schedule, and the one with every fault armed. It returns the first that breaks a property by
// itself.
func (s *search) prepare() *run.Result {
	if s.armed != nil || s.name == "random" || s.name == "starve" || s.name == "swarm" || s.name == "storm" {
		return nil
	}
	plain := s.plan(choice.Play(nil))
	if plain.Ending.Failed() {
		return plain
	}
	s.armed = append(choice.Sequence{}, choice.Armed(plain.Log)...)
	armed := plain
	if len(s.armed) > 0 {
		if armed = s.plan(choice.Play(s.armed)); armed.Ending.Failed() {
			return armed
		}
	}
	s.log = armed.Log
	s.evolve.Learn(armed.Tape, features(armed.History))
	s.sweep = choice.NewSweep(s.c.report.Seed, s.armed, armed.Log)
	s.all = choice.NewExhaustive(s.armed, s.c.settings.Bound)
	return nil
}

// plan makes a run that is not one of the campaign's unless it breaks something: every shard makes
// it.
func (s *search) plan(o choice.Source) *run.Result {
	res := s.c.execute(o)
	if res.Ending.Failed() {
		s.c.count(res)
	}
	return res
}

func (s *search) run(o choice.Source) *run.Result {
	res := s.c.execute(o)
	s.c.searched(res)
	return res
}

// next makes run i. It reports false when the strategy has nothing left to try.
func (s *search) next(i int, seed uint64) (*run.Result, string, bool) {
	name := s.name
	if name == "portfolio" {
		name = portfolio[i%len(portfolio)]
	}
	if name == "evolve" && s.c.settings.shards() > 1 {
		name = "random" // evolution knows only the runs of its own shard, and a run must not depend on who makes it
	}
	var res *run.Result
	switch name {
	case "random":
		res = s.run(choice.NewRandom(seed))
	case "swarm":
		res = s.run(choice.NewSwarm(seed))
	case "starve":
		res = s.run(choice.NewStarve(seed))
	case "storm":
		res = s.run(choice.NewAllFaults(seed))
	case "pct":
		res = s.run(choice.NewPCT(seed, 1+i/len(portfolio)%3, s.log))
	case "delay":
		res = s.run(choice.NewDelays(seed, 1+i/len(portfolio)%4, s.log))
	case "evolve":
		res = s.run(s.evolve.Source())
	case "sweep":
		tape, pair := s.sweep.At(s.turn("sweep", i))
		if pair {
			name = "pairs"
		}
		res = s.run(choice.Play(tape))
	case "pairs":
		res = s.run(choice.Play(s.sweep.Pair(s.turn("pairs", i))))
	case "exhaustive":
		tape, ok := s.all.Next()
		if !ok {
			return nil, name, false
		}
		res = s.run(choice.Play(tape))
		s.all.Done(res.Log, res.History.Trace())
	}
	if name != "exhaustive" {
		s.evolve.Learn(res.Tape, features(res.History))
	}
	s.tally(name, res.Ending.Failed())
	return res, name, true
}

// turn is how many runs before run i were a strategy's, so that a planned strategy knows where it
// is in its plan whichever shard makes the run.
func (s *search) turn(name string, i int) int {
	if s.name != "portfolio" {
		return i
	}
	each, before := 0, 0
	for j, p := range portfolio {
		if p == name {
			each++
			if j < i%len(portfolio) {
				before++
			}
		}
	}
	return i/len(portfolio)*each + before
}

func (s *search) tally(name string, found bool) {
	n := s.counts[name]
	if n == nil {
		n = &result.StrategyCount{Name: name}
		s.counts[name] = n
	}
	n.Runs++
	if found {
		n.Finds++
	}
}

// report puts the counts into the campaign's report.
func (s *search) report() {
	r := &s.c.report
	r.Strategies = nil
	for _, n := range s.counts {
		r.Strategies = append(r.Strategies, *n)
	}
	slices.SortFunc(r.Strategies, func(a, b result.StrategyCount) int { return strings.Compare(a.Name, b.Name) })
	r.Features = s.evolve.Features()
	if s.all == nil || s.name != "exhaustive" {
		return
	}
	r.Explored = fmt.Sprintf("%d runs with at most %d disturbances, %d of them pruned as already seen",
		s.all.Runs, s.c.settings.Bound, s.all.Pruned)
	if s.all.Left() > 0 {
		r.Explored += fmt.Sprintf("; NOT all: %d are left", s.all.Left())
	} else {
		r.Explored = "all: " + r.Explored
	}
}

// features are what is worth seeing for the first time in a history: the abstract state that each
// write led to (kinds, how many, in which phase) and each pair of a reconcile's path (its calls and
// their codes) with a fault that struck during it.
func features(h *history.History) []uint64 {
	var out []uint64
	counts := map[string]int{}
	paths := map[history.ReconcileID]string{}
	faults := map[history.ReconcileID]string{}
	add := func(s string) {
		f := fnv.New64a()
		f.Write([]byte(s))
		out = append(out, f.Sum64())
	}
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case history.Request:
			for _, c := range e.Changes {
				switch c.Type {
				case "ADDED":
					counts[c.Ref.Kind]++
				case "DELETED":
					counts[c.Ref.Kind]--
				}
				add(fmt.Sprint("state ", counts))
			}
			if !e.Reconcile.None() {
				paths[e.ReconcileID()] += fmt.Sprintf("%s %s%s %d;", e.Verb, e.Ref.Kind, e.Sub, e.Code)
			}
		case history.Fault:
			faults[e.ReconcileID()] += e.Injection.Fault() + ";"
		case history.Crash:
			faults[e.ReconcileID()] += "crash;"
		case history.Done:
			k, outcome := e.ReconcileID(), e.Outcome
			outcome.Text = ""
			add("path " + paths[k] + outcome.String() + " under " + faults[k])
			delete(paths, k)
			delete(faults, k)
		}
	}
	for k, p := range paths { // cut off by a crash
		add("cut " + p + " under " + faults[k])
	}
	return out
}
