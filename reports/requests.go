// This file finds requests of programs that a paragraph is about.

package reports

import (
	"slices"

	"github.com/wavetank/wavetank/history"
)

// latest is the last request of a program that changed something or failed. Requests of caches
// count only if there is no other; -1 if there is none.
func (n *narrator) latest() int {
	ofCache := -1
	for i := n.violation - 1; i >= 0; i-- {
		e := &n.h.Events[i]
		switch {
		case e.Kind != history.Request || e.Chatter() || e.Incarnation == 0 || !n.changes(i) && !refused(e):
		case e.Source != "":
			return i
		case ofCache < 0:
			ofCache = i
		}
	}
	return ofCache
}

// reply is the reply to request i before the violation; -1 if there is none.
func (n *narrator) reply(i int) int {
	for j := i + 1; j < n.violation; j++ {
		if e := &n.h.Events[j]; e.Kind == history.Reply && e.Call == i {
			return j
		}
	}
	return -1
}

// refusal names the last request of the chain that failed, if no sentence has: one whose reconcile
// ended without an error, or one of a program whose work is no reconcile.
func (n *narrator) refusal(add func(string, ...any)) {
	for i := n.violation - 1; i >= 0; i-- {
		e := &n.h.Events[i]
		if !n.on(i) || !refused(e) || e.Incarnation == 0 || e.Chatter() || n.texts[i] == "" {
			continue
		}
		if n.steps[i] {
			return
		}
		add("A request failed %s.", n.step(i))
		if start, ok := n.dequeued[i]; ok {
			for _, j := range n.inside[start] {
				if n.h.Events[j].Kind == history.Done && j < n.violation && n.texts[j] != "" {
					n.ends(start, n.texts[j], add)
				}
			}
		}
		return
	}
}

// unchanging are the last requests in reconciles of objects that the sentence names, if these
// reconciles have changed nothing.
func (t *tracing) unchanging() (out []int) {
	last, changed := map[history.Key]int{}, map[history.Key]bool{}
	for i := range t.violation {
		e := &t.h.Events[i]
		if e.Kind == history.Request && e.Source != "" && !e.Chatter() && !e.Reconcile.None() {
			last[e.Reconcile.Key] = i
			changed[e.Reconcile.Key] = changed[e.Reconcile.Key] || t.changes(i)
		}
	}
	for key, i := range last {
		of := func(ref history.Ref) bool { return ref.Namespace == key.Namespace && ref.Name == key.Name }
		if !changed[key] && slices.ContainsFunc(t.named, of) {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return out[max(0, len(out)-maxSubjects):]
}

// unchanged names the last of the requests in reconciles that changed nothing.
func (n *narrator) unchanged(add func(string, ...any)) {
	latestOf(n.unchanging(), n.violation, func(i int) {
		if !n.steps[i] {
			add("Reconciles of %s changed nothing; their last request was %s.", n.h.Events[i].Reconcile.Key, n.step(i))
		}
	})
}
