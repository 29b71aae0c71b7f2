// This file finds random values. A correct program may keep a UUID that it has drawn, so two runs
// end in states that differ in it. Values that differ between two undisturbed runs with other
// random numbers are left out when a disturbed run is compared.

package property

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/word"
)

// redrawn is what differs between two undisturbed states.
type redrawn struct {
	names  map[history.Ref][]word.Pattern // of objects, by kind: see nameless
	keys   map[place][]word.Pattern       // of fields or named elements that differ, by where they are
	common map[place]map[string]bool      // names or elements that both states have there
	fields map[place]*drawnField
	order  []*drawnField
}

// place is a path in an object.
type place struct {
	ref  history.Ref
	path string
}

// drawnField is a field whose value differs.
type drawnField struct {
	place
	n       int // its number in order, from 1
	pattern word.Pattern
	flag    bool        // the value is a boolean
	copyOf  *drawnField // the first field that has the same value in either state; itself if it is the first
}

// shortestCopy is how long a random value must be, in bytes, to be known again. Two shorter ones
// may be equal by chance.
const shortestCopy = 4

// learn compares two undisturbed states.
func learn(one, two map[history.Ref][]any) *redrawn {
	r := &redrawn{names: map[history.Ref][]word.Pattern{}, keys: map[place][]word.Pattern{},
		common: map[place]map[string]bool{}, fields: map[place]*drawnField{}}
	only := map[history.Ref][2][]string{} // names that one of the states has, by kind
	for i, pair := range [][2]map[history.Ref][]any{{one, two}, {two, one}} {
		for _, ref := range sorted(pair[0]) {
			kind, name := nameless(ref)
			if _, both := pair[1][ref]; both {
				r.noteCommon(place{kind, ""}, name)
			} else {
				names := only[kind]
				names[i] = append(names[i], name)
				only[kind] = names
			}
		}
	}
	for kind, names := range only {
		for _, p := range word.Pairs(names[0], names[1]) {
			r.names[kind] = append(r.names[kind], word.Between(p[0], p[1]))
		}
	}
	one, two = r.renamed(one), r.renamed(two)
	for _, ref := range sorted(one) {
		a, b := unlike(one[ref], two[ref])
		for i := range min(len(a), len(b)) {
			r.compare(place{ref, ""}, a[i], b[i])
		}
	}
	r.findCopies(one, two)
	return r
}

// nameless is the kind of an object as a Ref, and its name with its namespace.
func nameless(ref history.Ref) (kind history.Ref, name string) {
	return history.Ref{Cluster: ref.Cluster, Group: ref.Group, Kind: ref.Kind}, ref.Namespace + "/" + ref.Name
}

// renamed puts objects with random names under their patterns.
func (r *redrawn) renamed(state map[history.Ref][]any) map[history.Ref][]any {
	out := map[history.Ref][]any{}
	for _, ref := range sorted(state) {
		kind, name := nameless(ref)
		to := ref
		if p, ok := matching(r.names[kind], name); ok && !r.common[place{kind, ""}][name] {
			to = kind
			to.Name = p.String()
		}
		out[to] = append(out[to], state[ref]...)
	}
	return out
}

func matching(patterns []word.Pattern, s string) (word.Pattern, bool) {
	for _, p := range patterns {
		if _, ok := p.Match(s); ok {
			return p, true
		}
	}
	return word.Pattern{}, false
}

// compare notes where two values differ.
func (r *redrawn) compare(at place, one, two any) {
	switch a := one.(type) {
	case map[string]any:
		if b, ok := two.(map[string]any); ok {
			r.compareMembers(at, a, b, step)
		}
		return
	case []any:
		if b, ok := two.([]any); ok {
			r.compareElements(at, a, b)
		}
		return
	}
	x, kindX := scalar(one)
	y, kindY := scalar(two)
	if kindX == "" || kindX != kindY || x == y || r.fields[at] != nil {
		return
	}
	f := &drawnField{place: at, pattern: word.Between(x, y), flag: kindX == "bool"}
	r.fields[at], r.order = f, append(r.order, f)
	f.n, f.copyOf = len(r.order), f
}

// scalar is a value as a text, and its type; "" if it is none that a program draws.
func scalar(v any) (text, kind string) {
	switch v := v.(type) {
	case string:
		return v, "string"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), "number"
	case bool:
		return strconv.FormatBool(v), "bool"
	}
	return "", ""
}

// compareMembers compares two maps, and learns the patterns of keys that differ.
func (r *redrawn) compareMembers(at place, a, b map[string]any, step func(string) string) {
	var onlyA, onlyB []string
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if y, both := b[k]; both {
			r.noteCommon(at, k)
			r.compare(place{at.ref, at.path + step(k)}, a[k], y)
		} else {
			onlyA = append(onlyA, k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(b)) {
		if _, both := a[k]; !both {
			onlyB = append(onlyB, k)
		}
	}
	for _, p := range word.Pairs(onlyA, onlyB) {
		pattern := word.Between(p[0], p[1])
		r.keys[at] = append(r.keys[at], pattern)
		r.compare(place{at.ref, at.path + step(pattern.String())}, a[p[0]], b[p[1]])
	}
}

func (r *redrawn) compareElements(at place, a, b []any) {
	if x, y := byName(a), byName(b); x != nil && y != nil {
		r.compareMembers(at, x, y, element)
		return
	}
	x, y := unlike(a, b)
	for _, v := range a {
		if t := text(v); !slices.ContainsFunc(x, func(v any) bool { return text(v) == t }) {
			r.noteCommon(at, t)
		}
	}
	for i := range min(len(x), len(y)) {
		r.compare(place{at.ref, at.path + "[]"}, x[i], y[i])
	}
}

// element makes the name of an element a part of the path.
func element(name string) string { return "[" + name + "]" }

func (r *redrawn) noteCommon(at place, what string) {
	if r.common[at] == nil {
		r.common[at] = map[string]bool{}
	}
	r.common[at][what] = true
}

// findCopies finds out which fields hold the same random value in both states.
func (r *redrawn) findCopies(one, two map[history.Ref][]any) {
	inOne, inTwo := r.parts(one), r.parts(two)
	within := func(parts, all map[string]bool) bool {
		for p := range parts {
			if len(p) < shortestCopy || !all[p] {
				return false
			}
		}
		return len(parts) > 0
	}
	for i, f := range r.order {
		for _, g := range r.order[:i] {
			if g.copyOf == g && within(inOne[f], inOne[g]) && within(inTwo[f], inTwo[g]) {
				f.copyOf = g
				break
			}
		}
	}
}

// parts are the random values of a state, by field.
func (r *redrawn) parts(state map[history.Ref][]any) map[*drawnField]map[string]bool {
	out := map[*drawnField]map[string]bool{}
	r.replace(state, func(f *drawnField, part string) string {
		if out[f] == nil {
			out[f] = map[string]bool{}
		}
		out[f][part] = true
		return part
	})
	return out
}

// masked is a state with the same text in place of each random value. A field that holds a copy
// has the text of the field that it is a copy of, unless the value is not there.
func (r *redrawn) masked(state map[history.Ref][]any) map[history.Ref][]any {
	state = r.renamed(state)
	parts := r.parts(state)
	return r.replace(state, func(f *drawnField, part string) string {
		if f.copyOf != f && !parts[f.copyOf][part] {
			return "a random value other than that at " + f.copyOf.ref.String() + " " + f.copyOf.path
		}
		return "random value " + strconv.Itoa(f.copyOf.n)
	})
}

// replace puts other texts in place of random values.
func (r *redrawn) replace(state map[history.Ref][]any, by func(*drawnField, string) string) map[history.Ref][]any {
	out := map[history.Ref][]any{}
	for _, ref := range sorted(state) {
		for _, v := range state[ref] {
			out[ref] = append(out[ref], r.value(place{ref, ""}, v, by))
		}
	}
	return out
}

func (r *redrawn) value(at place, v any, by func(*drawnField, string) string) any {
	inner := func(as string, x any, step func(string) string) any {
		return r.value(place{at.ref, at.path + step(as)}, x, by)
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			as := r.key(at, k)
			to := as
			for n := 2; out[to] != nil; n++ {
				to = fmt.Sprintf("%s (%d)", as, n)
			}
			out[to] = inner(as, v[k], step)
		}
		return out
	case []any:
		out := make([]any, len(v))
		named := byName(v) != nil
		for i, x := range v {
			switch {
			case named && len(r.keys[at])+len(r.common[at]) > 0:
				out[i] = inner(r.key(at, nameOf(x)), x, element)
			case r.common[at][text(x)]:
				out[i] = x
			default:
				out[i] = inner("", x, func(string) string { return "[]" })
			}
		}
		return out
	}
	f := r.fields[at]
	if s, kind := scalar(v); f != nil && f.flag == (kind == "bool") {
		if part, ok := f.pattern.Match(s); ok {
			return f.pattern.With(by(f, part))
		}
	}
	return v
}

// key is a key or a name without its random part.
func (r *redrawn) key(at place, k string) string {
	if p, ok := matching(r.keys[at], k); ok && !r.common[at][k] {
		return p.String()
	}
	return k
}

// remark says how many fields were left out.
func (r *redrawn) remark() string {
	n := len(r.order)
	for _, patterns := range r.names {
		n += len(patterns)
	}
	for _, patterns := range r.keys {
		n += len(patterns)
	}
	switch n {
	case 0:
		return ""
	case 1:
		return " (1 field is left out, as its value is random: it differs between two undisturbed runs)"
	}
	const many = " (%d fields are left out, as their values are random: they differ between two undisturbed runs)"
	return fmt.Sprintf(many, n)
}
