// This file is about reconciles that changed nothing, and changes after which none began.

package reports

import "github.com/wavetank/wavetank/history"

// asleep names an object of the sentence that others have changed, or that a restart should have
// brought up again, and that the program has not reconciled since. It looks at keys that the
// program does reconcile, and at changes that left time for that.
func (n *narrator) asleep(add func(string, ...any)) {
	end := &n.h.Events[n.violation]
	for _, ref := range n.named {
		actor, last, change, restart := "", -1, -1, -1
		for i := range n.violation {
			switch e := &n.h.Events[i]; {
			case e.Kind == history.Dequeue && e.Reconcile.Namespace == ref.Namespace && e.Reconcile.Name == ref.Name:
				actor, last = e.Process, i
			case e.Process == actor && e.Kind == history.Start:
				restart = i
			case e.Ref == ref && e.Write() && e.Process != actor:
				change = i
			}
		}
		since := max(change, restart)
		if last < 0 || since < last || end.At-n.h.Events[since].At < slow {
			continue
		}
		if restart == since {
			add("%s has not reconciled %s since it started again at %s.", actor, ref,
				history.Moment(n.h.Events[restart].At))
		} else {
			add("%s has not reconciled %s since another writer changed it %s.", actor, ref, n.step(change))
		}
		return
	}
}

// unneeded is the beginning of the last reconcile of the program that sent request d, if it began
// after that and changed nothing; -1 if there is none. If d is -1, it is that of any program. If
// its object is gone, it had nothing to do.
func (x *tracing) unneeded(d int) int {
	last := -1
	for i := d + 1; i < x.violation; i++ {
		switch e := &x.h.Events[i]; {
		case d >= 0 && e.Process != x.h.Events[d].Process:
		case e.Kind == history.Dequeue:
			last = i
		case last >= 0 && x.dequeued[i] == last && x.changes(i):
			last = -1
		}
	}
	if last >= 0 && x.gone(x.h.Events[last].Reconcile.Key) {
		return -1
	}
	return last
}

// gone reports whether the last write to an object of a key's name deleted it.
func (x *tracing) gone(key history.Key) bool {
	for ref := range x.writes {
		writes := x.writesBefore(ref, x.violation)
		if ref.Namespace == key.Namespace && ref.Name == key.Name && len(writes) > 0 &&
			removes(&x.h.Events[writes[len(writes)-1]], ref) {
			return true
		}
	}
	return false
}
