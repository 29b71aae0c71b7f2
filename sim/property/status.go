package property

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/wavetank/wavetank/history"
)

// ObservedGeneration holds if status.observedGeneration is correct: it is never ahead of
// metadata.generation, and it is not behind when the world has settled. For Eventually. Without
// patterns it covers all objects. An object counts only if a reconcile has written its
// status.observedGeneration.
// https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties
//
// An object is not judged while it is being deleted, nor if the last reconcile of its key ended
// with an error or asks for another: its controller may have reasons to wait.
func ObservedGeneration(of ...history.Ref) Property {
	return perRun(func() judge {
		writers := map[history.Ref]writerKey{}
		unfinished := map[writerKey]bool{}
		rest := false
		return judge{
			event: func(_ *history.History, e *history.Event) error {
				rest = e.Kind == history.Settled
				key := writerKey{e.Process, e.Reconcile.Key}
				if e.Kind == history.Done {
					unfinished[key] = e.Outcome.Failed() || e.Outcome.Again()
				}
				for _, c := range e.Changes {
					if e.Incarnation == 0 || e.Reconcile.None() || c.Type == "DELETED" || !anyOf(of, c.Ref) {
						continue
					}
					if now := observedIn(c.Object); now.observed != nil && !now.same(observedIn(c.Previous)) {
						writers[c.Ref] = key
					}
				}
				return nil
			},
			now: func(h *history.History) error {
				if !rest {
					return nil
				}
				for _, ref := range sorted(writers) {
					o, there := h.Find(ref)
					g := observedIn(o.JSON)
					if !there || g.observed == nil || g.going {
						continue
					}
					late := *g.observed < g.generation && !unfinished[writers[ref]]
					if breaks("ObservedGeneration: another generation than the object's",
						late || *g.observed > g.generation) {
						return history.About(fmt.Errorf("at %s %s has generation %d, "+
							"and its status says that %d was observed; nothing is left to do",
							history.Clock(h.Now()), ref, g.generation, *g.observed), ref)
					}
				}
				return nil
			},
		}
	})
}

// writerKey is a key of a program, in any incarnation.
type writerKey struct {
	process string
	key     history.Key
}

// generations are those of an object.
type generations struct {
	generation int64
	observed   *int64 // nil if the status has none
	going      bool   // it is being deleted
}

func (g generations) same(o generations) bool { return o.observed != nil && *g.observed == *o.observed }

func observedIn(object []byte) generations {
	var o struct {
		Metadata struct {
			Generation        int64
			DeletionTimestamp *string
		}
		Status struct{ ObservedGeneration *int64 }
	}
	if json.Unmarshal(object, &o) != nil {
		return generations{}
	}
	return generations{o.Metadata.Generation, o.Status.ObservedGeneration, o.Metadata.DeletionTimestamp != nil}
}

// StatusNamesWhatExists holds if no status names an object that its program has created, or has
// tried to create, and that does not exist when the world has settled. For Eventually. Without
// patterns it covers the status of all objects.
//
// A status names an object if one of its strings is the object's name, the object is in the same
// namespace, and it is owned by the object with the status. Nothing is reported if an object of any
// kind has that name, or if the object with the status has it. Nor is an object missed that the
// program itself has deleted: a status may report what there was.
func StatusNamesWhatExists(of ...history.Ref) Property {
	return perRun(func() judge {
		missing := map[history.Ref]absent{} // what programs made and others deleted, or could not make
		rest := false
		return judge{
			event: func(_ *history.History, e *history.Event) error {
				rest = e.Kind == history.Settled
				if e.Kind == history.Request && e.Incarnation > 0 && e.Verb == "create" && e.Sub == "" &&
					e.Code >= 400 && e.Code != 409 {
					ref := e.Ref
					ref.Name = history.NameIn(e.Sent)
					if owners := ownersIn(e.Sent); ref.Name != "" && len(owners) > 0 {
						missing[ref] = absent{owners, what(e) + " was refused"}
					}
				}
				for _, c := range e.Changes {
					switch {
					case c.Type != "DELETED":
						delete(missing, c.Ref)
					case e.Incarnation == 0:
						if owners := ownersIn(c.Object); len(owners) > 0 {
							missing[c.Ref] = absent{owners, what(e)}
						}
					}
				}
				return nil
			},
			now: func(h *history.History) error {
				if !rest || len(missing) == 0 {
					return nil
				}
				return statusNames(h, of, missing)
			},
		}
	})
}

// absent is an object that does not exist.
type absent struct {
	owners []string // UIDs
	since  string   // in words
}

func ownersIn(object []byte) (uids []string) {
	for _, o := range metadataOf(object, "ownerReferences").OwnerReferences {
		uids = append(uids, o.UID)
	}
	return uids
}

// statusNames looks for a status that names one of the objects that are missing.
func statusNames(h *history.History, of []history.Ref, missing map[history.Ref]absent) error {
	names := map[string]bool{}
	live := h.Live(func(r history.Ref) bool { return !r.Chatter() })
	for _, o := range live {
		names[o.Ref.Name] = true
	}
	for _, o := range live {
		if !anyOf(of, o.Ref) {
			continue
		}
		for _, ref := range slices.SortedFunc(maps.Keys(missing), history.Ref.Compare) {
			m := missing[ref]
			switch {
			case names[ref.Name] || ref.Namespace != o.Ref.Namespace || !slices.Contains(m.owners, o.UID):
			case breaks("StatusNamesWhatExists: the name of nothing", says(o.JSON, ref.Name)):
				return history.About(fmt.Errorf("at %s the status of %s names %s, which does not exist: %s",
					history.Clock(h.Now()), o.Ref, ref, m.since), o.Ref, ref)
			}
		}
	}
	return nil
}

// says reports whether a string of the object's status is the word.
func says(object []byte, word string) bool {
	var o struct{ Status any }
	return json.Unmarshal(object, &o) == nil && contains(o.Status, word)
}

func contains(v any, word string) bool {
	switch v := v.(type) {
	case string:
		return v == word
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return contains(x, word) })
	case map[string]any:
		for _, x := range v {
			if contains(x, word) {
				return true
			}
		}
	}
	return false
}
