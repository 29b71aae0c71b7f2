// Package word finds names and values in texts, as whole words.
package word

import "strings"

// Find returns the index at or after from at which text has word, with no letter or digit next to
// it, or -1 if there is none: 10.0.0.1 is not a word of 10.0.0.12. There is no empty word.
func Find(text, word string, from int) int {
	for word != "" {
		i := strings.Index(text[from:], word)
		if i < 0 {
			break
		}
		begin, end := from+i, from+i+len(word)
		if (begin == 0 || !alnum(text[begin-1])) && (end == len(text) || !alnum(text[end])) {
			return begin
		}
		from = begin + 1
	}
	return -1
}

func alnum(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// Replace replaces a word wherever [Find] finds it.
func Replace(text, word, by string) string {
	var out strings.Builder
	done := 0
	for begin := Find(text, word, 0); begin >= 0; begin = Find(text, word, done) {
		out.WriteString(text[done:begin] + by)
		done = begin + len(word)
	}
	return out.String() + text[done:]
}
