package property

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
)

// ApplyIsStable holds if nothing changes in a settled world when the user applies the same objects
// once more: no object is created or removed, and generation, spec and status stay the same. For
// Always; it is a default property. It is judged only from the call of [sim.World.ApplyAgain] until
// the world has settled again. Without patterns it covers all objects except Leases and Events.
//
// It fails if a program changes a field that the user applies, or if it acts on each apply and not
// on its content. A GitOps tool that applies every few minutes and such a program then never stop
// changing the object.
//
// A write that changes only resource versions, managed fields or times is not a change; heartbeats
// and lastTransitionTime are examples. A change that is undone counts. A reconcile that
// RequeueAfter asked for may change anything, as in IdempotentAtRest: it waits for time to pass.
//
// In 176 to 208 runs of each operator in examples/ and of the fixed variants of four reference
// scenarios it saw no violation. A false alarm is possible for a change that depends only on time
// and does not come from such a reconcile, but from a goroutine next to the controllers or from a
// controller of the cluster.
//
// [sim.World.ApplyAgain]: https://pkg.go.dev/github.com/wavetank/wavetank/sim#World.ApplyAgain
func ApplyIsStable(of ...history.Ref) Property {
	return perRun(func() judge {
		a := &appliedAgain{of: of, timed: map[history.ReconcileID]bool{}}
		return judge{event: a.event}
	})
}

// appliedAgain follows who changed the objects of a run.
type appliedAgain struct {
	of        []history.Ref
	timed     map[history.ReconcileID]bool // reconciles that RequeueAfter asked for
	disturbed disturbances
	rest      bool         // the world has settled and there was no disturbance since
	on        bool         // the same objects are being applied once more
	at        history.Time // since when
}

func (a *appliedAgain) event(h *history.History, e *history.Event) error {
	run := e.ReconcileID()
	switch e.Kind {
	case history.Again:
		a.on, a.at = a.rest, e.At
	case history.Settled:
		a.on, a.rest = false, true
	case history.Dequeue:
		a.timed[run] = e.Cause.Kind == history.CauseRequeueAfter
	case history.Done:
		delete(a.timed, run)
	}
	if a.disturbed.by(e) {
		a.rest = false
	}
	for i := range e.Changes {
		if c := &e.Changes[i]; anyOf(a.of, c.Ref) {
			if err := a.change(h, e, c, a.timed[run]); err != nil {
				return err
			}
		}
	}
	return nil
}

// change judges a change of one object.
func (a *appliedAgain) change(h *history.History, e *history.Event, c *history.Change, timed bool) error {
	diff := ""
	if a.on && !timed {
		diff = become(c)
	}
	if breaks("ApplyIsStable: a change by the same objects", diff != "") {
		return fmt.Errorf("the user applied the same objects once more at %s, and by %s something has changed: %s%s; "+
			"let each field have one writer, and act only on what differs",
			history.Clock(a.at), what(e)+within(e.Reconcile), diff, wroteBefore(h, e, c))
	}
	return nil
}

// become describes the lasting effect of a change on an object; "" if there is none.
func become(c *history.Change) string {
	switch c.Type {
	case "ADDED":
		return c.Ref.String() + " is new"
	case "DELETED":
		return c.Ref.String() + " is gone"
	}
	return sentence(edits(c))
}

// edits are the fields that a change gave another value, without those that any write changes.
func edits(c *history.Change) []mismatch {
	state := func(object []byte) map[history.Ref][]any { return map[history.Ref][]any{c.Ref: {lasting(object)}} }
	return against("before").differences(state(c.Previous), state(c.Object))
}

// wroteBefore names the last write before an event that gave a field the value which a change
// replaces, and otherwise the last write of the object; "" if there is none. The generation counts
// as a field only if no other differs.
func wroteBefore(h *history.History, e *history.Event, c *history.Change) string {
	const generation = ".metadata.generation"
	fields := edits(c)
	if len(fields) > 1 {
		fields = slices.DeleteFunc(fields, func(m mismatch) bool { return m.path == generation })
	}
	replaced := func(m mismatch) bool {
		return slices.ContainsFunc(fields, func(f mismatch) bool {
			return f.path == m.path || strings.HasPrefix(f.path, m.path+".") || strings.HasPrefix(m.path, f.path+".")
		})
	}
	var latest *history.Event
	for i := range h.Events {
		w := &h.Events[i]
		if w == e {
			break
		}
		for j := range w.Changes {
			o := &w.Changes[j]
			if o.Ref == c.Ref && (latest == nil || o.Type == "ADDED" || slices.ContainsFunc(edits(o), replaced)) {
				latest = w
			}
		}
	}
	if latest == nil {
		return ""
	}
	return "; the last write of it before was " + what(latest) + within(latest.Reconcile)
}

// lasting is an object without what any write changes.
func lasting(object []byte) any {
	var o map[string]any
	if json.Unmarshal(object, &o) != nil {
		return string(object)
	}
	if m, ok := o["metadata"].(map[string]any); ok {
		delete(m, "resourceVersion")
		delete(m, "managedFields")
	}
	return timeless(o)
}

// timeless puts one word in the place of all times.
func timeless(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			v[k] = timeless(x)
		}
	case []any:
		for i, x := range v {
			v[i] = timeless(x)
		}
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return "a time"
		}
	}
	return v
}
