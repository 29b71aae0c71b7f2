package property

import (
	"bytes"
	"encoding/json"
	"sort"

	"github.com/wavetank/wavetank/internal/kept"
)

// fieldChange is a field that two states of an object have differently.
type fieldChange struct {
	path  string
	value string // in the newer state, as JSON; "" if it has none
}

// changedFields returns the fields of two states that differ, in order. Most of a large object is
// the same in both states, so only the parts that differ are decoded.
func changedFields(before, after []byte) (changes []fieldChange) {
	d := changed{before: map[string]string{}, after: map[string]string{}}
	d.compare("", before, after)
	for _, path := range differing(d.before, d.after) {
		changes = append(changes, fieldChange{path, d.after[path]})
	}
	return changes
}

// changed collects the fields of the parts that differ.
type changed struct{ before, after map[string]string }

// compare takes two encoded values at a path; nil stands for none.
func (c changed) compare(path string, before, after []byte) {
	if bytes.Equal(before, after) {
		return
	}
	if was, is, ok := split(kept.Members, before, after); ok {
		if path == ".metadata" {
			for _, name := range systemFields {
				delete(was, name)
				delete(is, name)
			}
		}
		c.members(was, is, func(name string) string { return path + "." + name })
		return
	}
	if was, is, ok := split(namedElements, before, after); ok {
		c.members(was, is, func(name string) string { return path + "[" + name + "]" })
		return
	}
	flattenRaw(path, before, c.before)
	flattenRaw(path, after, c.after)
}

func (c changed) members(before, after map[string][]byte, at func(name string) string) {
	for name, is := range after {
		c.compare(at(name), before[name], is)
	}
	for name, was := range before {
		if _, both := after[name]; !both {
			c.compare(at(name), was, nil)
		}
	}
}

// split splits two values; a missing one has no parts. It is not ok if one cannot be split.
func split(into func([]byte) (map[string][]byte, bool), a, b []byte) (x, y map[string][]byte, ok bool) {
	ok = true
	if a != nil {
		x, ok = into(a)
	}
	if ok && b != nil {
		y, ok = into(b)
	}
	return x, y, ok
}

// namedElements returns the elements of a list by their names; ok is false if one has none, or two
// have the same.
func namedElements(list []byte) (named map[string][]byte, ok bool) {
	elements, ok := kept.Elements(list)
	named = make(map[string][]byte, len(elements))
	for _, element := range elements {
		name := rawName(element)
		if _, twice := named[name]; name == "" || twice {
			return nil, false
		}
		named[name] = element
	}
	return named, ok
}

// rawName is nameOf for an encoded element.
func rawName(element []byte) (name string) {
	members, _ := kept.Members(element)
	for _, key := range nameKeys {
		if raw := members[key]; json.Unmarshal(raw, &name) == nil && name != "" {
			return name
		}
	}
	return ""
}

// flattenRaw writes the leaves of an encoded value down by their paths.
func flattenRaw(path string, raw []byte, out map[string]string) {
	var v any
	if json.Unmarshal(raw, &v) == nil {
		flatten(path, v, out)
	}
}

// systemFields are the fields of metadata that only the server sets.
var systemFields = []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp",
	"deletionTimestamp", "deletionGracePeriodSeconds"}

// fieldsOf are an object's fields that writers set on purpose.
var fieldsOf = kept.Of(func(object []byte) map[string]string {
	out := map[string]string{}
	var o map[string]any
	if json.Unmarshal(object, &o) != nil {
		return out
	}
	if m, ok := o["metadata"].(map[string]any); ok {
		for _, k := range systemFields {
			delete(m, k)
		}
	}
	flatten("", o, out)
	return out
})

// flatten writes the leaves of a decoded value down by their paths.
func flatten(path string, v any, out map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			flatten(path+"."+k, x, out)
		}
	case []any:
		for _, x := range v {
			if name := nameOf(x); name != "" {
				flatten(path+"["+name+"]", x, out)
			} else {
				value := leaf(x)
				out[path+"["+value+"]"] = value
			}
		}
	default:
		out[path] = leaf(v)
	}
}

// leaf is a decoded value as JSON. Most are short plain texts, which need no encoder.
func leaf(v any) string {
	s, ok := v.(string)
	for i := 0; ok && i < len(s); i++ {
		ok = s[i] >= ' ' && s[i] < 0x7f && s[i] != '"' && s[i] != '\\' && s[i] != '<' && s[i] != '>' && s[i] != '&'
	}
	if ok {
		return `"` + s + `"`
	}
	value, _ := json.Marshal(v)
	return string(value)
}

// nameKeys tell the elements of a list apart, as the list-map keys of Kubernetes' own types do.
var nameKeys = []string{"uid", "name", "type", "key", "ip"}

// nameOf returns the name of an element of a list; "" if it has none.
func nameOf(v any) string {
	m, _ := v.(map[string]any)
	for _, key := range nameKeys {
		if s, ok := m[key].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// differing are the paths whose values differ, in order.
func differing(before, after map[string]string) (out []string) {
	for path, x := range after {
		if y, ok := before[path]; !ok || x != y {
			out = append(out, path)
		}
	}
	for path := range before {
		if _, ok := after[path]; !ok {
			out = append(out, path)
		}
	}
	sort.Strings(out)
	return out
}
