package auto

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/word"
	"github.com/wavetank/wavetank/sim/property"
	"github.com/wavetank/wavetank/sim/result"
)

// The names of the properties that [Without] switches off.
const (
	SameEndState   = "same end state"
	NoWritesAtRest = "no writes at rest"
	NothingOwned   = "nothing outlives its owner"
	StatusIsTrue   = "status names what exists"
	UpToDate       = "observedGeneration is up to date"
	SameEffects    = "same effects"
	SameInAnyOrder = "same end state in any order"
	EffectOnce     = "no effect twice"
	OthersFields   = "fields of others stay"
	NothingLeft    = "nothing is left"
	ReadyIsTrue    = "ready means done"
	NothingRemade  = "nothing is deleted and made again"
	// ObjectsReconcile fails a campaign, and not a run: each object that users create is reconciled
	// without an error in some run.
	ObjectsReconcile = "every object reconciles"
)

// Properties are the names of the properties that [Scenario] declares besides the default
// properties.
func Properties() []string {
	return []string{SameEndState, NoWritesAtRest, NothingOwned, StatusIsTrue, UpToDate, SameEffects, SameInAnyOrder,
		EffectOnce, OthersFields, NothingLeft, ReadyIsTrue, NothingRemade, ObjectsReconcile}
}

// site stands in messages where a property of a scenario's own has its line.
const site = "auto.Scenario"

// declare declares the properties that are on. calm is the run without faults, and drawn is that
// run with the actions in the order in which they were drawn. A hurried run is not compared.
func (s *settings) declare(hurried bool, calm, drawn *history.History) {
	var defaults []string
	for _, name := range s.without {
		if !slices.Contains(Properties(), name) {
			defaults = append(defaults, name)
		}
	}
	s.world.Without(defaults...)
	on := func(k result.Kind, name string, holds func(*history.History) error) {
		if !slices.Contains(s.without, name) {
			s.world.Declare(k, name, site, holds)
		}
	}
	on(result.Always, NoWritesAtRest, property.IdempotentAtRest())
	on(result.Always, OthersFields, property.NoLostField())
	on(result.Eventually, EffectOnce, noEffectTwice(calm))
	on(result.Eventually, NothingLeft, nothingLeft(s.keeps))
	on(result.Eventually, ReadyIsTrue, readyMeansDone())
	on(result.Eventually, NothingOwned, property.NoOrphans(0))
	on(result.Eventually, UpToDate, property.ObservedGeneration())
	on(result.Eventually, StatusIsTrue, property.StatusNamesWhatExists())
	if !hurried {
		on(result.Eventually, SameEndState, alike(calm, property.CrashSafe(calm)))
		on(result.Eventually, NothingRemade, alike(calm, nothingRemade(calm)))
		on(result.Eventually, SameEffects, alike(calm, sameEffects(calm)))
		on(result.Eventually, SameInAnyOrder, sameInAnyOrder(drawn, calm))
	}
}

// alike judges only while users have done the same in both runs. Where an action had another
// outcome, as when an object was not gone in time, two end states may both be right.
func alike(calm *history.History, same func(*history.History) error) func(*history.History) error {
	return func(h *history.History) error {
		if err := same(h); sameDraws(h.Draws(), calm.Draws()) {
			return err
		}
		return nil
	}
}

// sameEffects holds when the same has happened outside the cluster, by kind and key, as in another
// run when that had settled as often. How often it happened does not count, as an answer may be
// lost. Effects of which no model has said the key are left out. Of keys with random values it
// counts how many there are.
func sameEffects(calm *history.History) func(*history.History) error {
	return func(h *history.History) error {
		settled, until, untilThere, ok := bothSettled(h, calm)
		if !ok {
			return nil
		}
		here, there := effects(h, until), effects(calm, untilThere)
		masked := ""
		if !maps.Equal(here, there) && calm.Redrawn != nil {
			here, there, masked = withoutRandom(here, there, calm.Redrawn(), settled)
		}
		for _, e := range slices.Sorted(maps.Keys(there)) {
			if !here[e] {
				return fmt.Errorf("%s never happened, and undisturbed it did%s", e, masked)
			}
		}
		for _, e := range slices.Sorted(maps.Keys(here)) {
			if !there[e] {
				return fmt.Errorf("%s happened, and undisturbed it never did%s", e, masked)
			}
		}
		return nil
	}
}

// withoutRandom leaves out what is random in the keys of effects: what differs between two
// undisturbed runs. The second of two effects that differ in nothing else is numbered. remark says
// what was left out.
func withoutRandom(here, there map[string]bool, other *history.History, settled int) (a, b map[string]bool,
	remark string) {
	if other == nil {
		return here, there, ""
	}
	n, until := settles(other, settled)
	if n < settled {
		return here, there, ""
	}
	again := effects(other, until)
	only := func(in, out map[string]bool) []string {
		return slices.DeleteFunc(slices.Sorted(maps.Keys(in)), func(e string) bool { return out[e] })
	}
	var patterns []word.Pattern
	for _, p := range word.Pairs(only(there, again), only(again, there)) {
		patterns = append(patterns, word.Between(p[0], p[1]))
	}
	plain := func(all map[string]bool) map[string]bool {
		out := map[string]bool{}
		for _, e := range slices.Sorted(maps.Keys(all)) {
			i := slices.IndexFunc(patterns, func(p word.Pattern) bool { _, ok := p.Match(e); return ok })
			if i >= 0 && !(there[e] && again[e]) {
				e = patterns[i].String()
			}
			name := e
			for n := 2; out[name]; n++ {
				name = fmt.Sprintf("%s (%d)", e, n)
			}
			out[name] = true
		}
		return out
	}
	if len(patterns) > 0 {
		remark = " (… is random: it differs between two undisturbed runs)"
	}
	return plain(here), plain(there), remark
}

// settles counts how often a run has settled, up to a number, and says at which event it did so
// last.
func settles(h *history.History, most int) (n, last int) {
	last = -1
	for i := range h.Events {
		if h.Events[i].Kind == history.Settled && n != most {
			n, last = n+1, i
		}
	}
	return n, last
}

// bothSettled returns how often a run has settled, and the last events of that in it and in another
// run. ok is false if it is not quiescent, or if the other run did not settle as often.
func bothSettled(h, other *history.History) (n, until, untilThere int, ok bool) {
	n, until = settles(h, -1)
	if until < h.Len()-1 || other == h {
		return 0, 0, 0, false
	}
	again, untilThere := settles(other, n)
	return n, until, untilThere, again == n
}

// effects are the named effects until an event. UIDs and generated names in their keys, which
// differ between any two runs, are those of objects.
func effects(h *history.History, until int) map[string]bool {
	named := slices.DeleteFunc(slices.Clone(h.Effects("")), func(e history.Effect) bool {
		return e.Event > until || e.Unnamed()
	})
	if len(named) == 0 {
		return nil
	}
	var drawn []string
	for i := range h.Events {
		for _, c := range h.Events[i].Changes {
			if c.Type != "ADDED" {
				continue
			}
			o := nameless(history.Object{Ref: c.Ref, JSON: c.Object})
			if drawn = append(drawn, c.UID, "of "+o); !strings.HasSuffix(o, "/"+c.Ref.Name) {
				drawn = append(drawn, c.Ref.Name, "of "+o)
			}
		}
	}
	known := strings.NewReplacer(drawn...)
	out := map[string]bool{}
	for _, e := range named {
		out[known.Replace(e.Kind+" "+e.Key)] = true
	}
	return out
}
