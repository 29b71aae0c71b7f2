package reports

import (
	"fmt"
	"hash/fnv"
	"slices"
	"unicode/utf8"

	"github.com/wavetank/wavetank/history"
)

// longestString is how many bytes a string in a body may have before it is cut, and keptString how
// many then remain. A scenario may send megabytes in one annotation, a thousand times. A replay
// makes them again.
const longestString, keptString = 4096, 1024

// abridge returns a history in whose bodies no string is longer than longestString. It returns the
// same history if no body is.
func abridge(h *history.History) *history.History {
	known := map[string][]byte{} // most bodies are those of several events
	cut := func(body []byte) []byte {
		if len(body) <= longestString {
			return body
		}
		out, ok := known[string(body)]
		if !ok {
			out = abridged(body)
			known[string(body)] = out
		}
		return out
	}
	short := *h
	short.Events = slices.Clone(h.Events)
	for i := range short.Events {
		e := &short.Events[i]
		e.Sent, e.Received = cut(e.Sent), cut(e.Received)
		e.Changes = slices.Clone(e.Changes)
		for j := range e.Changes {
			e.Changes[j].Object, e.Changes[j].Previous = cut(e.Changes[j].Object), cut(e.Changes[j].Previous)
		}
	}
	if len(known) == 0 {
		return h
	}
	return &short
}

// abridged cuts the long strings of a JSON text, or of several in a row, and leaves the rest
// unchanged. Any other text counts as one long string.
func abridged(body []byte) []byte {
	if body[0] != '{' && body[0] != '[' && body[0] != '"' {
		keep := keptString
		for !utf8.RuneStart(body[keep]) {
			keep--
		}
		return cutString(body, keep)
	}
	out := make([]byte, 0, longestString)
	for len(body) > 0 {
		n, keep := 1, 0
		if body[0] == '"' {
			n, keep = stringIn(body)
		}
		out = append(out, cutString(body[:n], keep)...)
		body = body[n:]
	}
	return out
}

// stringIn is the length of the string with which a JSON text begins, quotes included, and where it
// may be cut: not within a character and not within an escape.
func stringIn(text []byte) (n, keep int) {
	for n = 1; n < len(text) && text[n] != '"'; {
		if n <= keptString && utf8.RuneStart(text[n]) {
			keep = n
		}
		switch {
		case text[n] != '\\' || n+1 == len(text):
			n++
		case text[n+1] == 'u':
			n += 6
		default:
			n += 2
		}
	}
	return min(n+1, len(text)), keep
}

// cutString keeps the beginning of a string that is too long, and says how long it was. The
// checksum shows a difference between strings that differ only in what was cut.
func cutString(s []byte, keep int) []byte {
	if len(s) <= longestString {
		return s
	}
	sum := fnv.New32a()
	sum.Write(s)
	out := fmt.Appendf(slices.Clone(s[:keep]), "… (cut here: %d bytes, checksum %08x)", len(s), sum.Sum32())
	if s[0] == '"' {
		out = append(out, '"')
	}
	return out
}
