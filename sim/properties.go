package sim

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/wavetank/wavetank/history"
)

// kind is when a property is judged.
type kind string

const (
	always     kind = "always"
	eventually kind = "eventually"
	sometimes  kind = "sometimes"
)

// property is a named condition on the history of a run.
type property struct {
	kind     kind
	sentence string
	site     string // file:line of the declaration
	holds    func(*history.History) error
	happened func(*history.History) bool
	reached  bool // a sometimes: it was true once
	judged   bool
}

// judge judges the properties of a run.
type judge struct {
	declared []*property
	defaults []*property // the default properties, as far as they are on
	without  []string    // the names of default properties that are off
	judging  bool        // a property is being called
	current  *property   // the property that is being called, or that panicked
}

// all are the default properties and the declared ones.
func (j *judge) all() []*property { return slices.Concat(j.defaults, j.declared) }

// judge calls the properties of a kind. It returns a verdict for the first that does not hold.
func (j *judge) judge(k kind, h *history.History) *Verdict {
	j.judging = true
	defer func() { j.judging = false }()
	for _, properties := range [][]*property{j.declared, j.defaults} {
		for _, p := range properties {
			if p.kind != k {
				continue
			}
			j.current, p.judged = p, true
			if k == sometimes {
				p.reached = p.reached || p.happened(h)
			} else if err := p.holds(h); err != nil {
				return &Verdict{Temper: string(k), Property: p.sentence, Site: p.site, Message: err.Error()}
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
		if p.kind == eventually {
			j.judging, j.current = true, p
			_ = p.holds(h)
		}
	}
	j.judging, j.current = false, nil
}

// unjudged is the first Eventually that was never judged, so nothing could break it; nil for none.
func (j *judge) unjudged() *property {
	for _, p := range j.declared {
		if p.kind == eventually && !p.judged {
			return p
		}
	}
	return nil
}

// probes says which Sometimes were true.
func (j *judge) probes() (out []Probe) {
	for _, p := range j.declared {
		if p.kind == sometimes {
			probe := Probe{Sentence: p.sentence, Site: p.site}
			if p.reached {
				probe.Reached = 1
			}
			out = append(out, probe)
		}
	}
	return out
}

// Always declares that holds must return nil after every step. The sentence is the property's name.
func (w *World) Always(sentence string, holds func(*history.History) error) {
	w.declare(&property{kind: always, sentence: sentence, holds: holds})
}

// Eventually declares that holds must return nil whenever the world has settled or, where the
// property "settles" is switched off, Settle gives up waiting. It is judged by [World.Settle]
// alone, so a scenario that never settles afterwards is refused: it could not fail.
func (w *World) Eventually(sentence string, holds func(*history.History) error) {
	w.declare(&property{kind: eventually, sentence: sentence, holds: holds})
}

// Sometimes declares that happened must be true at least once in a campaign, when a world has
// settled or a run ends. A campaign in which it never was fails: the scenario did not explore what
// it says it does.
func (w *World) Sometimes(sentence string, happened func(*history.History) bool) {
	w.declare(&property{kind: sometimes, sentence: sentence, happened: happened})
}

// declare adds a property of the scenario's. Its site is the caller of Always, Eventually or
// Sometimes.
func (w *World) declare(p *property) {
	w.panicIfOver()
	_, file, line, _ := runtime.Caller(2)
	p.site = fmt.Sprintf("%s:%d", filepath.Base(file), line)
	if p.holds == nil && p.happened == nil {
		w.misuse("the property %q was given no function", p.sentence)
	}
	for _, other := range w.judge.declared {
		if other.sentence == p.sentence {
			w.misuse("the property %q is declared twice, at %s and %s; a sentence names one property",
				p.sentence, other.site, p.site)
		}
	}
	w.judge.declared = append(w.judge.declared, p)
}

// judgeAll judges the properties of a kind and ends the run at the first that does not hold.
func (w *World) judgeAll(k kind) {
	if v := w.judge.judge(k, w.history); v != nil {
		w.fail(v)
	}
}

// refuseUnjudged ends the run if the scenario declares an Eventually and never settles after it.
func (w *World) refuseUnjudged() {
	if p := w.judge.unjudged(); p != nil {
		w.misuse("w.Eventually(%q) was never judged, because the scenario did not settle after it: call w.Settle, "+
			"or say with w.Always by when it must hold", p.sentence)
	}
}
