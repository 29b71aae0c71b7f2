package sim

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime/debug"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
)

// Draw takes a value of the user's from a rapid generator, through the run's own choices, so that
// it replays and shrinks with the schedule. The default value is the generator's simplest, or some
// fixed one if a filter rejects that. The story says what was drawn.
func Draw[T any](w *World, label string, g *rapid.Generator[T]) T {
	w.alive()
	if g == nil {
		w.misuse("sim.Draw(%q) was given no generator", label)
	}
	var words []byte
	for turn := 0; ; {
		v, end := generate(g, turned(words, turn))
		switch {
		case end.ok:
			w.history.Drew(history.Draw{At: w.sched.Now(), Label: label, Value: inWords(v)})
			return v
		case end.panicked != "":
			panic(fmt.Sprintf("the generator of sim.Draw(%q) panicked: %s", label, end.panicked))
		case end.failed != "":
			w.misuse("sim.Draw(%q): the generator failed: %s", label, end.failed)
		case end.rejected: // more words would not be read
			if turn++; turn > maxTurns {
				w.misuse("sim.Draw(%q): the generator rejected all of %d attempts; "+
					"make the values that are wanted instead of filtering others out", label, maxTurns)
			}
			continue
		case len(words) >= 8*maxDraw:
			w.misuse("sim.Draw(%q): the generator wants more than %d random words; draw smaller values", label, maxDraw)
		}
		// One word at a time, so that what the generator does not use is not a choice.
		word := w.choices.Choose(fmt.Sprintf("draw %s/%d", label, len(words)/8), 1<<62)
		words = binary.LittleEndian.AppendUint64(words, uint64(word))
	}
}

const (
	maxDraw  = 4096
	maxTurns = 1000
)

// turned is the words of another attempt. A filter rejects the default words, which are all alike,
// however often it is given them, and no choice can be asked for again.
func turned(words []byte, turn int) []byte {
	if turn == 0 {
		return words
	}
	out := make([]byte, 0, len(words))
	for i := 0; i < len(words); i += 8 {
		word := binary.LittleEndian.Uint64(words[i:]) ^ choice.Mix(uint64(turn), i)
		out = binary.LittleEndian.AppendUint64(out, word)
	}
	return out
}

// ending says how a generator ended. If none of it is set, it wants more words.
type ending struct {
	ok       bool
	rejected bool   // what it made of the words, with words left
	failed   string // what it gave to Fatalf
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
		return ending{rejected: more(rt)}
	case "rapid.stopTest":
		return ending{failed: fmt.Sprint(r)}
	}
	return ending{panicked: fmt.Sprintf("%v\n%s", r, debug.Stack())}
}

// more says whether there are words that have not been read.
func more(rt *rapid.T) (ok bool) {
	defer func() { _ = recover() }()
	rapid.Bool().Draw(rt, "more")
	return true
}

// longestValue is how much of a random value a story shows.
const longestValue = 200

// inWords is a value for people. It must be the same in each run, so pointers are followed and
// never printed.
func inWords(v any) string {
	s, named := v.(fmt.Stringer)
	kind := reflect.ValueOf(v).Kind()
	plain := reflect.Bool <= kind && kind <= reflect.Float64 || kind == reflect.String
	switch {
	case named && plain: // time.Duration and the like
		return short(s.String())
	case kind == reflect.Func, kind == reflect.Chan:
		return fmt.Sprintf("a %T", v)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("a %T", v)
	}
	return short(string(data))
}

func short(s string) string {
	if len(s) <= longestValue {
		return s
	}
	end := longestValue
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
