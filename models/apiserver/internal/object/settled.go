package object

// Reading an object prunes, coerces and defaults it, and writing one looks for repeated elements of
// lists. The library walks the whole object five times for that, and nearly always finds nothing to
// do: what a client sends back was read before. One walk over the object finds that out. The
// library alone changes objects and reports errors.

import (
	"maps"
	"slices"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// settled is a schema for values that pruning, coercion and defaults leave as they are. Nothing but
// empty objects, lists and other values is settled without a schema.
type settled struct {
	properties map[string]*settled
	values     *settled
	more       bool // it has other members than its properties, of the schema values
	open       bool // it may have any other members
	items      *settled
	defaults   []string // members that are filled in
	library    bool     // only the library knows
	noNull     bool     // a null is dropped
	// keys are those of a list of type map. A set has none.
	set   bool
	keys  []string
	lists bool // a set or a map, or a part is one
}

// maxKeys is the number of keys of a list of type map that can be compared here.
const maxKeys = 4

// settledOf makes the form of a root schema.
func settledOf(s *structural.Structural) *settled {
	out := settledPart(s)
	metadata := s.Properties["metadata"]
	out.library = out.library || metadata.Default.Object != nil || len(metadata.Properties) > 0 ||
		metadata.AdditionalProperties != nil
	for _, name := range []string{"kind", "apiVersion", "metadata"} { // they are left alone
		if out.properties == nil {
			out.properties = map[string]*settled{}
		}
		out.properties[name] = &settled{open: true}
	}
	return out
}

func settledPart(s *structural.Structural) *settled {
	if s == nil {
		return nil
	}
	out := &settled{open: s.XPreserveUnknownFields, items: settledPart(s.Items),
		noNull:  !s.Nullable && s.Default.Object == nil,
		library: s.XEmbeddedResource || s.XPreserveUnknownFields && s.Items != nil}
	out.lists = out.items.hasLists()
	if len(s.Properties) > 0 {
		out.properties = make(map[string]*settled, len(s.Properties))
	}
	for name := range s.Properties {
		p := s.Properties[name]
		if p.Default.Object != nil {
			out.defaults = append(out.defaults, name)
		}
		out.properties[name] = settledPart(&p)
		out.lists = out.lists || out.properties[name].lists
	}
	if s.AdditionalProperties != nil {
		out.more, out.values = true, settledPart(s.AdditionalProperties.Structural)
		out.lists = out.lists || out.values.hasLists()
	}
	if s.XListType != nil && *s.XListType != "atomic" {
		out.lists, out.set, out.keys = true, *s.XListType == "set", s.XListMapKeys
	}
	return out
}

func (s *settled) hasLists() bool { return s != nil && s.lists }

// holds reports whether a value is left as it is. False means that the library has to be asked.
func (s *settled) holds(value any) bool {
	switch value := value.(type) {
	case nil:
		return false
	case []any:
		var items *settled
		if s != nil {
			items = s.items
		}
		for _, item := range value {
			if !items.holds(item) {
				return false
			}
		}
		return s == nil || !s.library
	case map[string]any:
		return s.holdsMembers(value)
	}
	return true
}

func (s *settled) holdsMembers(members map[string]any) bool {
	if s == nil {
		return len(members) == 0
	}
	if s.library {
		return false
	}
	for _, name := range s.defaults {
		if _, has := members[name]; !has {
			return false
		}
	}
	for name, member := range members {
		part, known := s.properties[name]
		if !known && !s.more {
			if s.open {
				continue
			}
			return false
		}
		if !known {
			part = s.values
		}
		if !part.holds(member) {
			return false
		}
	}
	return true
}

// withoutNulls drops the nulls that the library drops: Go writes one for a time that is zero. The
// result shares with the value what has none.
func (s *settled) withoutNulls(value any) (out any, dropped bool) {
	if s == nil {
		return value, false
	}
	switch all := value.(type) {
	case map[string]any:
		kept := all
		for name, member := range all {
			part, known := s.properties[name]
			if !known {
				part = s.values
			}
			less, fewer := part.withoutNulls(member)
			null := member == nil && part != nil && part.noNull
			if (null || fewer) && !dropped {
				kept, dropped = maps.Clone(all), true
			}
			if null {
				delete(kept, name)
			} else if fewer {
				kept[name] = less
			}
		}
		return kept, dropped
	case []any:
		kept := all
		for i, item := range all {
			less, fewer := s.items.withoutNulls(item)
			if fewer && !dropped {
				kept, dropped = slices.Clone(all), true
			}
			if fewer {
				kept[i] = less
			}
		}
		return kept, dropped
	}
	return value, false
}

// unique reports whether no list of type set or map repeats an element. False means that the
// library has to be asked.
func (s *settled) unique(value any) bool {
	if !s.hasLists() {
		return true
	}
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			if s.more && !s.values.unique(member) || !s.properties[name].unique(member) {
				return false
			}
		}
	case []any:
		if (s.set || len(s.keys) > 0) && !s.uniqueElements(value) {
			return false
		}
		for _, item := range value {
			if !s.items.unique(item) {
				return false
			}
		}
	}
	return true
}

func (s *settled) uniqueElements(list []any) bool {
	if len(s.keys) > maxKeys {
		return false
	}
	seen := make(map[[maxKeys]any]bool, len(list))
	for _, item := range list {
		var id [maxKeys]any
		if s.set {
			id[0] = item
		} else {
			members, _ := item.(map[string]any)
			for i, key := range s.keys {
				id[i] = members[key] // a missing one is not plain
			}
		}
		for _, part := range id[:max(1, len(s.keys))] {
			if !plain(part) {
				return false
			}
		}
		if seen[id] {
			return false
		}
		seen[id] = true
	}
	return true
}

// plain reports whether a value is no object, list or null.
func plain(value any) bool {
	switch value.(type) {
	case string, bool, int64, float64:
		return true
	}
	return false
}
