// This file exists for what must have happened at least once in a campaign, or the campaign proves
// nothing.

package promotion

import (
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/forge"
)

// CrashedMidPromotion: the process died after it had ordered a promotion and before the same pass
// wrote anything more.
func (b *Record) CrashedMidPromotion(h *history.History) bool {
	for _, attempt := range h.Effects(forge.Attempt) {
		for i := attempt.Event + 1; i < len(h.Events); i++ {
			e := &h.Events[i]
			if e.Process != attempt.Process || e.Incarnation != attempt.Incarnation {
				continue
			}
			if e.Kind == history.Crash {
				return true
			}
			if e.Reconcile == attempt.Reconcile && (e.Write() || e.Kind == history.Done) {
				break
			}
		}
	}
	return false
}

// OrderedOnStaleCache: a pass that ordered a promotion began with a cache that trailed the server.
func (b *Record) OrderedOnStaleCache(h *history.History) bool {
	for _, attempt := range h.Effects(forge.Attempt) {
		for i := attempt.Event - 1; i >= 0; i-- {
			e := &h.Events[i]
			if e.Kind == history.Dequeue && e.Process == attempt.Process && e.Incarnation == attempt.Incarnation &&
				e.Reconcile == attempt.Reconcile {
				if len(e.Seen) > 0 {
					return true
				}
				break
			}
		}
	}
	return false
}

// LostReplyToOrder: the forge accepted an order, and whoever had sent it was never told.
func (b *Record) LostReplyToOrder(h *history.History) bool {
	orders := map[int]bool{}
	for _, attempt := range h.Effects(forge.Attempt) {
		orders[attempt.Event] = true
	}
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Reply && e.Note != "" && orders[e.Call] {
			return true
		}
	}
	return false
}

// AttemptedTwice: the forge accepted two orders for one promotion.
func (b *Record) AttemptedTwice(h *history.History) bool {
	return b.git.AttemptedOncePerRevision(h) != nil
}
