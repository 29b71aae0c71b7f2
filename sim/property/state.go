package property

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/wavetank/wavetank/sim/history"
)

// ActionableStatus holds while the status of an object has named the root cause for at least share (0 to 1) of the virtual
// time since grace after the last disturbance. For Eventually. root is a word that the scenario plants in the first, genuine
// failure, for example "RC-17"; a status names it when one of its strings contains it. What counts is the object at the
// server, as a user with kubectl sees it; while the object does not exist nothing is named.
func ActionableStatus(of history.Ref, root string, share float64, grace time.Duration) func(*history.History) error {
	return perRun(func() judge {
		var from, since, named history.Time // judged from; the last change of the answer; time in which it was named
		naming := false
		upTo := func(now history.Time) {
			if naming && now > max(since, from) {
				named += now - max(since, from)
			}
			since = now
		}
		return judge{
			event: func(_ *history.History, e *history.Event) error {
				if disturbs(e) {
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
				if all > 0 && breaks("ActionableStatus: a share that is too small", float64(named) < share*float64(all)) {
					return fmt.Errorf("the status of %s named %q for %v of the %v since %s, %.1f %%; %.1f %% are asked for",
						of, root, named, all, history.Clock(from), 100*float64(named)/float64(all), 100*share)
				}
				return nil
			},
		}
	})
}

// names says whether a string in the object's status contains the word.
func names(object []byte, word string) bool {
	var o struct{ Status any }
	if json.Unmarshal(object, &o) != nil {
		return false
	}
	status, _ := json.Marshal(o.Status)
	quoted, _ := json.Marshal(word)
	return bytes.Contains(status, bytes.Trim(quoted, `"`))
}

// BoundedRecords holds while no owner has more than most of the records: objects that a controller keeps about something
// and should prune, as Helm's release Secrets, ReplicaSets or old Jobs. For Always. owner says in words whose record an
// object is, "" for nobody's; when it is nil, that is the owner in metadata.ownerReferences that is marked as the
// controller, or else the first.
func BoundedRecords(records history.Ref, most int, owner func(history.Object) string) func(*history.History) error {
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
					return fmt.Errorf("%s has %d objects of kind %s with %s; %d are allowed", of, count[of], c.Ref.Kind, what(e), most)
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

// CrashSafe holds when a settled world is in the state that it would be in if nothing had gone wrong: faults may change when
// and how often things happen, not what remains. For Eventually. undisturbed is what [sim.World.Undisturbed] returns; the
// n-th Settle is compared with the n-th Settle there. Without patterns all objects but Leases and Events are compared.
//
// Left aside is what differs between any two runs: UIDs, resource versions, generations, managed fields, times, and names
// that were generated, wherever they are written; and the annotation that sim.Conflict leaves. Where the property "settles"
// is switched off, a world that has not settled is compared with none. The scenario itself must not depend on choices: a property of this kind cannot tell the world's
// drawn input from a controller's mistake.
//
// [sim.World.Undisturbed]: https://pkg.go.dev/github.com/wavetank/wavetank/sim#World.Undisturbed
func CrashSafe(undisturbed *history.History, of ...history.Ref) func(*history.History) error {
	return perRun(func() judge {
		there, here := &states{of: of}, &states{of: of}
		settled := 0
		read := 0
		return judge{
			event: func(_ *history.History, e *history.Event) error {
				here.take(e)
				if e.Kind == history.Settled {
					settled++
				}
				return nil
			},
			now: func(h *history.History) error {
				if undisturbed == nil || undisturbed == h || !here.rest {
					return nil // this is the undisturbed run, or it has not been made yet
				}
				for ; read < len(undisturbed.Events) && there.settled < settled; read++ {
					there.take(&undisturbed.Events[read])
				}
				if there.settled < settled {
					return nil // it did not come that far
				}
				if diff := difference(there.lines(), here.lines()); breaks("CrashSafe: another state", diff != "") {
					return fmt.Errorf("at %s the world differs from the undisturbed run: %s", history.Clock(h.Now()), diff)
				}
				return nil
			},
		}
	})
}

// states follows the objects of a run.
type states struct {
	of      []history.Ref
	live    map[history.Ref][]byte
	settled int  // how many Settles there were
	rest    bool // the latest event was one
	// drawn is, by what the server has drawn at random, what to read in its place: UIDs and generated names.
	drawn map[string]string
}

func (s *states) take(e *history.Event) {
	if s.live == nil {
		s.live, s.drawn = map[history.Ref][]byte{}, map[string]string{}
	}
	s.rest = e.Kind == history.Settled
	for _, c := range e.Changes {
		if c.Type == "ADDED" {
			s.drawn[c.UID] = "a UID"
			if g := metadataOf(c.Object, "generateName").GenerateName; g != "" && g != c.Ref.Name {
				s.drawn[c.Ref.Name] = g + "…"
			}
		}
		if delete(s.live, c.Ref); c.Type != "DELETED" && anyOf(s.of, c.Ref) {
			s.live[c.Ref] = c.Object
		}
	}
	if e.Kind == history.Settled {
		s.settled++
	}
}

// lines are the objects' fields, "Kind namespace/name path = value" each, without what differs between any two runs.
func (s *states) lines() []string {
	var out []string
	generated := map[history.Ref][]string{}
	plain := s.reader()
	for _, ref := range sorted(s.live) {
		var o map[string]any
		if json.Unmarshal(s.live[ref], &o) != nil {
			continue
		}
		if g := metadataOf(s.live[ref], "generateName").GenerateName; g != "" {
			ref.Name = g + "…"
			m, _ := o["metadata"].(map[string]any)
			delete(m, "name")
			body, _ := json.Marshal(plain(o))
			generated[ref] = append(generated[ref], string(body))
			continue
		}
		out = append(out, leavesOf(plain(ref.String()).(string), plain(o))...)
	}
	sort.Strings(out)
	for _, ref := range sorted(generated) {
		sort.Strings(generated[ref]) // which is which depends on the names that were drawn
		for i, body := range generated[ref] {
			out = append(out, fmt.Sprintf("%s #%d = %s", ref, i+1, body))
		}
	}
	return out
}

// reader makes the function that takes what differs between any two runs out of a decoded object.
func (s *states) reader() func(any) any {
	var pairs []string
	for _, drawn := range slices.SortedFunc(maps.Keys(s.drawn), func(a, b string) int { // a name may begin with another one
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	}) {
		pairs = append(pairs, drawn, s.drawn[drawn])
	}
	words := strings.NewReplacer(pairs...)
	var plain func(v any) any
	plain = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			same := map[string][]any{} // by what keys read like: there may be several generated names among them
			for k, x := range v {
				switch k {
				case "uid", "resourceVersion", "generation", "observedGeneration", "managedFields", touched:
				default:
					if y := plain(x); k != "annotations" || !emptied(x, y) {
						same[words.Replace(k)] = append(same[words.Replace(k)], y)
					}
				}
			}
			out := map[string]any{}
			for k, all := range same {
				if out[k] = all[0]; len(all) > 1 {
					slices.SortFunc(all, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
					out[k] = all
				}
			}
			return out
		case []any:
			out := make([]any, len(v))
			for i, x := range v {
				out[i] = plain(x)
			}
			return out
		case string:
			if _, err := time.Parse(time.RFC3339, v); err == nil {
				return "a time"
			}
			return words.Replace(v)
		}
		return v
	}
	return plain
}

// touched is the annotation that sim.Conflict writes.
const touched = "wavetank.example/touched"

// emptied says whether a map had something in it and has no longer.
func emptied(before, after any) bool {
	b, _ := before.(map[string]any)
	a, is := after.(map[string]any)
	return is && len(b) > 0 && len(a) == 0
}

// leavesOf are the fields of a decoded value in order.
func leavesOf(path string, v any) []string {
	leaves := map[string]string{}
	flatten("", v, leaves)
	out := make([]string, 0, len(leaves))
	for k, x := range leaves {
		out = append(out, path+" "+k+" = "+x)
	}
	sort.Strings(out)
	return out
}

// difference names the first line that one side has and the other has not; "" when both are equal.
func difference(want, got []string) string {
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got) || i < len(want) && want[i] < got[i]:
			return fmt.Sprintf("there it has %s", strings.TrimSpace(want[i]))
		case i >= len(want) || want[i] > got[i]:
			return fmt.Sprintf("here it has %s", strings.TrimSpace(got[i]))
		}
	}
	return ""
}
