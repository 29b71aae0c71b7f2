// Package campaign makes all runs of one scenario that a command asks for: it searches for
// failures, shrinks, keeps and replays them, and reports what it found. It knows a run by its
// [run.Runner] alone.
package campaign

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// campaign is all runs of one scenario that are made by one command.
type campaign struct {
	t            *testing.T
	runner       run.Runner
	settings     Settings
	report       result.Report
	tally        tally
	progress     *progress
	shrunk       map[string]int // failing runs that were shrunk, by property
	shrinking    string         // how far the failure at hand has shrunk
	repeated     map[string]int // doubled runs that differed and were repeated, by cause
	saved        time.Time
	before       time.Duration // real time that earlier processes spent on the campaign
	cpu          time.Duration // of the process, when the campaign began in it
	doing        atomic.Pointer[activity]
	dialled      string            // found by the repetition of a run that hangs: a connection to the real network
	exact        bool              // the test binary was built for exact mode
	outdated     []*result.Failure // what outdated stories came to; their failure waits for the search
	keep         func(next int)    // writes the result, from run next on still to be made; nil before the first run
	interruption interruption
	written      map[string]string // files of stories that this process has written, by cause
	brokenRuns   int               // runs that have failed
	pace         story.Result      // how the campaign went on: its Growth and Slowest
}

func newCampaign(t *testing.T, r run.Runner, s Settings, name string) *campaign {
	c := &campaign{t: t, settings: s, report: result.Report{Name: name}, exact: hasOverlay(t),
		progress: &progress{}, shrunk: map[string]int{}, written: map[string]string{}, repeated: map[string]int{},
		interruption: interruption{written: make(chan struct{})}}
	c.runner = c.tally.noting(r)
	return c
}

// execute makes one run.
func (c *campaign) execute(o choice.Source) *run.Result { return c.runner(c.t, o, c.settings.Run) }
