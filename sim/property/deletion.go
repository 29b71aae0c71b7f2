package property

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
)

// NoStuckFinalizer holds if no object is kept by finalizers for longer than bound (virtual time)
// after its deletion was requested or, if that is later, after the last disturbance. For
// Eventually, or for Always with a bound that is longer than the longest back-off that the scenario
// allows. Without patterns it covers all objects.
//
// The default property judges it at each Settle with a bound of 0: a finalizer that is still there
// in a quiescent world stays.
func NoStuckFinalizer(bound time.Duration, of ...history.Ref) Property {
	return perRun(func() judge {
		t := terminating{held: func(c *history.Change) []string {
			if !anyOf(of, c.Ref) {
				return nil
			}
			if m := metadataOf(c.Object, "deletionTimestamp"); m.DeletionTimestamp != "" {
				return m.Finalizers
			}
			return nil
		}}
		return judge{event: t.event, now: func(h *history.History) error {
			for _, ref := range sorted(t.since) {
				d := t.since[ref]
				if breaks("NoStuckFinalizer: a deletion that takes long", overdue(h, d.at, t.disturbed, bound)) {
					return history.About(fmt.Errorf("%s has been terminating since %s and is kept at %s by %s", ref,
						history.Clock(d.at), history.Clock(h.Now()), strings.Join(d.why, ", ")), ref)
				}
			}
			return nil
		}}
	})
}

// NamespaceFinishes holds if no Namespace stays Terminating for longer than bound (virtual time)
// after its deletion was requested or, if that is later, after the last disturbance. For
// Eventually. The namespace controller waits 5 s before it begins. Between its attempts it waits up
// to half of the longest grace period of a Pod, so a bound under 20 s fails in healthy worlds. The
// sentence names what is left in the namespace, and the finalizers that keep it.
func NamespaceFinishes(bound time.Duration) Property {
	return perRun(func() judge {
		t := terminating{held: func(c *history.Change) []string {
			if c.Ref.Kind == "Namespace" && c.Ref.Group == "" &&
				metadataOf(c.Object, "deletionTimestamp").DeletionTimestamp != "" {
				return append([]string{}, metadataOf(c.Object, "finalizers").Finalizers...)
			}
			return nil
		}}
		return judge{event: t.event, now: func(h *history.History) error {
			for _, ref := range sorted(t.since) {
				d := t.since[ref]
				if breaks("NamespaceFinishes: a namespace that takes long", overdue(h, d.at, t.disturbed, bound)) {
					return history.About(fmt.Errorf("%s has been terminating since %s and at %s %s",
						ref, history.Clock(d.at), history.Clock(h.Now()), left(h, ref.Name, d.why)), ref)
				}
			}
			return nil
		}}
	})
}

// terminating keeps account of deletions that were asked for and have not happened.
type terminating struct {
	held      func(*history.Change) []string // what keeps the object, nil when nothing does
	since     map[history.Ref]deletion
	disturbed history.Time
	disturbances
}

type deletion struct {
	at  history.Time
	uid string
	why []string
}

func (t *terminating) event(_ *history.History, e *history.Event) error {
	if t.by(e) {
		t.disturbed = e.At
	}
	for i := range e.Changes {
		c := &e.Changes[i]
		var why []string
		if c.Type != "DELETED" {
			why = t.held(c)
		}
		switch d, known := t.since[c.Ref]; {
		case why == nil:
			delete(t.since, c.Ref)
		case known && d.uid == c.UID:
			t.since[c.Ref] = deletion{d.at, d.uid, why}
		default:
			if t.since == nil {
				t.since = map[history.Ref]deletion{}
			}
			t.since[c.Ref] = deletion{e.At, c.UID, why}
		}
	}
	return nil
}

// left describes what a namespace still holds, and which finalizers in its own metadata keep it.
func left(h *history.History, namespace string, finalizers []string) string {
	live := h.Live(func(ref history.Ref) bool { return ref.Namespace == namespace })
	if len(live) == 0 {
		if len(finalizers) == 0 {
			return "is empty: the namespace controller has not removed it yet"
		}
		return "is empty, and kept by metadata.finalizers: " + strings.Join(finalizers, ", ")
	}
	var out []string
	for _, o := range live {
		s := o.Ref.String()
		if f := metadataOf(o.JSON, "finalizers").Finalizers; len(f) > 0 {
			s += " (kept by " + strings.Join(f, ", ") + ")"
		}
		out = append(out, s)
	}
	if len(out) > 5 {
		out = append(out[:5], fmt.Sprintf("and %d more", len(out)-5))
	}
	if len(finalizers) > 0 {
		out = append(out, "and is kept by metadata.finalizers: "+strings.Join(finalizers, ", "))
	}
	return "still holds " + strings.Join(out, ", ")
}

// NoOrphans holds if no object outlives all of its owners by more than bound (virtual time),
// counted from the last disturbance if that is later. For Eventually. Owners are those in
// metadata.ownerReferences, by UID: a new object with the same name is not the owner.
// https://kubernetes.io/docs/concepts/architecture/garbage-collection/#owners-dependents
func NoOrphans(bound time.Duration) Property {
	return perRun(func() judge {
		o := &orphans{alive: map[string]bool{}, owners: map[history.Ref][]owner{},
			dependents: map[string]map[history.Ref]bool{}, since: map[history.Ref]history.Time{}}
		return judge{event: o.event, now: func(h *history.History) error {
			for _, ref := range sorted(o.since) {
				if breaks("NoOrphans: an object without owners", overdue(h, o.since[ref], o.disturbed, bound)) {
					of := o.owners[ref][0]
					return history.About(fmt.Errorf(
						"%s is still there at %s, though its owner %s %s (UID %s) has been gone since %s",
						ref, history.Clock(h.Now()), of.Kind, of.Name, of.UID, history.Clock(o.since[ref])), ref)
				}
			}
			return nil
		}}
	})
}

// orphans keeps account of who owns what.
type orphans struct {
	alive      map[string]bool                 // by UID
	owners     map[history.Ref][]owner         // of each object that has any
	dependents map[string]map[history.Ref]bool // by UID of the owner
	since      map[history.Ref]history.Time    // objects that have lost all owners
	disturbed  history.Time
	disturbances
}

func (o *orphans) event(_ *history.History, e *history.Event) error {
	if o.by(e) {
		o.disturbed = e.At
	}
	for i := range e.Changes {
		c := &e.Changes[i]
		for _, old := range o.owners[c.Ref] {
			delete(o.dependents[old.UID], c.Ref)
		}
		delete(o.owners, c.Ref)
		if o.alive[c.UID] = c.Type != "DELETED"; o.alive[c.UID] {
			if owners := metadataOf(c.Object, "ownerReferences").OwnerReferences; len(owners) > 0 {
				o.owners[c.Ref] = owners
				for _, own := range owners {
					if o.dependents[own.UID] == nil {
						o.dependents[own.UID] = map[history.Ref]bool{}
					}
					o.dependents[own.UID][c.Ref] = true
				}
			}
		} else {
			delete(o.alive, c.UID)
		}
		o.look(c.Ref, e.At)
		for ref := range o.dependents[c.UID] {
			o.look(ref, e.At)
		}
	}
	return nil
}

// look finds out whether the object is an orphan now.
func (o *orphans) look(ref history.Ref, now history.Time) {
	owners := o.owners[ref]
	if len(owners) == 0 || slices.ContainsFunc(owners, func(own owner) bool { return o.alive[own.UID] }) {
		delete(o.since, ref)
	} else if _, known := o.since[ref]; !known {
		o.since[ref] = now
	}
}

// DeletionOrder holds if no object that then selects is removed while an object that first selects
// exists in the same namespace (anywhere, if one of the two has no namespace). For Always. Use it
// for things that must be dismantled in order: a Deployment before the RoleBinding that it needs, a
// database before its backups.
func DeletionOrder(first, then history.Ref) Property {
	return perRun(func() judge {
		live := map[history.Ref]bool{}
		return judge{event: func(_ *history.History, e *history.Event) error {
			for _, c := range e.Changes {
				gone := c.Type == "DELETED"
				if selects(first, c.Ref) {
					if delete(live, c.Ref); !gone {
						live[c.Ref] = true
					}
				}
				if !gone || !selects(then, c.Ref) {
					continue
				}
				there := slices.DeleteFunc(sorted(live), func(ref history.Ref) bool {
					return ref.Cluster != c.Ref.Cluster || ref.Namespace != c.Ref.Namespace && ref.Namespace != "" &&
						c.Ref.Namespace != ""
				})
				if breaks("DeletionOrder: something that should have gone before", len(there) > 0) {
					return history.About(fmt.Errorf(
						"%s went away by %s, though what must go first was still there: %v",
						c.Ref, what(e), there), append(there, c.Ref)...)
				}
			}
			return nil
		}}
	})
}
