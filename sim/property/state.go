package property

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/wavetank/wavetank/history"
)

// ActionableStatus holds if the status of an object has named the root cause for at least share (0
// to 1) of the virtual time since grace after the last disturbance. For Eventually. root is a word
// that the scenario puts into the first, genuine failure, for example "RC-17". A status names it if
// one of its strings contains it. The object at the server counts, as a user with kubectl sees it.
// While the object does not exist, nothing is named.
func ActionableStatus(of history.Ref, root string, share float64, grace time.Duration) Property {
	return perRun(func() judge {
		var from, since, named history.Time // judged from; the last change of the answer; time in which it was named
		naming := false
		var disturbed disturbances
		upTo := func(now history.Time) {
			if naming && now > max(since, from) {
				named += now - max(since, from)
			}
			since = now
		}
		return judge{
			event: func(_ *history.History, e *history.Event) error {
				if disturbed.by(e) {
					since, from, named = e.At, e.At+grace, 0
				}
				for _, c := range e.Changes {
					if selects(of, c.Ref) {
						upTo(e.At)
						naming = c.Type != "DELETED" && names(c.Object, root)
					}
				}
				return nil
			},
			now: func(h *history.History) error {
				upTo(h.Now())
				all := h.Now() - from
				if all > 0 &&
					breaks("ActionableStatus: a share that is too small", float64(named) < share*float64(all)) {
					return fmt.Errorf("the status of %s named %q for %v of the %v since %s, "+
						"%.1f %%; %.1f %% are asked for",
						of, root, named, all, history.Clock(from), 100*float64(named)/float64(all), 100*share)
				}
				return nil
			},
		}
	})
}

// names reports whether a string in the object's status contains the word.
func names(object []byte, word string) bool {
	var o struct{ Status any }
	if json.Unmarshal(object, &o) != nil {
		return false
	}
	status, _ := json.Marshal(o.Status)
	quoted, _ := json.Marshal(word)
	return bytes.Contains(status, bytes.Trim(quoted, `"`))
}

// BoundedRecords holds if no owner has more than most records. Records are objects that a
// controller keeps about something and should prune, such as Helm's release Secrets, ReplicaSets or
// old Jobs. For Always. owner returns a name for the owner of a record, or "" for an object that is
// not a record. If owner is nil, it is the controller in metadata.ownerReferences, or else the
// first owner there.
func BoundedRecords(records history.Ref, most int, owner func(history.Object) string) Property {
	if owner == nil {
		owner = ownerOf
	}
	return perRun(func() judge {
		whose := map[history.Ref]string{}
		count := map[string]int{}
		return judge{event: func(_ *history.History, e *history.Event) error {
			for _, c := range e.Changes {
				if !selects(records, c.Ref) {
					continue
				}
				count[whose[c.Ref]]--
				if delete(whose, c.Ref); c.Type == "DELETED" {
					continue
				}
				of := owner(history.Object{Ref: c.Ref, UID: c.UID, Revision: c.Revision, JSON: c.Object})
				whose[c.Ref] = of
				count[of]++
				if of != "" && breaks("BoundedRecords: one record too many", count[of] > most) {
					return history.About(fmt.Errorf("%s has %d objects of kind %s with %s; %d are allowed",
						of, count[of], c.Ref.Kind, what(e), most), recordsOf(whose, of)...)
				}
			}
			return nil
		}}
	})
}

func ownerOf(o history.Object) string {
	owners := metadataOf(o.JSON, "ownerReferences").OwnerReferences
	if len(owners) == 0 {
		return ""
	}
	i := max(0, slices.IndexFunc(owners, func(o owner) bool { return o.Controller }))
	return fmt.Sprintf("%s %s (UID %s)", owners[i].Kind, owners[i].Name, owners[i].UID)
}

// recordsOf are the records of an owner.
func recordsOf(whose map[history.Ref]string, owner string) (out []history.Ref) {
	for _, ref := range sorted(whose) {
		if whose[ref] == owner {
			out = append(out, ref)
		}
	}
	return out
}
