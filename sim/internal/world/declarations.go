package world

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	shipped "github.com/wavetank/wavetank/sim/property"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/result"
)

// declarations are how a scenario declares properties, and switches default ones off.
type declarations struct{ *core }

// Always declares a property that must hold after every step.
func (d *declarations) Always(sentence string, holds func(*history.History) error) {
	d.declare(&property{kind: result.Always, sentence: sentence, holds: holds})
}

// Eventually declares a property that must hold whenever the world has settled.
func (d *declarations) Eventually(sentence string, holds func(*history.History) error) {
	d.declare(&property{kind: result.Eventually, sentence: sentence, holds: holds})
}

// Sometimes declares a property that must be true in one run of a campaign.
func (d *declarations) Sometimes(sentence string, happened func(*history.History) bool) {
	d.declare(&property{kind: result.Sometimes, sentence: sentence, happened: happened})
}

// declare adds a property of the scenario's. Its site is the caller of sim.World.Always and the
// like: two callers above the method of this package.
func (d *declarations) declare(p *property) {
	_, file, line, _ := runtime.Caller(3)
	p.site = fmt.Sprintf("%s:%d", filepath.Base(file), line)
	d.declareAt(p)
}

// declareAt adds a property whose site is known.
func (d *declarations) declareAt(p *property) {
	d.panicIfOver()
	if p.holds == nil && p.happened == nil {
		d.misuse("the property %q was given no function", p.sentence)
	}
	for _, other := range d.judge.declared {
		if other.sentence == p.sentence {
			d.misuse("the property %q is declared twice, at %s and %s; a sentence names one property",
				p.sentence, other.site, p.site)
		}
	}
	d.judge.declared = append(d.judge.declared, p)
}

// refuseUnjudged ends the run if the scenario declares an Eventually and never settles after it.
func (d *declarations) refuseUnjudged() {
	if p := d.judge.unjudged(); p != nil {
		d.misuse("w.Eventually(%q) was never judged, because the scenario did not settle after it: call w.Settle, "+
			"or say with w.Always by when it must hold", p.sentence)
	}
}

// Without switches default properties off for this run, by their names.
func (d *declarations) Without(names ...string) {
	d.panicIfOver()
	known := []string{shipped.DefaultSettles}
	for _, p := range defaultProperties(nil, nil) {
		known = append(known, p.sentence)
	}
	for _, name := range names {
		if name == worldSettles {
			name = shipped.DefaultSettles
		}
		if !slices.Contains(known, name) {
			d.misuse("w.Without(%q): there is no default property of that name, only %q", name, known)
		}
		d.judge.without = append(d.judge.without, name)
		d.judge.defaults = slices.DeleteFunc(d.judge.defaults, func(p *property) bool { return p.sentence == name })
	}
}

// Declare adds a property whose place is not a line of the scenario.
func (d *declarations) Declare(k result.Kind, sentence, site string, holds func(*history.History) error) {
	d.declareAt(&property{kind: k, sentence: sentence, site: site, holds: holds})
}
