package kept

import (
	"bytes"
	"encoding/json"
)

// Member returns a member of an encoded object without decoding the others; nil if it has none of
// that name. Objects of the API model have their metadata near the front.
func Member(object []byte, name string) (value []byte) {
	eachMember(object, func(quoted, v []byte) bool {
		found := isQuoted(quoted, name)
		if found {
			value = v
		}
		return !found
	})
	return value
}

// Members returns the members of an encoded object; ok is false if it is none.
func Members(object []byte) (members map[string][]byte, ok bool) {
	members = map[string][]byte{}
	ok = eachMember(object, func(quoted, value []byte) bool { members[unquote(quoted)] = value; return true })
	return members, ok
}

// Elements returns the elements of an encoded array; ok is false if it is none.
func Elements(array []byte) (elements [][]byte, ok bool) {
	return elementsLike(array, nil)
}

// elementsLike is Elements of an array whose elements may be those of another one, in their order.
func elementsLike(array []byte, other [][]byte) (elements [][]byte, ok bool) {
	i := start(array, '[')
	for i >= 0 && i < len(array) && array[i] != ']' {
		end := -1
		if n := len(elements); n < len(other) {
			end = endLike(array, i, other[n])
		}
		if end < 0 {
			end = endOf(array, i)
		}
		if end < 0 {
			return nil, false
		}
		elements = append(elements, array[i:end])
		i = next(array, end, ']')
	}
	return elements, i >= 0 && i < len(array)
}

// eachMember calls yield for each member, until that returns false. It reports whether the text is
// an object as far as it was read.
func eachMember(object []byte, yield func(quoted, value []byte) bool) bool {
	return eachLike(object, nil, yield)
}

// eachLike is eachMember for an object whose members may be those of another one, in their order.
// The end of a value that is the same there need not be looked for.
func eachLike(object []byte, other []member, yield func(quoted, value []byte) bool) bool {
	i := start(object, '{')
	for n := 0; i >= 0 && i < len(object) && object[i] != '}'; n++ {
		end := endOf(object, i)
		if end < 0 || object[i] != '"' {
			return false
		}
		colon := skipSpace(object, end)
		if colon == len(object) || object[colon] != ':' {
			return false
		}
		from := skipSpace(object, colon+1)
		to := -1
		if n < len(other) {
			to = endLike(object, from, other[n].value)
		}
		if to < 0 {
			to = endOf(object, from)
		}
		if to < 0 {
			return false
		}
		if !yield(object[i:end], object[from:to]) {
			return true
		}
		i = next(object, to, '}')
	}
	return i >= 0 && i < len(object)
}

// member is a member of an encoded object.
type member struct{ quoted, value []byte }

// endLike returns the index after the value that starts at i if it is this value, which ends in a
// bracket or a quote; -1 otherwise.
func endLike(b []byte, i int, value []byte) int {
	switch value[len(value)-1] {
	case '}', ']', '"':
		if bytes.HasPrefix(b[i:], value) {
			return i + len(value)
		}
	}
	return -1
}

// isQuoted reports whether a text is encoded like this.
func isQuoted(quoted []byte, text string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1:len(quoted)-1]) == text
	}
	return unquote(quoted) == text
}

// unquote returns the text of an encoded string.
func unquote(quoted []byte) (text string) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	_ = json.Unmarshal(quoted, &text) // an invalid escape leaves it empty
	return text
}

// start returns the index of the first element after an opening bracket; -1 if there is none.
func start(b []byte, bracket byte) int {
	i := skipSpace(b, 0)
	if i == len(b) || b[i] != bracket {
		return -1
	}
	return skipSpace(b, i+1)
}

// next returns the index of the next element, or of the closing bracket; -1 if there is neither.
func next(b []byte, i int, closing byte) int {
	i = skipSpace(b, i)
	switch {
	case i == len(b):
		return -1
	case b[i] == closing:
		return i
	case b[i] == ',':
		return skipSpace(b, i+1)
	}
	return -1
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// endOf returns the index after the value that starts at i; -1 if it does not end.
func endOf(b []byte, i int) int {
	depth := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			if i = endOfString(b, i); i < 0 || depth == 0 {
				return i
			}
			i--
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// endOfString returns the index after the string that starts at i; -1 if it does not end.
func endOfString(b []byte, i int) int {
	for i++; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		escapes := 0
		for b[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
}
