// Package fence judges whether of two processes that both believe that they are the leader only one goes on with what was
// begun, by the release records that they write.
package fence

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/wavetank/wavetank/history"
)

// UntilKey is where a record says until when whoever has written it goes on: [github.com/wavetank/wavetank/controllers/internal/release.UntilKey],
// in the words of whoever reads the cluster from outside.
const UntilKey = "wavetank.example/until"

// midnight is when runs begin: the start of every bubble of testing/synctest.
var midnight = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Judge reads the events of one run in their order: hand-outs and their ends by [Judge.Event], records by [Judge.Record], what is made of
// them by [Judge.Object].
type Judge struct {
	busy    map[string]map[string]bool // by process: the reconciles that it has in hand
	lost    map[string]string          // by process and reconcile: who has touched its pending record
	records map[string]record
	broken  error
}

// record is what has been written last to one record.
type record struct {
	pending            bool
	process, reconcile string
	until              history.Time
}

// New is a judge of one run.
func New() *Judge {
	return &Judge{busy: map[string]map[string]bool{}, lost: map[string]string{}, records: map[string]record{}}
}

// Broken is the first thing that went wrong; nil if nothing has.
func (j *Judge) Broken() error { return j.broken }

// Event takes in who has something in hand.
func (j *Judge) Event(e *history.Event) {
	switch e.Kind {
	case history.Handout:
		if j.busy[e.Actor()] == nil {
			j.busy[e.Actor()] = map[string]bool{}
		}
		j.busy[e.Actor()][e.Reconcile] = true
	case history.Done:
		delete(j.busy[e.Actor()], e.Reconcile)
	case history.Crash, history.Stop:
		delete(j.busy, e.Actor())
	}
}

// Record takes in a change of a Secret of a record, which has a name. Head is the Secret that has the labels and annotations of the
// record; nil if this is another one.
func (j *Judge) Record(e *history.Event, c *history.Change, name string, head *corev1.Secret) {
	was, known := j.records[name]
	if known && e.Reconcile != "" {
		j.Object(e, c)
		if was.pending && was.process != e.Actor() && j.busy[was.process][was.reconcile] {
			j.lost[was.process+" "+was.reconcile] = fmt.Sprintf("%s, who at %s touched %s, which was pending", e.Actor(), history.Clock(e.At), c.Ref)
			if was.until == 0 || e.At <= was.until { // after that he has said that he writes nothing; if he does, he is seen to
				j.breaks("at %s %s touches %s, which is pending, and %s is still at it", history.Clock(e.At), e.Actor(), c.Ref, was.process)
			}
		}
	}
	if head == nil {
		return
	}
	if c.Type == "DELETED" {
		delete(j.records, name)
		return
	}
	r := record{pending: strings.HasPrefix(head.Labels["status"], "pending-"), process: e.Actor(), reconcile: e.Reconcile}
	if until, err := time.Parse(time.RFC3339Nano, head.Annotations[UntilKey]); err == nil {
		r.until = until.Sub(midnight)
	}
	j.records[name] = r
}

// Object takes in that somebody has written something: nobody goes on with what he has lost.
func (j *Judge) Object(e *history.Event, c *history.Change) {
	if by := j.lost[e.Actor()+" "+e.Reconcile]; by != "" {
		j.breaks("at %s %s writes %s, and so does %s", history.Clock(e.At), e.Actor(), c.Ref, by)
	}
}

// breaks keeps the first fault.
func (j *Judge) breaks(format string, args ...any) {
	if j.broken == nil {
		j.broken = fmt.Errorf(format, args...)
	}
}
