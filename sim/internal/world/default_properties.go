package world

import (
	"time"

	"github.com/wavetank/wavetank/history"
	shipped "github.com/wavetank/wavetank/sim/property"
	"github.com/wavetank/wavetank/sim/result"
)

// worldSettles is the sentence of the default property that [World.Settle] judges by itself.
const worldSettles = "the world settles"

// defaultProperties are those that every run is judged by, see [World.Without]. testFailed reports
// whether the run has failed the test itself, and missing whether a process lacks a right.
func defaultProperties(testFailed func() bool, missing func(*history.History) error) []*property {
	of := func(k result.Kind, sentence string, holds func(*history.History) error) *property {
		return &property{kind: k, sentence: sentence, site: "a default property", holds: holds}
	}
	hotLoop := of(result.Always, shipped.DefaultNoHotLoop, shipped.NoHotLoop(100, 10*time.Second))
	hotLoop.ends = true // it would go on until the steps are used up
	return []*property{
		of(result.Always, shipped.DefaultNoPanic, unless(testFailed, shipped.NoPanic())),
		of(result.Always, shipped.DefaultCacheUntouched, shipped.CacheUntouched()),
		hotLoop,
		of(result.Eventually, shipped.DefaultNoStuckFinalizer, shipped.NoStuckFinalizer(0)),
		of(result.Always, shipped.DefaultNoMissingPermission, missing),
		of(result.Always, shipped.DefaultApplyIsStable, shipped.ApplyIsStable()),
	}
}

// unless is a property that is not violated when the test was failed by the run: t.FailNow ends its
// goroutine, and the result says so when the run is over.
func unless(testFailed func() bool, holds func(*history.History) error) func(*history.History) error {
	return func(h *history.History) error {
		err := holds(h)
		if err != nil && testFailed() {
			return nil
		}
		return err
	}
}
