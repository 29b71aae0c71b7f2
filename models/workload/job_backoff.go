package workload

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Between attempts after failures a Job waits 10 s, doubling up to 10 min
// (pkg/controller/job/backoff_utils.go).
const firstJobWait, lastJobWait = 10 * time.Second, 10 * time.Minute

// streak is how often a Job has failed since it last succeeded, and when last. It outlives the
// pods, and is forgotten with the process, as upstream.
type streak struct {
	failures int
	last     time.Time
}

// remember takes newly counted pods into the streak (backoff_utils.go, newBackoffRecord).
func (w *work) remember() {
	now := w.streaks[w.job.UID]
	var success time.Time
	for i := range w.succeeded {
		if p := &w.succeeded[i]; tracked(p) {
			now = streak{}
			success = later(success, endedAt(p))
		}
	}
	for i := range w.failed {
		if p := &w.failed[i]; tracked(p) && endedAt(p).After(success) {
			now.failures++
			now.last = later(now.last, endedAt(p))
		}
	}
	w.streaks[w.job.UID] = now
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// backOff is how long the Job must still wait after its last failures in a row.
func (w *work) backOff() time.Duration {
	now := w.streaks[w.job.UID]
	if now.failures == 0 {
		return 0
	}
	return max(now.last.Add(min(firstJobWait<<min(now.failures-1, 10), lastJobWait)).Sub(w.Clock()), 0)
}

// endedAt is when a pod ended: its containers, its readiness, or when it was deleted
// (getFinishedTime).
func endedAt(p *corev1.Pod) time.Time {
	var at time.Time
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Terminated == nil {
			at = time.Time{}
			break
		}
		at = later(at, c.State.Terminated.FinishedAt.Time)
	}
	if !at.IsZero() {
		return at
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse && !c.LastTransitionTime.IsZero() {
			return c.LastTransitionTime.Time
		}
	}
	if p.DeletionTimestamp == nil {
		return p.CreationTimestamp.Time
	}
	at = p.DeletionTimestamp.Time
	if grace := p.DeletionGracePeriodSeconds; grace != nil {
		at = at.Add(-time.Duration(*grace) * time.Second)
	}
	return at
}
