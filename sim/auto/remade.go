package auto

import (
	"fmt"
	"maps"
	"slices"

	"github.com/wavetank/wavetank/history"
)

// nothingRemade holds while no program deletes an object and makes it again that stays as it is in
// the run without faults: what the object held is lost, though it exists whenever one looks. Both
// runs are compared between two times at which they have settled.
func nothingRemade(calm *history.History) func(*history.History) error {
	return func(h *history.History) error {
		n, until := settles(h, -1)
		if again, _ := settles(calm, n); until < h.Len()-1 || calm == h || again < n {
			return nil
		}
		before, after, deletes := betweenSettles(h, n)
		there, stays, _ := betweenSettles(calm, n)
		for _, ref := range slices.SortedFunc(maps.Keys(deletes), history.Ref.Compare) {
			uid, remade := before[ref], after[ref]
			if uid == "" || remade == "" || uid == remade || there[ref] == "" || there[ref] != stays[ref] {
				continue
			}
			by := deletes[ref]
			return fmt.Errorf("%s deleted %s at %s at %s, and it was made again; undisturbed it stays", by.Actor(), ref,
				history.Clock(by.At), by.Source)
		}
		return nil
	}
}

// betweenSettles are the UIDs of the objects when a run had settled n-1 and n times, and the
// requests in between by which programs deleted objects.
func betweenSettles(h *history.History, n int) (before, after map[history.Ref]string,
	deletes map[history.Ref]*history.Event) {
	after, deletes = map[history.Ref]string{}, map[history.Ref]*history.Event{}
	settled := 0
	for i := range h.Events {
		e := &h.Events[i]
		for _, c := range e.Changes {
			if delete(after, c.Ref); c.Type != "DELETED" && !c.Ref.Chatter() {
				after[c.Ref] = c.UID
			}
		}
		if settled == n-1 && e.Incarnation > 0 && e.Verb == "delete" && len(e.Changes) > 0 {
			deletes[e.Ref] = e
		}
		if e.Kind != history.Settled {
			continue
		}
		if settled++; settled == n-1 {
			before = maps.Clone(after)
		}
		if settled == n {
			break
		}
	}
	return before, after, deletes
}
