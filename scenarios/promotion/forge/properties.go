// This file exists for what ought to be true of the forge's books, as properties that a scenario
// can name in a sentence.

package forge

import (
	"fmt"

	"github.com/wavetank/wavetank/history"
)

// OncePerRevision says that each promotion takes effect at most once: {pipeline uid, environment,
// revision}, and the episode where the controller counts them. It must hold whatever happens.
func (f *Forge) OncePerRevision(h *history.History) error {
	return f.once(h, Effect, "took effect twice")
}

// AttemptedOncePerRevision says that each promotion is ordered at most once. No controller can
// promise it across a crash or a lost reply, so it is to be judged where neither may strike.
func (f *Forge) AttemptedOncePerRevision(h *history.History) error {
	return f.once(h, Attempt, "was attempted twice")
}

// once finds the first repetition in the ledger.
func (f *Forge) once(h *history.History, kind, what string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := map[string]int{}
	for _, e := range h.Effects(kind) {
		o, mine := f.known[e.Key]
		if !mine {
			continue
		}
		if i, again := first[e.Key]; again {
			return fmt.Errorf("the %s %s: entries %d and %d of the ledger", o, what, i, e.Index)
		}
		first[e.Key] = e.Index
	}
	return nil
}
