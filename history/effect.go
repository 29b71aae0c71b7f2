package history

import "context"

// Effect is something that happened outside the cluster and cannot be taken back: a pull request, a
// migration. The record of effects survives crashes.
//
// By default every request to an outside host is an effect of the kind [Requested], if its method
// is neither GET nor HEAD and its status is below 400. A model that calls [AddEffect] while it
// serves the request replaces the default.
type Effect struct {
	Index int  `json:"i"`
	Event int  `json:"event"` // Index of the request during which it happened
	At    Time `json:"at"`
	// Kind is chosen by the model, for example "attempt" or "effect". The default is [Requested].
	Kind string `json:"kind"`
	// Key identifies what must happen at most once. A default effect has none.
	Key string `json:"key"`
	// Detail describes what happened, for people, as in "opens pull request 1". Messages name the
	// effect by it.
	Detail string `json:"detail,omitempty"`
	// Process, Incarnation and Reconcile are those of the request that caused the effect.
	Process     string    `json:"process,omitempty"`
	Incarnation int       `json:"incarnation,omitempty"`
	Reconcile   Reconcile `json:"reconcile,omitzero"`
}

// Requested is the kind of an effect that no model has named.
const Requested = "request"

// Unnamed reports whether no model has described the effect. Nothing is known about what must
// happen at most once then, so no property is violated by such an effect.
func (e Effect) Unnamed() bool { return e.Kind == Requested && e.Key == "" }

type ledgerKey struct{}

// WithLedger returns a context in which [AddEffect] calls record. The harness uses it for every
// request to the outside.
func WithLedger(ctx context.Context, record func(Effect)) context.Context {
	return context.WithValue(ctx, ledgerKey{}, record)
}

// AddEffect records an effect in the history of the run that the context belongs to, with the kind
// and the key that properties use. A model of the outside world calls it with the context of the
// request. In a context without a run, as in a unit test of the model, it does nothing.
func AddEffect(ctx context.Context, e Effect) {
	if record, ok := ctx.Value(ledgerKey{}).(func(Effect)); ok {
		record(e)
	}
}

// Record appends an effect.
func (h *History) Record(e Effect) {
	e.Index = len(h.effects)
	e.At = h.now
	h.effects = append(h.effects, e)
}

// Effects are the effects of one kind, in order. An empty kind means all.
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
