package auto

import (
	"fmt"
	"maps"
	"slices"

	"github.com/wavetank/wavetank/history"
)

// nothingRemade holds while no program, in a reconcile in which a request has failed, deletes an
// object and makes it again that stays as it is in the run without faults: what the object held is
// lost, though it exists whenever one looks. Both runs are compared between two times at which they
// have settled. An object that programs replace without faults, too, is not judged, nor is a
// program that acts on an old state, which a stale server has answered.
func nothingRemade(calm *history.History) func(*history.History) error {
	return func(h *history.History) error {
		n, _, _, ok := bothSettled(h, calm)
		if !ok {
			return nil
		}
		before, after, deletes := betweenSettles(h, n)
		there, stays, _ := betweenSettles(calm, n)
		for _, ref := range slices.SortedFunc(maps.Keys(deletes), history.Ref.Compare) {
			uid, remade := before[ref], after[ref]
			if uid == "" || remade == "" || uid == remade || there[ref] == "" || there[ref] != stays[ref] ||
				replaces(calm, ref) {
				continue
			}
			by := deletes[ref]
			return fmt.Errorf("%s deleted %s at %s at %s, after a request had failed, and it was made again; "+
				"undisturbed it stays", by.Actor(), ref, history.Clock(by.At), by.Source)
		}
		return nil
	}
}

// replaces reports whether a program deletes an object that is made again later.
func replaces(h *history.History, ref history.Ref) bool {
	deleted := false
	for i := range h.Events {
		e := &h.Events[i]
		deleted = deleted || e.Incarnation > 0 && e.Verb == "delete" && e.Ref == ref
		for _, c := range e.Changes {
			if deleted && c.Type == "ADDED" && c.Ref == ref {
				return true
			}
		}
	}
	return false
}

// betweenSettles are the UIDs of the objects when a run had settled n-1 and n times, and the
// requests in between by which programs deleted objects after a failure, unless a server was stale.
func betweenSettles(h *history.History, n int) (before, after map[history.Ref]string,
	deletes map[history.Ref]*history.Event) {
	after, deletes = map[history.Ref]string{}, map[history.Ref]*history.Event{}
	failed, stale, settled := map[history.ReconcileID]bool{}, false, 0
	for i := range h.Events {
		e := &h.Events[i]
		for _, c := range e.Changes {
			if delete(after, c.Ref); c.Type != "DELETED" && !c.Ref.Chatter() {
				after[c.Ref] = c.UID
			}
		}
		stale = stale || e.Injection.Is("StaleServer")
		failed[e.ReconcileID()] = failed[e.ReconcileID()] || e.Kind == history.Reply && e.Note != "" ||
			e.Kind == history.Request && e.Code >= 400 && e.Code != 404
		if settled == n-1 && e.Incarnation > 0 && e.Verb == "delete" && len(e.Changes) > 0 && !stale &&
			failed[e.ReconcileID()] {
			deletes[e.Ref] = e
		}
		if e.Kind != history.Settled {
			continue
		}
		if settled++; settled == n-1 {
			before, stale = maps.Clone(after), false
		}
		if settled == n {
			break
		}
	}
	return before, after, deletes
}
