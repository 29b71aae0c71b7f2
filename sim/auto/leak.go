package auto

import (
	"encoding/json"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// allDeleted is what the history says when users have deleted all their objects.
const allDeleted = "all that users have made is deleted"

// Keeps names kinds whose objects stay when users have deleted all of theirs, by an object of each:
// backups, for example. The property [NothingLeft] does not ask for them. Claims of storage and
// volumes stay without being named.
func Keeps(objs ...client.Object) Option {
	return func(s *settings) {
		for _, gvk := range s.kindsOf("auto.Keeps", objs) {
			s.keeps = append(s.keeps, gvk.Kind)
		}
	}
}

// stays are kinds whose objects outlive what they were made for, because they hold data.
var stays = []string{"PersistentVolumeClaim", "PersistentVolume", "VolumeSnapshot", "CustomResourceDefinition"}

// nothingLeft holds when nothing is left that a program has made for an object, once users have
// deleted all objects. It is asked only about programs that clean up: those that have taken a
// finalizer off the object, or have made another object that the object owns. What is left must
// have been made in a reconcile of the object and must mention it. An object that mentions one that
// users have not deleted may serve that one.
func nothingLeft(keeps []string) func(*history.History) error {
	keeps = append(slices.Clone(stays), keeps...)
	return func(h *history.History) error {
		draws := h.Draws()
		if len(draws) == 0 || draws[len(draws)-1].Value != allDeleted {
			return nil
		}
		promises := promisesIn(h)
		made := map[history.Ref]history.Event{}
		for i := range h.Events {
			for _, c := range h.Events[i].Changes {
				if c.Type == "ADDED" {
					made[c.Ref] = h.Events[i]
				}
			}
		}
		live := h.Live(func(r history.Ref) bool { return !r.Chatter() })
		remain := map[string]bool{} // names of what users have not deleted
		for _, o := range live {
			if by := made[o.Ref]; by.Process == run.User && o.Ref.Kind != "Namespace" {
				remain[o.Ref.Name] = true
			}
		}
		for _, o := range live {
			e := made[o.Ref]
			why := promises[place{e.Reconcile.Namespace, e.Reconcile.Name}]
			c := changed{ref: o.Ref}
			if e.Incarnation == 0 || why == "" || slices.Contains(keeps, o.Ref.Kind) ||
				json.Unmarshal(o.JSON, &c.object) != nil || metadata(o.JSON).Deleted != "" ||
				!c.mentions(map[string]bool{e.Reconcile.Name: true}) || c.mentions(remain) {
				continue
			}
			return fmt.Errorf("%s is left, though %s, for which it was made, is gone, and so is all that users "+
				"have made; %s, so it cleans up. If the object is meant to stay, name its kind by auto.Keeps", o.Ref,
				e.Reconcile.Key, why)
		}
		return nil
	}
}

// promisesIn are the objects of users that a program cleans up after, and how that shows.
func promisesIn(h *history.History) map[place]string {
	out := map[place]string{}
	owners := map[string]history.Ref{} // what users have made, by UID
	for i := range h.Events {
		e := &h.Events[i]
		for _, c := range e.Changes {
			m := metadata(c.Object)
			switch {
			case c.Type == "ADDED" && e.Process == run.User:
				owners[c.UID] = c.Ref
			case c.Type == "ADDED" && e.Incarnation > 0:
				for _, o := range m.Owners {
					if of, ok := owners[o.UID]; ok {
						why := fmt.Sprintf("%s owns %s, which the same program has made", of, c.Ref)
						out[place{of.Namespace, of.Name}] = why
					}
				}
			case e.Incarnation > 0 && c.Previous != nil && owners[c.UID] == c.Ref && m.Deleted != "":
				if c.Type == "DELETED" || len(m.Finalizers) < len(metadata(c.Previous).Finalizers) {
					why := e.Process + " has taken its finalizer off " + c.Ref.String()
					out[place{c.Ref.Namespace, c.Ref.Name}] = why
				}
			}
		}
	}
	return out
}

// meta is the metadata that says how an object ends.
type meta struct {
	Deleted    string   `json:"deletionTimestamp"`
	Finalizers []string `json:"finalizers"`
	Owners     []struct {
		UID string `json:"uid"`
	} `json:"ownerReferences"`
}

func metadata(object []byte) meta {
	var o struct{ Metadata meta }
	_ = json.Unmarshal(object, &o) // what is no object has no metadata
	return o.Metadata
}

// mentions reports whether a version of an object contains one of the names.
func (c changed) mentions(names map[string]bool) bool {
	found := mentions(c.ref.Name, names)
	walk(c.object, func(key string, v any) {
		text, _ := v.(string)
		found = found || mentions(key, names) || mentions(text, names)
	})
	return found
}
