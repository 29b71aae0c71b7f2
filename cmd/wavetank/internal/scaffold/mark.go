package scaffold

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"regexp"
)

// mark is the first line of a file that wavetank init has written. The number is of the rest of the
// file, so that an edit shows.
const mark = "// Written by wavetank init, which renews this file until it is edited (mark %x).\n\n"

var marked = regexp.MustCompile(`^// Written by wavetank init[^\n]*\(mark ([0-9a-f]+)\)\.\n\n`)

// Marked is a source with its mark.
func Marked(source []byte) []byte {
	return append(fmt.Appendf(nil, mark, sumOf(source)), source...)
}

func sumOf(source []byte) []byte {
	sum := sha256.Sum256(source)
	return sum[:6]
}

// Unedited reports whether a file is as wavetank init wrote it.
func Unedited(file []byte) bool {
	m := marked.FindSubmatch(file)
	return m != nil && bytes.Equal(m[1], fmt.Appendf(nil, "%x", sumOf(file[len(m[0]):])))
}

var guessedHost = regexp.MustCompile(`w\.External\("([^"\n]+)", \w+\.REST\(\)\)`)

// Hosts are the hosts for which a test has a guess, so that it keeps them when it is renewed.
func Hosts(test []byte) (hosts []string) {
	for _, m := range guessedHost.FindAllSubmatch(test, -1) {
		hosts = append(hosts, string(m[1]))
	}
	return hosts
}
