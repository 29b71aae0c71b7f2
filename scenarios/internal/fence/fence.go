// Package fence judges two processes that both believe that they lead. Only one of them may
// continue a release that was begun. It reads the release records that they write.
package fence

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/properties"
)

// UntilKey is the annotation in which the writer of a record states until when it writes. It equals
// [github.com/wavetank/wavetank/controllers/internal/release.UntilKey].
const UntilKey = "wavetank.example/until"

// Property is what is judged (S1-S8).
const Property = "of two processes only one goes on with what was begun"

// Judge reads the events of one run in their order: reconciles by [Judge.Event], changes of records
// by [Judge.Record], changes of the objects of a release by [Judge.Object].
type Judge struct {
	properties.Broken
	busy    map[string]map[history.Reconcile]bool // by process: its reconciles that have not ended
	lost    map[history.ReconcileID]string        // who touched its pending record
	records map[string]record
}

// record is the last write to one record.
type record struct {
	pending bool
	writer  history.ReconcileID
	until   history.Time
}

// New returns a judge of one run, which reports violations to broken.
func New(broken properties.Broken) *Judge {
	return &Judge{Broken: broken, busy: map[string]map[history.Reconcile]bool{}, lost: map[history.ReconcileID]string{},
		records: map[string]record{}}
}

// Event reads the beginning or the end of a reconcile.
func (j *Judge) Event(e *history.Event) {
	switch e.Kind {
	case history.Dequeue:
		if j.busy[e.Actor()] == nil {
			j.busy[e.Actor()] = map[history.Reconcile]bool{}
		}
		j.busy[e.Actor()][e.Reconcile] = true
	case history.Done:
		delete(j.busy[e.Actor()], e.Reconcile)
	case history.Crash, history.Stop:
		delete(j.busy, e.Actor())
	}
}

// Record reads a change of a Secret of the record with a name. Head is the Secret with the record's
// labels and annotations, or nil if this is another Secret.
func (j *Judge) Record(e *history.Event, c *history.Change, name string, head *corev1.Secret) {
	was, known := j.records[name]
	if known && !e.Reconcile.None() {
		j.Object(e, c)
		if was.pending && was.writer.Actor != e.Actor() && j.busy[was.writer.Actor][was.writer.Reconcile] {
			at, who := history.Clock(e.At), e.Actor()
			by := fmt.Sprintf("%s, who at %s touched %s, which was pending", who, at, c.Ref)
			j.lost[was.writer] = by
			// After that time the writer must write nothing, which Object checks.
			if was.until == 0 || e.At <= was.until {
				j.Breaks(Property, "at %s %s touches %s, which is pending, and %s is still at it", at, who, c.Ref,
					was.writer.Actor)
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
	r := record{writer: e.ReconcileID()}
	r.pending = strings.HasPrefix(head.Labels["status"], "pending-")
	if until, err := time.Parse(time.RFC3339Nano, head.Annotations[UntilKey]); err == nil {
		r.until = until.Sub(history.Date(0))
	}
	j.records[name] = r
}

// Object reads a write: no reconcile may continue a release that another process took over.
func (j *Judge) Object(e *history.Event, c *history.Change) {
	if by := j.lost[e.ReconcileID()]; by != "" {
		j.Breaks(Property, "at %s %s writes %s, and so does %s", history.Clock(e.At), e.Actor(), c.Ref, by)
	}
}
