package wire

import (
	"errors"
	"iter"
	"slices"
)

// step is one step of a built-in controller. It may have to wait for webhooks.
type step struct {
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
}

// builtinSteps are the steps of built-in controllers that are under way.
type builtinSteps struct {
	all     []*step
	running *step
}

// errEnding unwinds a step whose run is over.
var errEnding = errors.New("wavetank: the run is over")

// begin runs a step until it ends or waits for webhooks.
func (b *builtinSteps) begin(f, ended func()) {
	s := &step{}
	s.next, s.stop = iter.Pull(func(yield func(struct{}) bool) {
		s.yield = yield
		if s.perform(f) {
			b.drop(s)
			ended()
		}
	})
	b.all = append(b.all, s)
	b.run(s)
}

// perform runs the step on a stack of its own and reports whether it came to its end.
func (s *step) perform(f func()) (ended bool) {
	defer func() {
		if r := recover(); r != nil && r != errEnding { //nolint:errorlint // what panicked, never wrapped
			panic(r)
		}
	}()
	f()
	return true
}

func (b *builtinSteps) run(s *step) {
	before := b.running
	b.running = s
	s.next()
	b.running = before
}

func (b *builtinSteps) drop(s *step) {
	if i := slices.Index(b.all, s); i >= 0 {
		b.all = slices.Delete(b.all, i, i+1)
	}
}

// stop ends all steps.
func (b *builtinSteps) stop() {
	for _, s := range b.all {
		s.stop()
	}
	*b = builtinSteps{}
}
