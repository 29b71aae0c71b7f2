package property

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wavetank/wavetank/history"
)

// What a sentence about differences shows at most.
const (
	mostDifferences = 5  // fields
	longestValue    = 60 // bytes of each of the two values
)

// mismatch is a field, an element or an object that two states have differently, or that one of
// them lacks.
type mismatch struct {
	text string // in words
	kind string // of the object
	path string
	calm any // the value in either state, or missing
	here any
}

// missing is the value of what a state does not have.
type missing struct{}

// MarshalJSON implements [json.Marshaler].
func (missing) MarshalJSON() ([]byte, error) { return []byte(`"…"`), nil }

// against is the word for the state that another one is compared with.
type against string

// mismatches compares two decoded values and appends the fields that differ.
func (a against) mismatches(path string, calm, here any, out []mismatch) []mismatch {
	switch c := calm.(type) {
	case map[string]any:
		if h, ok := here.(map[string]any); ok {
			return a.members(path, c, h, step, out)
		}
	case []any:
		if h, ok := here.([]any); ok {
			return a.elements(path, c, h, out)
		}
	}
	if reflect.DeepEqual(calm, here) || sameVersion(calm, here) {
		return out
	}
	return append(out, a.differs(path, calm, here))
}

// copiedVersion is a text that may be a copy of an object's newest resource version. It reads like
// the text.
type copiedVersion struct {
	text string
	of   history.Ref
}

// MarshalJSON implements [json.Marshaler].
func (c copiedVersion) MarshalJSON() ([]byte, error) { return json.Marshal(c.text) }

// sameVersion reports whether two values are the newest version of the same object, in either run,
// or the same text.
func sameVersion(a, b any) bool {
	x, isX := a.(copiedVersion)
	y, isY := b.(copiedVersion)
	switch {
	case isX && isY:
		return x.of == y.of || x.text == y.text
	case isX:
		return x.text == b
	}
	return isY && y.text == a
}

func (a against) differs(path string, calm, here any) mismatch {
	return mismatch{text: fmt.Sprintf("%s is %s, %s %s", path, short(here), a, short(calm)), path: path, calm: calm,
		here: here}
}

// members compares two maps by their keys; step makes a key a part of the path.
func (a against) members(path string, calm, here map[string]any, step func(string) string, out []mismatch) []mismatch {
	all := maps.Clone(calm)
	maps.Copy(all, here)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		c, calmHas := calm[k]
		h, hereHas := here[k]
		switch {
		case !calmHas:
			out = append(out, a.differs(path+step(k), missing{}, h))
		case !hereHas:
			out = append(out, a.differs(path+step(k), c, missing{}))
		default:
			out = a.mismatches(path+step(k), c, h, out)
		}
	}
	return out
}

// elements compares two lists. Elements with names are compared by name, others regardless of their
// order.
func (a against) elements(path string, calm, here []any, out []mismatch) []mismatch {
	c, h := byName(calm), byName(here)
	if c != nil && h != nil {
		return a.members(path, c, h, func(name string) string { return "[" + name + "]" }, out)
	}
	calm, here = unlike(calm, here)
	for i := range max(len(calm), len(here)) {
		switch {
		case i >= len(calm):
			out = append(out, mismatch{text: fmt.Sprintf("%s[] has %s, %s it has not", path, short(here[i]), a),
				path: path + "[]", calm: missing{}, here: here[i]})
		case i >= len(here):
			out = append(out, mismatch{text: fmt.Sprintf("%s[] lacks %s, %s it has it", path, short(calm[i]), a),
				path: path + "[]", calm: calm[i], here: missing{}})
		default:
			out = a.mismatches(path+"[]", calm[i], here[i], out)
		}
	}
	return out
}

// byName are the elements of a list under their names; nil if some have none, or the same one.
func byName(list []any) map[string]any {
	out := map[string]any{}
	for _, x := range list {
		name := nameOf(x)
		if _, twice := out[name]; name == "" || twice {
			return nil
		}
		out[name] = x
	}
	return out
}

// unlike are the elements of two lists without those that both have, each in order.
func unlike(a, b []any) (onlyA, onlyB []any) {
	count := map[string]int{}
	for _, x := range b {
		count[text(x)]++
	}
	for _, x := range a {
		if count[text(x)]--; count[text(x)] < 0 {
			onlyA = append(onlyA, x)
		}
	}
	for _, x := range slices.Backward(b) {
		if count[text(x)]--; count[text(x)] >= 0 {
			onlyB = append(onlyB, x)
		}
	}
	order := func(x, y any) int { return strings.Compare(text(x), text(y)) }
	slices.SortFunc(onlyA, order)
	slices.SortFunc(onlyB, order)
	return onlyA, onlyB
}

func text(v any) string {
	t, _ := json.Marshal(v) // was decoded from JSON
	return string(t)
}

// short is a value as JSON, cut where it is long.
func short(v any) string {
	if v == (any)(missing{}) {
		return "nothing"
	}
	t := text(v)
	if len(t) > longestValue {
		t = strings.ToValidUTF8(t[:longestValue], "") + "…"
	}
	return t
}

// step is a path's part for a key: keys with other characters than a field's are quoted.
func step(key string) string {
	if strings.ContainsAny(key, "./[] ") {
		return fmt.Sprintf("[%q]", key)
	}
	return "." + key
}

// difference says in which fields two states differ, in order, with both values; "" when they are
// equal.
func (a against) difference(calm, here map[history.Ref][]any) string {
	return sentence(a.differences(calm, here))
}

// differences are the fields in which two states differ, in order.
func (a against) differences(calm, here map[history.Ref][]any) (all []mismatch) {
	refs := maps.Clone(calm)
	maps.Copy(refs, here)
	for _, ref := range sorted(refs) {
		name, first := ref.String(), len(all)
		c, h := unlike(calm[ref], here[ref])
		for i := range max(len(c), len(h)) {
			switch {
			case i >= len(c):
				all = append(all, mismatch{text: fmt.Sprintf("%s exists here, %s it does not", name, a),
					calm: missing{}, here: "exists"})
			case i >= len(h):
				all = append(all, mismatch{text: fmt.Sprintf("%s does not exist here, %s it does", name, a),
					calm: "exists", here: missing{}})
			default:
				all = a.mismatches(name+" ", c[i], h[i], all)
			}
		}
		for i := range all[first:] {
			m := &all[first+i]
			m.kind, m.path = ref.Kind+"."+ref.Group, strings.TrimPrefix(m.path, name+" ")
		}
	}
	return all
}

// sentence are the first of the fields that differ, in words.
func sentence(all []mismatch) string {
	shown := all[:min(len(all), mostDifferences)]
	out := make([]string, 0, len(shown)+1)
	for _, m := range shown {
		out = append(out, m.text)
	}
	if more := len(all) - len(shown); more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, "; ")
}

// exchanged reports whether objects of one kind have exchanged values, and nothing else differs:
// each value is here at another object than there.
func exchanged(all []mismatch) bool {
	count := map[string]int{}
	for _, m := range all {
		count[m.kind+" "+m.path+" "+text(m.here)]++
		count[m.kind+" "+m.path+" "+text(m.calm)]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// counters are the names of fields that count attempts.
var counters = regexp.MustCompile(`(?i)(attempt|retr(y|ie)|restart|fail(ed|ure)?|error|trie)(s|count)?$`)

// countsAttempts reports whether a field counts what faults make happen more often, and is ahead by
// no more than a number of failures.
func (m mismatch) countsAttempts(failures int) bool {
	here, counted := count(m.here)
	calm, before := count(m.calm)
	return counted && (before || m.calm == any(missing{})) && counters.MatchString(m.path) && here > calm &&
		here-calm <= failures
}

// count is a value as a number of times.
func count(v any) (int, bool) {
	text, kind := scalar(v)
	n, err := strconv.Atoi(text)
	return n, err == nil && kind != "bool"
}
