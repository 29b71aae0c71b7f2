package process

import (
	"cmp"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// This file is for runs whose order a script decides and that do not wait: see
// environment.ScriptedTimers. The timers of the real queues are far off. The observer fires them
// when virtual time, which is set, has come to their time.

// farOff is longer than such a run takes.
const farOff = 1000 * time.Hour

// realDelay is the delay that the real queue gets.
func (q *queue) realDelay(d time.Duration) time.Duration {
	if d > 0 && q.waiters.ScriptedTimers {
		return farOff
	}
	return d
}

// fireDue fires the timers that are due, and reports whether there were any.
func (q *queue) fireDue() bool {
	now := q.waiters.Sched.Now()
	return q.fireTimers(func(_ request, t *timer) bool { return t.due <= now })
}

// fireTimers fires some timers, due or not, and reports whether there were any. The world must be
// quiet.
func (q *queue) fireTimers(which func(request, *timer) bool) bool {
	now := q.waiters.Sched.Now()
	var items []request
	q.mu.Lock()
	q.keys.each(func(item request, k *key) bool {
		if k.timer != nil && which(item, k.timer) {
			k.timer.due = min(k.timer.due, now)
			if owed, ok := k.owed[k.timer.what]; ok {
				k.owed[k.timer.what] = min(owed, now)
			}
			k.fire(now)
			items = append(items, item)
		}
		return true
	})
	slices.SortFunc(items, func(a, b request) int { return cmp.Compare(a.String(), b.String()) })
	ranks := make([]int, len(items))
	for i, item := range items {
		ranks[i] = q.keys.of(item).rank
	}
	q.mu.Unlock()
	for i, item := range items {
		if q.priority == nil {
			q.workQueue.Add(item)
		} else {
			q.priority.AddWithOpts(priorityqueue.AddOpts{Priority: &ranks[i]}, item)
		}
	}
	return len(items) > 0
}

// FireTimer fires the pending timer of the first key whose dequeue, in words, is the one wanted. It
// reports whether there is one. The world must be quiet.
func (s *Supervisor) FireTimer(wanted func(words string) bool) bool {
	return slices.ContainsFunc(s.Controllers(), func(c Controller) bool {
		return c.q.fireTimers(func(item request, _ *timer) bool { return wanted(c.q.handOut(item)) })
	})
}
