package object

import (
	"encoding/json"
	"math"
	"reflect"
	"sort"
	"strconv"
	"unicode/utf8"
)

// JSON values are the decoded form that apimachinery uses for unstructured content: map[string]any,
// []any, string, int64, float64, bool and nil. Values that are stored are never changed afterwards,
// so they may be shared.

// appendJSON writes a JSON value with sorted keys. The model encodes every custom resource that it
// stores, and encoding/json spends most of its time on finding out by reflection what is known
// here.
func appendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return appendString(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		return appendFloat(b, v)
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, item)
		}
		return append(b, ']')
	case map[string]any:
		return append(appendFields(append(b, '{'), v), '}')
	default:
		raw, err := json.Marshal(v)
		if err != nil {
			return append(b, "null"...)
		}
		return append(b, raw...)
	}
}

// appendFields writes the members of an object, sorted, without its braces.
func appendFields(b []byte, m map[string]any) []byte {
	var room [24]string
	names := room[:0]
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, name), ':')
		b = appendJSON(b, m[name])
	}
	return b
}

func appendFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, "null"...)
	}
	raw, err := json.Marshal(f)
	if err != nil {
		return append(b, "null"...)
	}
	return append(b, raw...)
}

const hexDigits = "0123456789abcdef"

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = append(b, s[start:i]...)
			b = appendEscape(b, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			b = append(append(b, s[start:i]...), `\ufffd`...)
			i += size
			start = i
			continue
		}
		i += size
	}
	return append(append(b, s[start:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	default:
		return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
}

// EqualJSON compares two JSON values. What they share is not looked at.
func EqualJSON(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		if reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer() {
			return true
		}
		for name, value := range a {
			other, ok := b[name]
			if !ok || !EqualJSON(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		if len(a) > 0 && &a[0] == &b[0] {
			return true
		}
		for i := range a {
			if !EqualJSON(a[i], b[i]) {
				return false
			}
		}
		return true
	default:
		switch b.(type) {
		case map[string]any, []any:
			return false
		}
		return a == b
	}
}

// mergeJSON applies an RFC 7386 merge patch. The target is shared, never changed: only the maps on
// patched paths are new.
func mergeJSON(target, patch any) any {
	old, ok := target.(map[string]any)
	if !ok {
		return withoutNulls(patch)
	}
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out := make(map[string]any, len(old)+len(changes))
	for name, value := range old {
		out[name] = value
	}
	for name, value := range changes {
		if value == nil {
			delete(out, name)
			continue
		}
		out[name] = mergeJSON(out[name], value)
	}
	return out
}

// withoutNulls is what a merge patch puts where there was no object: fields that are null are
// dropped, those of objects within lists too.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			if value != nil {
				out[name] = withoutNulls(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutNulls(v[i])
		}
		return out
	}
	return v
}

// CopyJSON copies a JSON value deeply.
func CopyJSON(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[name] = CopyJSON(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = CopyJSON(v[i])
		}
		return out
	default:
		return v
	}
}

// SetOrDelete sets a member of a document, or deletes it when there is none.
func SetOrDelete(m map[string]any, name string, value any, has bool) {
	if has {
		m[name] = value
	} else {
		delete(m, name)
	}
}

// Marshal encodes what is known to have an encoding.
func Marshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("apiserver: a value that cannot be encoded: " + err.Error())
	}
	return raw
}
