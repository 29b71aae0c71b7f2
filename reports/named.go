// This file names reconciles in a paragraph.

package reports

import (
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
)

// reconcile names the reconcile that began with an event: "that reconcile" if the sentences are
// about no other, or else as the story does.
func (n *narrator) reconcile(start int) string {
	for other := range n.told {
		if other != start {
			return "reconcile " + n.h.Events[start].Reconcile.String() + n.incarnation(start)
		}
	}
	return "that reconcile"
}

// ends reports how a reconcile ended, as a line of the story does.
func (n *narrator) ends(start int, how string, add func(string, ...any)) {
	name := n.reconcile(start)
	add("%s%s %s.", strings.ToUpper(name[:1]), name[1:], how)
}

// incarnation is whose reconcile it is, if the process had another incarnation before the
// violation: each counts its reconciles from 1.
func (n *narrator) incarnation(start int) string {
	if n.restarted(start) {
		return " of " + n.h.Events[start].Actor()
	}
	return ""
}

// restarted reports whether the process of an event had another incarnation.
func (n *narrator) restarted(i int) bool {
	e := &n.h.Events[i]
	return slices.ContainsFunc(n.h.Events[:n.violation], func(o history.Event) bool {
		return o.Process == e.Process && o.Incarnation > 0 && o.Incarnation != e.Incarnation
	})
}
