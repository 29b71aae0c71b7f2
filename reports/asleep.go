// This file is about changes after which no reconcile began.

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
