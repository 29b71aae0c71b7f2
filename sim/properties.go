package sim

import (
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/result"
)

type property struct {
	kind     result.Kind
	sentence string
	site     string // file:line of the declaration
	holds    func(*history.History) error
	happened func(*history.History) bool
	reached  bool
	asked    bool // an eventually: it has been judged
}

// Always declares that holds must return nil after every step. The sentence is the property's name.
func (w *World) Always(sentence string, holds func(*history.History) error) {
	w.declare(&property{kind: result.Always, sentence: sentence, holds: holds})
}

// Eventually declares that holds must return nil whenever the world has settled or, where the property "settles" is switched
// off, Settle gives up waiting. It is judged by [World.Settle] alone, so a scenario that never settles afterwards is refused: it could not fail.
func (w *World) Eventually(sentence string, holds func(*history.History) error) {
	w.declare(&property{kind: result.Eventually, sentence: sentence, holds: holds})
}

// Sometimes declares that happened must be true at the end of a stretch or run at least once in a campaign. A campaign in which it
// never was fails: the scenario did not explore what it says it does.
func (w *World) Sometimes(sentence string, happened func(*history.History) bool) {
	w.declare(&property{kind: result.Sometimes, sentence: sentence, happened: happened})
}

func (w *World) declare(p *property) {
	w.alive()
	_, file, line, _ := runtime.Caller(2)
	p.site = fmt.Sprintf("%s:%d", filepath.Base(file), line)
	if p.holds == nil && p.happened == nil {
		w.misuse("the property %q was given no function", p.sentence)
	}
	for _, other := range w.properties {
		if other.sentence == p.sentence {
			w.misuse("the property %q is declared twice, at %s and %s; a sentence names one property", p.sentence, other.site, p.site)
		}
	}
	w.properties = append(w.properties, p)
}

// judge checks the properties of one kind and ends the run at the first that does not hold.
func (w *World) judge(k result.Kind) {
	w.judging = true
	defer func() { w.judging = false }()
	w.judgeAll(k, w.properties)
	w.judgeAll(k, w.pack)
	w.judged = nil // after a panic it stays set, and the ending names the property
}

func (w *World) judgeAll(k result.Kind, properties []*property) {
	for _, p := range properties {
		if p.kind != k {
			continue
		}
		w.judged, p.asked = p, true
		if k == result.Sometimes {
			p.reached = p.reached || p.happened(w.history)
			continue
		}
		if err := p.holds(w.history); err != nil {
			w.judging = false
			w.fail(&result.Ending{Kind: k, Property: p.sentence, Site: p.site, Message: err.Error()})
		}
	}
}

// unasked is for properties that nobody could break.
func (w *World) unasked() {
	for _, p := range w.properties {
		if p.kind == result.Eventually && !p.asked {
			w.misuse("w.Eventually(%q) was never judged, because the scenario did not settle after it: call w.Settle, or say with w.Always by when it must hold", p.sentence)
		}
	}
}
