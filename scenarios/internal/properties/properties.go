// Package properties declares the properties of a reference scenario, which a table names.
package properties

import (
	"fmt"
	"iter"
	"slices"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
)

// Properties of every run, which need no declaration.
const (
	WorldSettles = "the world settles"
	NoPanic      = "no panic"
)

// Judge returns what violates a property, or nil.
type Judge = func(*history.History) error

// Broken has the first violation of each property that is judged as the history is read, by name.
type Broken map[string]error

// Breaks records a violation of a property.
func (b Broken) Breaks(name, format string, args ...any) {
	if b[name] == nil {
		b[name] = fmt.Errorf(format, args...)
	}
}

// Set is the properties of one run, by name.
type Set struct {
	// Read takes in what is new in the history. It is called before anything is judged.
	Read func(*history.History)
	// Broken is filled by Read.
	Broken Broken
	// Always must hold after every step, Eventually when the world has settled. A nil judge stands
	// for a property that only Broken reports.
	Always, Eventually map[string]Judge
	// Paused reports whether a property is not judged now. It may be nil.
	Paused func(name string) bool
}

// Declare declares the properties of these names. It panics if there is none of a name.
func (s Set) Declare(w *sim.World, names ...string) {
	for _, name := range names {
		_, always := s.Always[name]
		_, eventually := s.Eventually[name]
		switch {
		case always:
			w.Always(name, s.Judge(name))
		case eventually:
			w.Eventually(name, s.Judge(name))
		case !slices.Contains([]string{WorldSettles, NoPanic}, name):
			panic(fmt.Sprintf("there is no property %q", name))
		}
	}
}

// Judge is the judge of the property of a name.
func (s Set) Judge(name string) Judge {
	judge := s.Always[name]
	if judge == nil {
		judge = s.Eventually[name]
	}
	return func(h *history.History) error {
		s.Read(h)
		if s.Paused != nil && s.Paused(name) {
			return nil
		}
		if err := s.Broken[name]; err != nil || judge == nil {
			return err
		}
		return judge(h)
	}
}

// Each judges each object that there is.
func Each[T any](objects func() iter.Seq[T], judge func(T) error) Judge {
	return func(*history.History) error {
		for o := range objects() {
			if err := judge(o); err != nil {
				return err
			}
		}
		return nil
	}
}
