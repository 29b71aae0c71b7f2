package world

import (
	"slices"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/run"
	shipped "github.com/wavetank/wavetank/sim/property"
	"github.com/wavetank/wavetank/sim/result"
)

// property is a named condition on the history of a run.
type property struct {
	kind     result.Kind
	sentence string
	site     string // file:line of the declaration
	holds    func(*history.History) error
	happened func(*history.History) bool
	reached  bool // a sometimes: it was true once
	judged   bool
	ends     bool // a run cannot continue after its violation
	passed   bool // it was violated, and the run continues
}

// judge judges the properties of a run.
type judge struct {
	declared []*property
	defaults []*property   // the default properties, as far as they are on
	without  []string      // the names of default properties that are off
	judging  bool          // a property is being called
	current  *property     // the property that is being called, or that panicked
	read     []history.Ref // what the property looked at that does not hold
	passes   bool          // a run continues after a violation
	ignored  []string      // properties that are not judged
	passed   []*result.Ending
}

// all are the default properties and the declared ones.
func (j *judge) all() []*property { return slices.Concat(j.defaults, j.declared) }

// judge calls the properties of a kind. It returns a verdict for the first that does not hold and
// ends the run.
func (j *judge) judge(k result.Kind, h *history.History) *result.Ending {
	j.judging = true
	defer func() { j.judging = false }()
	for _, properties := range [][]*property{j.declared, j.defaults} {
		for _, p := range properties {
			if p.kind != k {
				continue
			}
			j.current, p.judged = p, true
			if p.passed || slices.Contains(j.ignored, p.sentence) {
				continue
			}
			if k == result.Sometimes {
				p.reached = p.reached || p.happened(h)
				continue
			}
			if read, err := h.Reads(func() error { return p.holds(h) }); err != nil {
				broken := &result.Ending{Kind: k, Property: p.sentence, Site: p.site, Message: err.Error(),
					About: history.Subjects(err)}
				if j.passes && !p.ends {
					p.passed, j.passed = true, append(j.passed, broken)
					continue
				}
				j.read = read
				return broken
			}
		}
	}
	j.current = nil
	return nil
}

// readBefore calls every Eventually before the history forgets, so that each has read all events.
// What they say does not count.
func (j *judge) readBefore(h *history.History) {
	for _, p := range j.all() {
		if p.kind == result.Eventually {
			j.judging, j.current = true, p
			_ = p.holds(h)
		}
	}
	j.judging, j.current = false, nil
}

// unjudged is the first Eventually that was never judged, so nothing could break it; nil for none.
func (j *judge) unjudged() *property {
	for _, p := range j.declared {
		if p.kind == result.Eventually && !p.judged {
			return p
		}
	}
	return nil
}

// probes says which Sometimes were true.
func (j *judge) probes() (out []result.Probe) {
	for _, p := range j.declared {
		if p.kind == result.Sometimes {
			probe := result.Probe{Sentence: p.sentence, Site: p.site}
			if p.reached {
				probe.Reached = 1
			}
			out = append(out, probe)
		}
	}
	return out
}

// properties are the declarations of all properties.
func (j *judge) properties() (out []run.Property) {
	for _, p := range j.all() {
		out = append(out, run.Property{Kind: p.kind, Sentence: p.sentence, Site: p.site})
	}
	return out
}

// worldSettles is the sentence of the default property that [World.Settle] judges by itself.
const worldSettles = "the world settles"

// defaultProperties are those that every run is judged by, see [World.Without]. testFailed reports
// whether the run has failed the test itself, and missing whether a process lacks a right.
func defaultProperties(testFailed func() bool, missing func(*history.History) error) []*property {
	of := func(k result.Kind, sentence string, holds func(*history.History) error) *property {
		return &property{kind: k, sentence: sentence, site: "a default property", holds: holds}
	}
	hotLoop := of(result.Always, shipped.DefaultNoHotLoop, shipped.NoHotLoop(100, 10*time.Second))
	hotLoop.ends = true // it would continue until the steps are used up
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
