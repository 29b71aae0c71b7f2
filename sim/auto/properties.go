package auto

import (
	"slices"

	"github.com/wavetank/wavetank/history"
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
)

// Properties are the names of the properties that [Scenario] declares besides the default
// properties.
func Properties() []string {
	return []string{SameEndState, NoWritesAtRest, NothingOwned, StatusIsTrue, UpToDate}
}

// site stands in messages where a property of a scenario's own has its line.
const site = "auto.Scenario"

// declare declares the properties that are on.
func (u *users) declare(calm *history.History) {
	var defaults []string
	for _, name := range u.without {
		if !slices.Contains(Properties(), name) {
			defaults = append(defaults, name)
		}
	}
	u.world.Without(defaults...)
	on := func(k result.Kind, name string, holds func(*history.History) error) {
		if !slices.Contains(u.without, name) {
			u.world.Declare(k, name, site, holds)
		}
	}
	on(result.Always, NoWritesAtRest, property.IdempotentAtRest())
	on(result.Eventually, NothingOwned, property.NoOrphans(0))
	on(result.Eventually, UpToDate, property.ObservedGeneration())
	on(result.Eventually, StatusIsTrue, property.StatusNamesWhatExists())
	if !u.drawn.hurried {
		on(result.Eventually, SameEndState, u.alike(calm, property.CrashSafe(calm)))
	}
}

// alike judges only while users have done the same in both runs. Where an action had another outcome,
// as when an object was not gone in time, two end states may both be right.
func (u *users) alike(calm *history.History, same func(*history.History) error) func(*history.History) error {
	return func(h *history.History) error {
		err := same(h)
		here, there := h.Draws(), calm.Draws()
		if len(here) > len(there) {
			return nil
		}
		for i, d := range here {
			if d.Label != there[i].Label || d.Value != there[i].Value {
				return nil
			}
		}
		return err
	}
}
