package property_test

import (
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/property"
)

// An operator creates an object each time it is deleted. That is a reason for the deletion by the
// garbage collector, which no operator can keep from acting. It is none for the operator's own.
func TestNoHotLoopCountsARepeatedCreation(t *testing.T) {
	object := history.Ref{Kind: "Secret", Namespace: "default", Name: "a"}
	key := history.Reconcile{Key: history.Key{Controller: "op", Namespace: "default", Name: "a"}}
	for deleter, hot := range map[string]bool{"garbage-collector-controller": false, "op": true} {
		h := &history.History{}
		holds := property.NoHotLoop(100, 10*time.Second)
		add := func(at time.Duration, who string, k history.Kind, change string) {
			e := history.Event{At: at, Kind: k, Process: who, Reconcile: key}
			if who == "op" {
				e.Incarnation = 1
			}
			if change != "" {
				e.Changes = []history.Change{{Type: change, Ref: object}}
			}
			h.Add(e)
		}
		var err error
		for i := 0; i < 1000 && err == nil; i++ {
			at := time.Duration(i) * 2 * time.Millisecond
			add(at, "op", history.Dequeue, "")
			add(at, "op", history.Request, "ADDED")
			add(at, deleter, history.Request, "DELETED")
			add(at, "op", history.Dequeue, "")
			err = holds(h)
		}
		if (err != nil) != hot {
			t.Errorf("deleted by %s: %v", deleter, err)
		}
	}
}
