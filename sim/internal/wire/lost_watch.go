package wire

import (
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/sim/internal/sched"
)

// LostWatch is a watch that a living process had or asked for, and does not have. If it is a
// reflector's, the reflector tries again after a back-off, on a timer that the harness does not
// see.
type LostWatch struct {
	Call  *Call         // that failed, or whose stream the server ended
	Since time.Duration // virtual time of it
	Tried int           // index of the reply that said that the attempt failed; 0 for a stream that ended
}

// maxReflectorBackOff is client-go's longest back-off of 30 s, and as much again of jitter
// (tools/cache, defaultBackoffMax and defaultBackoffJitter).
const maxReflectorBackOff = time.Minute

// Until is when a reflector has tried again at the latest. After it the watch is not requested any
// more.
func (l *LostWatch) Until() time.Duration { return l.Since + maxReflectorBackOff }

// mayBeReflector reports whether the call lists or watches outside any reconcile, as a reflector
// does.
func mayBeReflector(c *Call) bool {
	beside := c.Host == "" && c.Reconcile.None() && c.Port.Drive == nil
	return beside && (c.Info.Verb == "watch" || c.Info.Verb == "list")
}

// subjectOf is what the call watches. It is the same when the process asks again.
func subjectOf(c *Call) string {
	u := c.Request.URL
	q := u.Query()
	return strings.Join([]string{c.Port.Name(), c.Cluster, u.Path, q.Get("labelSelector"), q.Get("fieldSelector")}, " ")
}

// lostWatches are those that [lostWatches.pending] returned last, and those since.
type lostWatches struct {
	scheduler *sched.Scheduler
	all       []*LostWatch
}

// replied takes in the reply to a list or watch: the process has a watch again, or its attempt
// failed, of which the event at tried is the reply.
func (l *lostWatches) replied(call *Call, ok bool, tried int) {
	for i, s := range l.all {
		if subjectOf(s.Call) == subjectOf(call) {
			l.all = slices.Delete(l.all, i, i+1)
			break
		}
	}
	if !ok {
		l.add(call, tried)
	}
}

func (l *lostWatches) add(call *Call, tried int) {
	if mayBeReflector(call) {
		l.all = append(l.all, &LostWatch{call, l.scheduler.Now(), tried})
	}
}

// pending are the watches that living processes may be waiting to open again.
func (l *lostWatches) pending() []*LostWatch {
	live := l.all[:0]
	for _, s := range l.all {
		if !s.Call.Port.Dead() && l.scheduler.Now() < s.Until() {
			live = append(live, s)
		}
	}
	l.all = live
	return live
}
