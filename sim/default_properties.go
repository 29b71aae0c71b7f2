package sim

import (
	"slices"
	"time"

	"github.com/wavetank/wavetank/history"
	shipped "github.com/wavetank/wavetank/sim/property"
)

// settles is the default property that [World.Settle] judges by itself, and worldSettles its
// sentence.
const settles, worldSettles = "settles", "the world settles"

// defaultProperties are those that every run is judged by, see [World.Without].
func defaultProperties() []*property {
	of := func(k kind, sentence string, holds func(*history.History) error) *property {
		return &property{kind: k, sentence: sentence, site: "the default pack", holds: holds}
	}
	return []*property{
		of(always, "no panic", shipped.NoPanic()),
		of(always, "cache untouched", shipped.CacheUntouched()),
		of(always, "no hot loop", shipped.NoHotLoop(100, 10*time.Second)),
		of(eventually, "no stuck finalizer", shipped.NoStuckFinalizer(0)),
		of(always, "apply is stable", shipped.ApplyIsStable()),
	}
}

// Without switches default properties off for this run, by their names. These are the properties
// that every run is judged by without a line in the scenario:
//
//   - "settles": the world settles within the bound of [World.Settle]. Without it Settle gives up
//     waiting at that bound and judges what it finds, as for an operator that writes on a period by
//     design.
//   - "no hot loop": no key is dequeued more than 100 times within 10 s without a reason.
//   - "no panic": no reconcile panics.
//   - "no stuck finalizer": when the world has settled, no object is kept from its deletion by
//     finalizers.
//   - "cache untouched": nobody changes an object of an informer's cache in place.
//   - "apply is stable": applying the same objects again changes nothing. It is judged by
//     [World.ApplyAgain] alone.
//
// Package property says exactly what each means.
func (w *World) Without(names ...string) {
	w.panicIfOver()
	known := []string{settles}
	for _, p := range defaultProperties() {
		known = append(known, p.sentence)
	}
	for _, name := range names {
		if name == worldSettles {
			name = settles
		}
		if !slices.Contains(known, name) {
			w.misuse("w.Without(%q): there is no default property of that name, only %q", name, known)
		}
		w.judge.without = append(w.judge.without, name)
		w.judge.defaults = slices.DeleteFunc(w.judge.defaults, func(p *property) bool { return p.sentence == name })
	}
}
