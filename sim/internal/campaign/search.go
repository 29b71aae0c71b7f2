package campaign

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// search makes a choice source for each run, and learns from what the run came to.
type search struct {
	settings   Settings
	runs       *executor
	tally      *tally
	turns      []string
	sweep      *choice.Sweep
	all        *choice.Exhaustive
	armed      choice.Sequence
	base       *choice.Base   // the armed run
	bases      []*choice.Base // runs with an order of events that was new
	seen       choice.Classes // of requests, in the armed run and in those with a new order
	orders     map[uint64]bool
	before     int // orders that an earlier process had seen
	strategies map[string]*result.StrategyCount
}

func newSearch(s Settings, r *executor, t *tally) *search {
	return &search{settings: s, runs: r, tally: t, turns: s.turns(), orders: map[uint64]bool{},
		strategies: map[string]*result.StrategyCount{}}
}

// prepare makes the two runs that the planned strategies start from: the one on the default
// schedule, and the one with every fault armed. It returns the first that breaks a property by
// itself.
func (s *search) prepare() *run.Result {
	if s.armed != nil || !s.settings.plans() {
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
	s.base = choice.NewBase(s.armed, armed.Log)
	s.seen.Add(armed.Log)
	s.orders[armed.History.Order()] = true
	s.sweep = choice.NewSweep(s.armed, armed.Log)
	s.all = choice.NewExhaustive(s.armed, s.settings.Bound)
	return nil
}

// plan makes a run that is not one of the campaign's unless it breaks something: every shard makes
// it.
func (s *search) plan(o choice.Source) *run.Result {
	res := s.runs.execute(o)
	if res.Ending.Failed() {
		s.tally.count(res)
	}
	return res
}

func (s *search) run(o choice.Source) *run.Result {
	res := s.runs.execute(o)
	s.tally.countSearched(res)
	return res
}

// next makes run i. It reports false when the strategy has nothing left to try.
func (s *search) next(i int, seed uint64) (*run.Result, string, bool) {
	name := s.turns[i%len(s.turns)]
	if s.base == nil && !slices.Contains(unplanned, name) {
		name = "random" // a run to plan with breaks something by itself, and the campaign keeps going
	}
	single, planned := choice.Sequence(nil), false
	if name == "sweep" {
		if single, planned = s.sweep.At(s.turn(i)); !planned {
			name = "burst" // all single disturbances have been tried
		}
	}
	var res *run.Result
	switch name {
	case "random":
		res = s.run(choice.NewRandom(seed).In(s.base))
	case "swarm":
		res = s.run(choice.NewSwarm(seed).In(s.base))
	case "storm":
		res = s.run(choice.NewAllFaults(seed))
	case "sweep":
		res = s.run(choice.Play(single))
	case "burst":
		res = s.run(choice.NewBurst(seed, s.base, s.bases...))
	case "aimed":
		res = s.run(choice.NewAimed(seed, &s.seen))
	case "exhaustive":
		choices, ok := s.all.Next()
		if !ok {
			return nil, name, false
		}
		res = s.run(choice.Play(choices))
		s.all.Done(res.Log, res.History.Trace())
	}
	s.learn(res, name)
	s.made(name, res.Ending.Failed() || len(res.Passed) > 0)
	return res, name, true
}

// What is kept of the runs of a campaign: orders of events, and bases, the youngest.
const (
	mostOrders = 1 << 18
	mostBases  = 1 << 10
)

// learn keeps a run in which the order of events was new, and its classes of requests. A shard does
// not know the runs of the others, and a run must not depend on who makes it, so there no burst
// begins in one and no fault is aimed at one's classes. Nor does a burst begin in a random walk,
// where too much happens.
func (s *search) learn(res *run.Result, name string) {
	if s.runs.settings.Window > 0 {
		return // it has forgotten most events
	}
	order := res.History.Order()
	if s.orders[order] || len(s.orders) == mostOrders {
		return
	}
	s.orders[order] = true
	if s.base == nil || s.settings.shards() > 1 {
		return
	}
	s.seen.Add(res.Log)
	if name != "burst" && name != "sweep" {
		return
	}
	if len(s.bases) == mostBases {
		s.bases = slices.Delete(s.bases, 0, mostBases/2)
	}
	s.bases = append(s.bases, choice.NewBase(res.Choices, res.Log))
}

// turn is how many runs before run i were turns of the sweep, so that it knows where it is in its
// plan whichever shard makes the run.
func (s *search) turn(i int) (n int) {
	for j, name := range s.turns {
		if name == "sweep" {
			n += (i + len(s.turns) - 1 - j) / len(s.turns)
		}
	}
	return n
}

func (s *search) made(name string, found bool) {
	n := s.strategies[name]
	if n == nil {
		n = &result.StrategyCount{Name: name}
		s.strategies[name] = n
	}
	n.Runs++
	if found {
		n.Finds++
	}
}

// report puts the counts into the campaign's report.
func (s *search) report() {
	r := s.tally.report
	r.Strategies = nil
	for _, n := range s.strategies {
		r.Strategies = append(r.Strategies, *n)
	}
	slices.SortFunc(r.Strategies, func(a, b result.StrategyCount) int { return strings.Compare(a.Name, b.Name) })
	r.Orders = max(s.before, len(s.orders)) // a lower bound, because orders are not stored
	if s.all == nil || s.settings.Strategy != "exhaustive" {
		return
	}
	r.Explored = fmt.Sprintf("%d runs with at most %d disturbances, %d of them pruned as already seen",
		s.all.Runs, s.settings.Bound, s.all.Pruned)
	if s.all.Left() > 0 {
		r.Explored += fmt.Sprintf("; NOT all: %d are left", s.all.Left())
	} else {
		r.Explored = "all: " + r.Explored
	}
}

// restore takes up what an earlier process has counted.
func (s *search) restore(old *story.Result) {
	s.before = old.Orders
	for _, n := range old.Strategies {
		s.strategies[n.Name] = &n
	}
}
