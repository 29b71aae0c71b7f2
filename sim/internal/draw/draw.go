// Package draw takes values from generators of package rapid. The random words that a generator
// reads are choices, so that a value replays and shrinks with the schedule.
package draw

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"testing"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/sim/internal/choice"
)

const (
	maxWords    = 4096 // that a generator may read
	maxAttempts = 1000 // after a generator has rejected its words
)

// Words is how many words there are to choose from.
const Words = 1 << 62

// From takes a value from a generator. choose answers which of [Words] a word is, by its number.
// It is asked for one word at a time, so that what the generator does not use is not a choice. The
// value of the default choices is the generator's simplest, or some fixed one if a filter rejects
// that. A generator that panics is a panic.
func From[T any](label string, g *rapid.Generator[T], choose func(word int) int) (T, error) {
	var none T
	if g == nil {
		return none, fmt.Errorf("sim.Draw(%q) was given no generator", label)
	}
	var words []byte
	for attempt := 0; ; {
		v, end := generate(g, varied(words, attempt))
		switch {
		case end.ok:
			return v, nil
		case end.panicked != "":
			panic(fmt.Sprintf("the generator of sim.Draw(%q) panicked: %s", label, end.panicked))
		case end.failed != nil:
			return none, fmt.Errorf("sim.Draw(%q): the generator failed: %w", label, end.failed)
		case end.rejected: // more words would not be read
			if attempt++; attempt > maxAttempts {
				return none, fmt.Errorf("sim.Draw(%q): the generator rejected all of %d attempts; "+
					"make the values that are wanted instead of filtering others out", label, maxAttempts)
			}
			continue
		case len(words) >= 8*maxWords:
			return none, fmt.Errorf("sim.Draw(%q): the generator wants more than %d random words; draw smaller values",
				label, maxWords)
		}
		word := choose(len(words) / 8)
		words = binary.LittleEndian.AppendUint64(words, uint64(word))
	}
}

// varied is the words of another attempt. A filter rejects the default words, which are all alike,
// however often it is given them, and no choice can be asked for again.
func varied(words []byte, attempt int) []byte {
	if attempt == 0 {
		return words
	}
	out := make([]byte, 0, len(words))
	for i := 0; i < len(words); i += 8 {
		word := binary.LittleEndian.Uint64(words[i:]) ^ choice.Mix(uint64(attempt), i)
		out = binary.LittleEndian.AppendUint64(out, word)
	}
	return out
}

// ending says how a generator ended. The zero value is that it wants more words.
type ending struct {
	ok       bool
	rejected bool  // what it made of the words, with words left
	failed   error // what it gave to Fatalf
	panicked string
}

// generate runs a generator on the words. rapid says that it has not come to a value by skipping
// the test, which ends the goroutine, so it gets a goroutine and a test of its own.
func generate[T any](g *rapid.Generator[T], words []byte) (v T, end ending) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		rapid.MakeFuzz(func(rt *rapid.T) {
			defer func() {
				if r := recover(); r != nil {
					end = endingOf(rt, r)
					panic(r)
				}
			}()
			v = g.Draw(rt, "value")
			end.ok = true
		})(new(testing.T), words)
	}()
	<-done
	return v, end
}

// endingOf tells rapid's own panics, whose types it does not export, from those of the user's code.
func endingOf(rt *rapid.T, r any) ending {
	switch fmt.Sprintf("%T", r) {
	case "rapid.invalidData":
		return ending{rejected: hasWords(rt)}
	case "rapid.stopTest":
		return ending{failed: errors.New(fmt.Sprint(r))}
	}
	return ending{panicked: fmt.Sprintf("%v\n%s", r, debug.Stack())}
}

// hasWords reports whether there are words that have not been read.
func hasWords(rt *rapid.T) (ok bool) {
	defer func() { _ = recover() }()
	rapid.Bool().Draw(rt, "more")
	return true
}
