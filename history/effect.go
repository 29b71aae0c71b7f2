package history

import "context"

// Effect is something that left the cluster: a pull request, a migration. The ledger of effects
// survives crashes.
//
// Every request to an outside host is one by default, as kind [Requested], if its method is neither
// GET nor HEAD and its answer is below 400. A model that calls [AddEffect] while it serves the
// request says what it was; what it says stands in place of the default.
type Effect struct {
	Index int  `json:"i"`
	Event int  `json:"event"` // Index of the request during which it happened
	At    Time `json:"at"`
	// Kind is chosen by the model that records it, for example "attempt" or "effect"; [Requested]
	// if it says nothing.
	Kind string `json:"kind"`
	// Key identifies what must happen at most once. An effect by default has none.
	Key string `json:"key"`
	// Detail is for people.
	Detail string `json:"detail,omitempty"`
	// Process, Life and Reconcile are filled in from the request that caused the effect.
	Process   string `json:"process,omitempty"`
	Life      int    `json:"life,omitempty"`
	Reconcile string `json:"reconcile,omitempty"`
}

// Requested is the kind of an effect that no model has named.
const Requested = "request"

// Unnamed reports whether the harness recorded the effect because of the request alone, so that
// nothing is known of what must happen at most once. No property is broken by such an effect.
func (e Effect) Unnamed() bool { return e.Kind == Requested && e.Key == "" }

type ledgerKey struct{}

// WithLedger returns a context through which [AddEffect] reaches record. The harness calls it around every request to
// the outside.
func WithLedger(ctx context.Context, record func(Effect)) context.Context {
	return context.WithValue(ctx, ledgerKey{}, record)
}

// AddEffect records an effect in the ledger of the run that the context belongs to, and gives it
// the kind and the key that properties go by. A model of the outside world calls it with its
// request's context. Without a ledger (a unit test of the model) it does nothing.
func AddEffect(ctx context.Context, e Effect) {
	if record, ok := ctx.Value(ledgerKey{}).(func(Effect)); ok {
		record(e)
	}
}

// Record appends an effect to the ledger.
func (h *History) Record(e Effect) {
	e.Index = len(h.effects)
	e.At = h.now
	h.effects = append(h.effects, e)
}

// Effects is the ledger, in order. An empty kind means all.
func (h *History) Effects(kind string) []Effect {
	if kind == "" {
		return h.effects
	}
	var out []Effect
	for _, e := range h.effects {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}
