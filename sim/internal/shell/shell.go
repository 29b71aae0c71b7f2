// Package shell writes words as a POSIX shell reads them.
package shell

import (
	"regexp"
	"strings"
)

// Quote makes one word of a text.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

var plain = regexp.MustCompile(`^[A-Za-z0-9_./~:@%+=,<>-]+$`)

// Word is Quote for a text that usually needs no quotes.
func Word(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return Quote(s)
}
