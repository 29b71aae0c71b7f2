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
// its object is gone, it had nothing to do. Reconciles of objects that have no part in the chain do
// not count.
func (u *unseen) unneeded(d int) int {
	last, related := -1, u.related()
	if d >= 0 {
		related[objectOf(u.h.Events[d].Reconcile.Key)] = true
	}
	for i := d + 1; i < u.violation; i++ {
		switch e := &u.h.Events[i]; {
		case d >= 0 && e.Process != u.h.Events[d].Process:
		case e.Kind == history.Dequeue && d >= 0 && len(u.named) > 0 && !related[objectOf(e.Reconcile.Key)]:
		case e.Kind == history.Dequeue:
			last = i
		case last >= 0 && u.dequeued[i] == last && u.changes(i):
			last = -1
		}
	}
	if last >= 0 && u.gone(u.h.Events[last].Reconcile.Key) {
		return -1
	}
	return last
}

// objectOf is the namespace and name of a key.
func objectOf(key history.Key) history.Key {
	return history.Key{Namespace: key.Namespace, Name: key.Name}
}

// related are the names of the objects that the sentence of the violation names, that the chain
// changes, or whose reconciles are on the chain.
func (u *unseen) related() map[history.Key]bool {
	out := map[history.Key]bool{}
	add := func(ref history.Ref) { out[history.Key{Namespace: ref.Namespace, Name: ref.Name}] = true }
	for _, ref := range u.named {
		add(ref)
	}
	for i := range u.met {
		e := &u.h.Events[i]
		add(e.Ref)
		for _, c := range e.Changes {
			add(c.Ref)
		}
		if !e.Reconcile.None() {
			out[objectOf(e.Reconcile.Key)] = true
		}
	}
	return out
}

// idle are the events of reconciles that ended, changed nothing and in which nothing failed, if no
// event of them is on the chain and their object is not related to it.
func (u *unseen) idle() map[int]bool {
	related, busy, ended := u.related(), map[int]bool{}, map[int]bool{}
	for i, start := range u.dequeued {
		e := &u.h.Events[i]
		ended[start] = ended[start] || e.Kind == history.Done
		busy[start] = busy[start] || u.on(i) || u.changes(i) || e.Kind == history.Fault || failed(e) ||
			e.Kind == history.Done && e.Outcome.Failed() || related[objectOf(e.Reconcile.Key)]
	}
	out := map[int]bool{}
	for i, start := range u.dequeued {
		if ended[start] && !busy[start] {
			out[i] = true
		}
	}
	return out
}

// gone reports whether the last write to an object of a key's name deleted it.
func (f *finder) gone(key history.Key) bool {
	for ref := range f.writes {
		writes := f.writesBefore(ref, f.violation)
		if ref.Namespace == key.Namespace && ref.Name == key.Name && len(writes) > 0 &&
			removes(&f.h.Events[writes[len(writes)-1]], ref) {
			return true
		}
	}
	return false
}

// unchanged names the last of the requests in reconciles that changed nothing.
func (n *narrator) unchanged(add func(string, ...any)) {
	latestOf(n.unchanging(), n.violation, func(i int) {
		if !n.steps[i] {
			add("Reconciles of %s changed nothing; their last request was %s.", n.h.Events[i].Reconcile.Key, n.step(i))
		}
	})
}
