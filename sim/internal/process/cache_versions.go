// This file compares the versions of objects in the caches of an incarnation with those at the
// server, at each dequeue.

package process

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// versionsSeen returns the objects with the key's name of which a cache holds another version than
// the server. If several caches hold an object, the oldest version counts.
func (i *Incarnation) versionsSeen(item request) []history.Seen {
	i.mu.Lock()
	informers := i.informers
	i.mu.Unlock()
	held := map[history.Ref]int64{}
	for _, in := range informers {
		ref := history.Ref{Group: in.kind.Group, Kind: in.kind.Kind, Namespace: item.Namespace, Name: item.Name}
		held[ref] += 0 // it is asked about
		if obj, ok, _ := in.sorted.GetByKey(strings.TrimPrefix(item.String(), "/")); ok {
			if m, err := meta.Accessor(obj); err == nil {
				revision, _ := strconv.ParseInt(m.GetResourceVersion(), 10, 64)
				if known := held[ref]; known == 0 || revision < known {
					held[ref] = revision
				}
			}
		}
	}
	var out []history.Seen
	for ref, revision := range held {
		s := history.Seen{Ref: ref, Cache: revision}
		o, there := i.world.History.Object(ref.Group, ref.Kind, ref.Namespace, ref.Name)
		if there {
			s.Server = o.Revision
		}
		if s.Cache != s.Server && (s.Cache != 0 || i.covers(ref, o)) {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b history.Seen) int { return a.Ref.Compare(b.Ref) })
	return out
}

// covers reports whether the incarnation watches an object, as far as its open watches tell: caches
// may be of some namespaces, or of objects with some labels.
func (i *Incarnation) covers(ref history.Ref, o history.Object) bool {
	var m *metav1.PartialObjectMetadata
	known := false
	for _, s := range i.world.Wire.Watches.Streams() {
		if info := s.Call.Info; s.Port != i.Port || s.Kind != ref.Kind || info.Group != ref.Group {
			continue
		}
		if known = true; m == nil {
			m = &metav1.PartialObjectMetadata{}
			if o.Into(m) != nil {
				return true
			}
		}
		if selects(s.Call, m) {
			return true
		}
	}
	return !known
}

// selects reports whether a watch is of an object, by its namespace, labels and name.
func selects(watch *wire.Call, m *metav1.PartialObjectMetadata) bool {
	if ns := watch.Info.Namespace; ns != "" && ns != m.Namespace {
		return false
	}
	query := watch.Request.URL.Query()
	if s, err := labels.Parse(query.Get("labelSelector")); err == nil && !s.Matches(labels.Set(m.Labels)) {
		return false
	}
	s, err := fields.ParseSelector(query.Get("fieldSelector"))
	if err != nil {
		return true
	}
	known := map[string]string{"metadata.name": m.Name, "metadata.namespace": m.Namespace}
	for _, r := range s.Requirements() {
		value, ok := known[r.Field]
		equals := r.Operator == "=" || r.Operator == "=="
		if ok && (value == r.Value) != equals {
			return false
		}
	}
	return true
}
