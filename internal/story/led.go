package story

import (
	"fmt"
	"strconv"
	"strings"
)

// Led is a line of the history that led to the violation.
type Led struct {
	Line int // its number, from 0
	// Rank orders the lines by how close they are to the violation, 0 first. The last ones are left
	// out of an excerpt that would be too long.
	Rank int
	// Notes are further lines about it, without a time: what no event says, for example that an
	// object was missing in a cache.
	Notes []string
}

// ledSection is the section of a story file with the lines that led to the violation. Each has its
// number, from 1, and its rank. Its notes follow as indented lines. A file may lack the section.
const ledSection = "led"

func encodeLed(led []Led) []byte {
	var b strings.Builder
	for _, l := range led {
		fmt.Fprintf(&b, "%d %d\n", l.Line+1, l.Rank)
		for _, note := range l.Notes {
			fmt.Fprintf(&b, "\t%s\n", strings.ReplaceAll(note, "\n", " "))
		}
	}
	return []byte(b.String())
}

func decodeLed(data string) (out []Led, err error) {
	for line := range strings.Lines(data) {
		line = strings.TrimSuffix(line, "\n")
		if note, ok := strings.CutPrefix(line, "\t"); ok && len(out) > 0 {
			out[len(out)-1].Notes = append(out[len(out)-1].Notes, note)
			continue
		}
		number, rank, _ := strings.Cut(line, " ")
		var l Led
		n, errLine := strconv.Atoi(number)
		l.Line = n - 1
		l.Rank, err = strconv.Atoi(rank)
		if errLine != nil || err != nil || l.Line < 0 || l.Rank < 0 {
			return nil, fmt.Errorf("line %q of section %q must be the number of a line of the history, and a rank",
				line, ledSection)
		}
		out = append(out, l)
	}
	return out, nil
}

// idleSection is the section of a story file with the numbers, from 1, of the lines of idle
// reconciles. A file may lack it.
const idleSection = "idle"

func encodeIdle(idle []int) []byte {
	var b strings.Builder
	for _, line := range idle {
		fmt.Fprintln(&b, line+1)
	}
	return []byte(b.String())
}

func decodeIdle(data string) (out []int, err error) {
	for line := range strings.Lines(data) {
		n, err := strconv.Atoi(strings.TrimSuffix(line, "\n"))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("line %q of section %q must be the number of a line of the history", line,
				idleSection)
		}
		out = append(out, n-1)
	}
	return out, nil
}
