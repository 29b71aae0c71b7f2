package property

import (
	"fmt"

	"github.com/wavetank/wavetank/history"
)

// AtMostOnce holds if no key has had an effect of the kind twice; the kind "" means any. For
// Always. Effects happen outside the cluster, and their record survives crashes: see
// [history.AddEffect]. A request to which no model has given a key does not count.
func AtMostOnce(kind string) Property {
	return perRun(func() judge {
		return judge{now: ledger(kind).read}
	})
}

// ExactlyOnce holds if each of the keys has had one effect of the kind, and no key more than one.
// For Eventually.
func ExactlyOnce(kind string, keys ...string) Property {
	return perRun(func() judge {
		l := ledger(kind)
		return judge{now: func(h *history.History) error {
			if err := l.read(h); err != nil {
				return err
			}
			for _, k := range keys {
				if _, ok := l.first[k]; breaks("ExactlyOnce: an effect that is missing", !ok) {
					return fmt.Errorf("%s of %q has not happened by %s", l.name(), k, history.Clock(h.Now()))
				}
			}
			return nil
		}}
	})
}

// effects is what has been read of the ledger.
type effects struct {
	kind   string
	next   int
	first  map[string]history.Effect
	broken error
}

func ledger(kind string) *effects { return &effects{kind: kind, first: map[string]history.Effect{}} }

func (e *effects) name() string {
	if e.kind == "" {
		return "an effect"
	}
	return "the effect " + e.kind
}

// read takes in what is new and finds keys that come again.
func (e *effects) read(h *history.History) error {
	for all := h.Effects(""); e.broken == nil && e.next < len(all); e.next++ {
		effect := all[e.next]
		if e.kind != "" && e.kind != effect.Kind || effect.Unnamed() {
			continue
		}
		first, again := e.first[effect.Key]
		if breaks("AtMostOnce: an effect that comes again", again) {
			what := fmt.Sprintf("%s of %q", e.name(), effect.Key)
			if effect.Detail != "" {
				what = fmt.Sprintf("%q", effect.Detail)
			}
			e.broken = fmt.Errorf("%s happened at %s by %s/%d and again at %s by %s/%d", what,
				history.Clock(first.At), first.Process, first.Incarnation,
				history.Clock(effect.At), effect.Process, effect.Incarnation)
		}
		e.first[effect.Key] = effect
	}
	return e.broken
}
