package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
)

// This file describes what a write changed, in a few words, for the lines of a rendered history.

const (
	maxEdits     = 2  // that a line has
	longestValue = 24 // runes of a value, as a line shows it
	mostOthers   = 2  // other objects that a line names
)

// changed is what the changes of a request did to their objects, in parentheses; "" if nothing is
// to be said. Fields that have one of the names come first.
func (e *Event) changed(names map[string]bool) string {
	if e.Host != "" || e.Code >= 300 {
		return ""
	}
	if len(e.Changes) == 0 {
		if e.Verb == "update" || e.Verb == "patch" {
			return " (no change)"
		}
		return ""
	}
	var words []string
	others := 0
	for i := range e.Changes {
		c := &e.Changes[i]
		switch {
		case c.Ref == e.Ref || len(e.Changes) == 1:
			words = append(words, c.edits(strings.HasPrefix(e.Verb, "delete"), names)...)
		case others < mostOthers:
			words = append(words, c.Ref.String()+" "+ends[c.Type])
			fallthrough
		default:
			others++
		}
	}
	if more := others - mostOthers; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	if len(words) == 0 {
		return e.onlyStamps()
	}
	return " (" + strings.Join(words, "; ") + ")"
}

// onlyStamps names the time stamp of a condition if a write of the object itself changed nothing
// else; "" if it changed none.
func (e *Event) onlyStamps() string {
	for i := range e.Changes {
		c := &e.Changes[i]
		if c.Ref != e.Ref || c.Type != "MODIFIED" {
			continue
		}
		var d edits
		if before, after := decoded(c.Previous), decoded(c.Object); before != nil && after != nil {
			d.maps("", before, after)
		}
		if len(d.stamps) > 0 {
			return " (only " + d.stamps[0] + ")"
		}
	}
	return ""
}

// ends are the types of changes in words.
var ends = map[string]string{"ADDED": "is created", "MODIFIED": "changes", "DELETED": "is removed"}

// edits are what a change did to its object. The verb of a delete has said that it is removed.
func (c *Change) edits(byDelete bool, names map[string]bool) []string {
	if c.Type == "ADDED" {
		return nil
	}
	d := edits{names: names}
	before, after := decoded(c.Previous), decoded(c.Object)
	if before != nil && after != nil {
		d.maps("", before, after)
	}
	out := slices.Concat(d.named, d.first, d.states, d.rest, d.texts, d.last)
	if more := len(out) - maxEdits; more > 0 {
		out = append(out[:maxEdits], fmt.Sprintf("and %d more", more))
	}
	if c.Type == "DELETED" && !byDelete {
		out = append(out, "object removed")
	}
	return out
}

func decoded(object []byte) (out map[string]any) {
	dec := json.NewDecoder(bytes.NewReader(object))
	dec.UseNumber()
	if dec.Decode(&out) != nil {
		return nil
	}
	return out
}

// edits collects the differences of two objects. Fields whose names are asked for come first, then
// those that decide whether it is deleted, then states, conditions and truth values. Last come long
// texts and what follows any change: times and the generation. Time stamps of conditions count only
// if nothing else changed.
type edits struct {
	names                                           map[string]bool
	named, first, states, rest, texts, last, stamps []string
}

// stateNames are names of fields that programs decide by.
var stateNames = []string{"status", "phase", "state", "reason"}

// isState reports whether a field has such a name.
func isState(path string) bool {
	return slices.Contains(stateNames, path[strings.LastIndex(path, ".")+1:])
}

// isText reports whether a line does not show the whole of a value.
func isText(v any) bool { return len([]rune(encoded(v))) > longestValue+2 } // with quotes

// isNamed reports whether a field's name is asked for.
func (e *edits) isNamed(path string) bool {
	path = strings.TrimSuffix(path, "]")
	return e.names[strings.ToLower(path[strings.LastIndexAny(path, ".[")+1:])]
}

// namesIn are the words of a sentence, which may be names of fields.
func namesIn(sentence string) map[string]bool {
	names := map[string]bool{}
	for _, path := range strings.FieldsFunc(sentence, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '/'
	}) {
		names[strings.ToLower(path)] = true
	}
	return names
}

func (e *edits) add(path, what string, values ...any) {
	switch is := func(of func(any) bool) bool { return slices.ContainsFunc(values, of) }; {
	case e.isNamed(path):
		e.named = append(e.named, what)
	case strings.HasSuffix(path, ".observedGeneration") || is(isTime):
		e.last = append(e.last, what)
	case is(isBool) || isState(path):
		e.states = append(e.states, what)
	case is(isText):
		e.texts = append(e.texts, what)
	default:
		e.rest = append(e.rest, what)
	}
}

func isBool(v any) bool { _, ok := v.(bool); return ok }

func isTime(v any) bool {
	s, _ := v.(string)
	_, err := time.Parse(time.RFC3339Nano, s)
	return err == nil
}

// servers are fields that the server sets at each write, or that say the same in other words.
var servers = []string{"metadata.managedFields", "metadata.resourceVersion", "metadata.generation", "metadata.uid",
	"metadata.creationTimestamp", "metadata.deletionGracePeriodSeconds", "apiVersion", "kind"}

// stamps are fields of conditions that change with the others.
var stamps = []string{"lastTransitionTime", "lastUpdateTime", "lastHeartbeatTime", "lastProbeTime"}

func (e *edits) maps(path string, a, b map[string]any) {
	keys := maps.Clone(a)
	if keys == nil {
		keys = map[string]any{}
	}
	maps.Copy(keys, b)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		at := key
		if path != "" {
			at = path + "." + key
		}
		switch {
		case slices.Contains(servers, at):
		case !strings.HasSuffix(path, "]") || !slices.Contains(stamps, key):
			e.values(at, a[key], b[key])
		case !reflect.DeepEqual(a[key], b[key]):
			e.stamps = append(e.stamps, turned(at, a[key], b[key]))
		}
	}
}

func (e *edits) values(path string, a, b any) {
	if reflect.DeepEqual(a, b) {
		return
	}
	mapA, isMapA := a.(map[string]any)
	mapB, isMapB := b.(map[string]any)
	listA, isListA := a.([]any)
	listB, isListB := b.([]any)
	switch {
	case path == "metadata.finalizers":
		e.finalizers(listA, listB)
	case path == "metadata.deletionTimestamp":
		e.first = append(e.first, "is being deleted")
	case (isMapA || a == nil) && (isMapB || b == nil):
		e.maps(path, mapA, mapB)
	case (isListA || a == nil) && (isListB || b == nil):
		e.lists(path, listA, listB)
	case a == nil:
		e.add(path, fmt.Sprintf("+ %s %s", path, short(b)), b)
	case b == nil:
		e.add(path, "− "+path, a)
	default:
		e.add(path, turned(path, a, b), a, b)
	}
}

// turned says that a value became another. If both begin alike, it shows where they first differ.
func turned(path string, a, b any) string {
	was, is := short(a), short(b)
	if was == is {
		was, is = parted(encoded(a), encoded(b)) // 1 and "1" differ only here
	}
	return fmt.Sprintf("%s %s → %s", path, was, is)
}

// parted cuts two texts to what follows their first difference, with a few runes before it.
func parted(a, b string) (string, string) {
	const before = 8
	x, y := []rune(a), []rune(b)
	at := 0
	for at < min(len(x), len(y)) && x[at] == y[at] {
		at++
	}
	from := max(0, at-before)
	if len(x) <= longestValue && len(y) <= longestValue {
		from = 0
	}
	part := func(r []rune) string {
		s := cut(string(r[from:]))
		if from > 0 {
			s = "…" + s
		}
		return s
	}
	return part(x), part(y)
}

func (e *edits) finalizers(a, b []any) {
	for _, f := range a {
		if !slices.Contains(b, f) {
			e.first = append(e.first, fmt.Sprintf("− finalizer %v", f))
		}
	}
	for _, f := range b {
		if !slices.Contains(a, f) {
			e.first = append(e.first, fmt.Sprintf("+ finalizer %v", f))
		}
	}
}

// lists compares two lists. The elements of most have a type or a name, by which they are paired.
func (e *edits) lists(path string, a, b []any) {
	before, okA := named(a)
	after, okB := named(b)
	if !okA || !okB {
		e.elements(path, a, b)
		return
	}
	names := maps.Clone(before)
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		at := fmt.Sprintf("%s[%s]", path, name)
		was, is := before[name], after[name]
		what := ""
		switch {
		case was == nil:
			what = strings.TrimSpace(fmt.Sprintf("+ %s %s", at, statusOf(is)))
		case is == nil:
			what = "− " + at
		case statusOf(was) != statusOf(is):
			what = fmt.Sprintf("%s %s → %s", at, cmp.Or(statusOf(was), `""`), cmp.Or(statusOf(is), `""`))
		default:
			e.maps(at, was, is)
			continue
		}
		if statusOf(was)+statusOf(is) != "" && !e.isNamed(at) {
			e.states = append(e.states, what)
		} else {
			e.add(at, what)
		}
	}
}

// elements compares two lists whose elements have no names. Of long lists it shows the elements
// that came and went.
func (e *edits) elements(path string, a, b []any) {
	if len([]rune(encoded(a))) <= longestValue && len([]rune(encoded(b))) <= longestValue {
		e.add(path, turned(path, a, b))
		return
	}
	without := func(list, other []any) (out []any) {
		for _, element := range list {
			if !slices.ContainsFunc(other, func(o any) bool { return reflect.DeepEqual(element, o) }) {
				out = append(out, element)
			}
		}
		return out
	}
	if len(a) == len(b) { // changed in place
		for i := range a {
			e.values(fmt.Sprintf("%s[%d]", path, i), a[i], b[i])
		}
		return
	}
	gone, come := without(a, b), without(b, a)
	if len(gone)+len(come) == 0 {
		e.add(path, turned(path, a, b))
		return
	}
	for _, element := range gone {
		e.add(path, fmt.Sprintf("− %s %s", path, short(element)))
	}
	for _, element := range come {
		e.add(path, fmt.Sprintf("+ %s %s", path, short(element)))
	}
}

// identities are the fields by which the elements of a list are paired, for example those of
// conditions, of containers and of taints.
var identities = []string{"type", "name", "key"}

// named are the elements of a list by their identity; false if some have none.
func named(list []any) (map[string]map[string]any, bool) {
	out := map[string]map[string]any{}
	for _, element := range list {
		fields, _ := element.(map[string]any)
		var name string
		ok := false
		for _, identity := range identities {
			if name, ok = fields[identity].(string); ok {
				break
			}
		}
		if !ok || out[name] != nil {
			return nil, false
		}
		out[name] = fields
	}
	return out, true
}

// statusOf is the status of a condition; "" for other elements.
func statusOf(element map[string]any) string {
	s, _ := element["status"].(string)
	return s
}

// short is a value in a few runes.
func short(v any) string {
	switch v := v.(type) {
	case string:
		if v == "" {
			return `""`
		}
		return cut(strings.Join(strings.Fields(v), " "))
	case []any:
		if len(v) > 0 {
			break
		}
		return "[]"
	case nil:
		return "nothing"
	}
	return cut(encoded(v))
}

// encoded is a value as JSON.
func encoded(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "…"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func cut(s string) string {
	if r := []rune(s); len(r) > longestValue {
		return string(r[:longestValue-1]) + "…"
	}
	return s
}
