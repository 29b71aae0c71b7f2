package property

import (
	"testing"

	"github.com/wavetank/wavetank/history"
)

// NoLostUpdate remembers no more versions of an object the more there have been, and those that a
// reconcile under way may know.
func TestNoLostUpdateForgets(t *testing.T) {
	first := history.ReconcileID{Actor: "op/1", Reconcile: first}
	w := &writers{known: map[view][]version{}, active: map[history.ReconcileID]int{first: 5000}}
	ref := history.Ref{Kind: "ConfigMap", Namespace: "default", Name: "a"}
	learn := func(from, to int) {
		for i := from; i <= to; i++ {
			w.learn("op/1", ref, i, int64(i))
		}
	}
	learn(1, 6000)
	if got := w.knew("op/1", ref, 5000); got != 5000 {
		t.Errorf("a reconcile that began at event 5000 knew version %d", got)
	}
	delete(w.active, first)
	learn(6001, 10000)
	for k, versions := range w.known {
		if len(versions) > 2*manyVersions {
			t.Errorf("%d versions are remembered of %v", len(versions), k)
		}
	}
	if got := w.knew("op/1", ref, 10000); got != 10000 {
		t.Errorf("who looks now knows version %d", got)
	}
	w.forget("op/1")
	if len(w.known) > 0 {
		t.Errorf("the next incarnation remembers %v", w.known)
	}
}
