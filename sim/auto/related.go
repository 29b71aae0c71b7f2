package auto

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/word"
)

// changed is a version of an object and who made it.
type changed struct {
	ref    history.Ref
	uid    string
	key    history.Key // that was reconciled
	object map[string]any
	owners []string // UIDs
}

// changesOf are all versions of all objects but Leases and Events.
func changesOf(h *history.History) (out []changed) {
	for i := range h.Events {
		e := &h.Events[i]
		for _, c := range e.Changes {
			v := changed{ref: c.Ref, uid: c.UID, key: e.Reconcile.Key}
			if c.Ref.Chatter() || json.Unmarshal(c.Object, &v.object) != nil {
				continue
			}
			m, _ := v.object["metadata"].(map[string]any)
			owners, _ := m["ownerReferences"].([]any)
			for _, o := range owners {
				owner, _ := o.(map[string]any)
				uid, _ := owner["uid"].(string)
				v.owners = append(v.owners, uid)
			}
			out = append(out, v)
		}
	}
	return out
}

// place is the key by which controllers know an object.
type place struct{ namespace, name string }

// belongings are the versions of some objects and of all that belongs to them: their owners, what
// they own, and what a reconcile of one of their names has written.
func belongings(all []changed, of map[history.Ref]bool) (out []changed) {
	refs := maps.Clone(of)
	uids, places := map[string]bool{}, map[place]bool{}
	for before := -1; before < len(refs)+len(uids); {
		before = len(refs) + len(uids)
		for _, c := range all {
			written := c.key.Name != "" && places[place{c.key.Namespace, c.key.Name}]
			owned := slices.ContainsFunc(c.owners, func(uid string) bool { return uids[uid] })
			if !refs[c.ref] && !uids[c.uid] && !written && !owned {
				continue
			}
			refs[c.ref], uids[c.uid] = true, true
			places[place{c.ref.Namespace, c.ref.Name}] = true
			for _, uid := range c.owners {
				uids[uid] = true
			}
		}
	}
	for _, c := range all {
		if refs[c.ref] {
			out = append(out, c)
		}
	}
	return out
}

// related reports whether one of some objects names, selects or owns one of the others, or is one
// of them. Objects of the same name count as naming one another.
func related(some, others []changed) bool {
	return refer(some, others) || refer(others, some)
}

// refer reports whether one of some objects names or selects one of the others.
func refer(some, others []changed) bool {
	names := map[string]bool{}
	var sets []labels.Set
	for _, o := range others {
		names[o.ref.Name] = true
		m, _ := o.object["metadata"].(map[string]any)
		if m["labels"] == nil {
			sets = append(sets, labels.Set{}) // what has no label can be selected, too
		}
		walk(o.object, func(key string, v any) {
			if key == "labels" {
				sets = append(sets, stringsOf(v))
			}
		})
	}
	for _, s := range some {
		found := false
		walk(s.object, func(key string, v any) {
			if text, ok := v.(string); ok {
				found = found || names[text] || mentions(text, names)
			}
			selector := strings.HasSuffix(strings.ToLower(key), "selector")
			found = found || mentions(key, names) || selector && selects(v, sets)
		})
		if found {
			return true
		}
	}
	return false
}

// walk calls f with each value of an object that is not metadata of the server's own, and with the
// key that it has. The message of a condition is a sentence for people, in which "a" is a word.
func walk(v any, f func(key string, v any)) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if k != "managedFields" && k != "message" && k != "uid" {
				f(k, x)
				walk(x, f)
			}
		}
	case []any:
		for _, x := range v {
			f("", x)
			walk(x, f)
		}
	}
}

// mentions reports whether one of the names is in a text, with no letter or digit next to it.
func mentions(text string, names map[string]bool) bool {
	for name := range names {
		if word.Find(text, name, 0) >= 0 {
			return true
		}
	}
	return false
}

// selects reports whether a selector matches one of the sets of labels. One that cannot be read
// counts as one that does.
func selects(selector any, sets []labels.Set) bool {
	matches := func(s labels.Selector, err error) bool {
		return err != nil || slices.ContainsFunc(sets, func(set labels.Set) bool { return s.Matches(set) })
	}
	switch v := selector.(type) {
	case nil:
		return false
	case string:
		return matches(labels.Parse(v))
	case map[string]any:
		if v["matchLabels"] == nil && v["matchExpressions"] == nil {
			return matches(labels.SelectorFromSet(stringsOf(v)), nil)
		}
		var s metav1.LabelSelector
		if runtime.DefaultUnstructuredConverter.FromUnstructured(v, &s) != nil {
			return true
		}
		return matches(metav1.LabelSelectorAsSelector(&s))
	}
	return true
}

// stringsOf are the texts of a map.
func stringsOf(v any) map[string]string {
	out := map[string]string{}
	m, _ := v.(map[string]any)
	for k, x := range m {
		out[k], _ = x.(string)
	}
	return out
}
