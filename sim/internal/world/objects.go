package world

import (
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// RequireSuccess makes a campaign fail if an object that a user has made never succeeds: if the
// last reconcile of a controller fails at every quiescent moment of every run.
func (w *World) RequireSuccess() { w.required = true }

// Failing reports whether the last reconcile of an object that a user has made failed, at the
// latest quiescent moment.
func (w *World) Failing() bool {
	var all run.Objects
	all.Read(w.history.Events)
	return slices.ContainsFunc(all.Judged(), func(o run.Object) bool { return o.Failing })
}

// userObjects returns the objects of users, each with the last reconciles of its key. A campaign
// judges them after all of its runs (see RequireSuccess).
func (w *World) userObjects() []run.Object {
	w.window.objects.Read(w.history.Events)
	all := w.window.objects.Judged()
	for i := range all {
		if !all[i].Succeeded {
			all[i].Missing = w.missing(all[i].Failure)
		}
	}
	return all
}

// missing are the objects that programs looked for, that never existed, and that an error names.
func (w *World) missing(failure string) (out []string) {
	for _, ref := range w.LookedFor() {
		if ref.Name != "" && strings.Contains(failure, ref.Name) && !everExisted(w.history, ref) {
			out = append(out, nameOf(ref))
		}
	}
	return out
}

func everExisted(h *history.History, ref history.Ref) bool {
	return slices.ContainsFunc(h.Events, func(e history.Event) bool {
		return slices.ContainsFunc(e.Changes, func(c history.Change) bool { return c.Ref == ref })
	})
}

// nameOf names an object that a program looked for.
func nameOf(ref history.Ref) string {
	if ref.Namespace == "" && slices.Contains([]string{"Secret", "ConfigMap"}, ref.Kind) {
		return ref.String() + story.NoNamespace
	}
	return ref.String()
}
