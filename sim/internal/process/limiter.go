package process

import (
	"time"

	"github.com/wavetank/wavetank/history"
)

// limiter tells the observer which delay the real rate limiter has chosen.
type limiter struct {
	rateLimiter
	q *queue
}

func (l *limiter) When(item request) time.Duration {
	d := l.rateLimiter.When(item)
	if l.q != nil {
		if limit := l.q.waiters.BackOff; limit > 0 {
			d = min(d, limit)
		}
		l.note(item, d)
	}
	return d
}

// note notes a rate-limited add. If it has a delay as well, the shorter one counts
// (priorityqueue.go, lockedAddWithOpts).
func (l *limiter) note(item request, d time.Duration) {
	q := l.q
	q.mu.Lock()
	defer q.mu.Unlock()
	k := q.keys.of(item)
	if len(k.bounds) > 0 {
		if bound := k.bounds[0]; bound != 0 {
			d = min(d, bound)
		}
		k.bounds = k.bounds[1:]
	}
	switch {
	case q.down:
	case d <= 0: // the key is ready at once
		k.ready(cause{at: q.waiters.Sched.Now(), what: history.Cause{Kind: history.CauseRateLimited}})
	default:
		q.waiters.noteWait(d)
		q.keys.after(item, timer{history.CauseBackOff, d, q.waiters.Sched.Now() + d})
	}
}
