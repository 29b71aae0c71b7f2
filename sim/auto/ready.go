package auto

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// readyMeansDone holds while no program writes that an object is ready for a generation before it
// has done what that generation asks for. The status has observedGeneration and a condition that is
// True and has a type like Ready or Synced. It was too early if the reconcile had begun without
// that generation and the next reconcile of the object changes other objects. Changes by users and
// faults in between excuse it.
func readyMeansDone() func(*history.History) error {
	return func(h *history.History) error {
		claims, began := map[history.Key]claim{}, map[history.ReconcileID]*history.Event{}
		newest := map[history.Ref]written{}
		for i := range h.Events {
			e := &h.Events[i]
			if disturbs(e) {
				clear(claims)
			}
			id := e.ReconcileID()
			was, claimed := claims[e.Reconcile.Key]
			claimed = claimed && was.by.Actor() == e.Actor() && was.by.ReconcileID() != id
			switch {
			case e.Kind == history.Dequeue:
				began[id] = e
			case e.Kind == history.Done && claimed:
				delete(claims, e.Reconcile.Key)
			}
			for _, c := range e.Changes {
				about := c.Ref.Name == e.Reconcile.Name && c.Ref.Namespace == e.Reconcile.Namespace
				s := statusOf(c.Object)
				if s.generation != newest[c.Ref].generation {
					newest[c.Ref] = written{s.generation, i}
				}
				switch begin := began[id]; {
				case begin == nil || c.Ref.Chatter():
				case about && s.ready && (newest[c.Ref].event > begin.Index || len(begin.Seen) > 0):
					claims[e.Reconcile.Key] = claim{e, c.Ref, s.generation}
				case !about && claimed:
					return fmt.Errorf("%s wrote at %s that %s is ready for generation %d, which its reconcile had not "+
						"seen when it began; the next reconcile changes %s at %s at %s", was.by.Actor(),
						history.Clock(was.by.At), was.ref, was.generation, c.Ref, history.Clock(e.At), e.Source)
				}
			}
		}
		return nil
	}
}

// claim is a status that says that an object is ready.
type claim struct {
	by         *history.Event
	ref        history.Ref
	generation int64
}

// written is a generation and the event that made it.
type written struct {
	generation int64
	event      int
}

// disturbs reports whether an event is a reason to act: a change by users, or a fault.
func disturbs(e *history.Event) bool {
	switch e.Kind {
	case history.Fault, history.Start, history.Stop, history.Crash:
		return true
	case history.Request:
		return e.Process == run.User && len(e.Changes) > 0
	}
	return false
}

// status is what an object's status says about its generation.
type status struct {
	generation int64
	ready      bool // for that generation
}

// done are the types of conditions that say that what an object asks for is there.
var done = []string{"Ready", "Available", "Synced", "Reconciled", "Programmed", "Applied", "Deployed", "Installed",
	"Provisioned", "Completed"}

func statusOf(object []byte) (out status) {
	var o struct {
		Metadata struct {
			Generation int64 `json:"generation"`
		} `json:"metadata"`
		Status struct {
			ObservedGeneration int64 `json:"observedGeneration"`
			Conditions         []struct {
				Type, Status       string
				ObservedGeneration int64 `json:"observedGeneration"`
			} `json:"conditions"`
		} `json:"status"`
	}
	if json.Unmarshal(object, &o) != nil {
		return out
	}
	out.generation = o.Metadata.Generation
	for _, c := range o.Status.Conditions {
		g := max(c.ObservedGeneration, o.Status.ObservedGeneration)
		if slices.Contains(done, c.Type) && c.Status == "True" && g > 0 {
			out.ready = g == out.generation
		}
	}
	return out
}
