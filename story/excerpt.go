package story

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const (
	longestRound = 12 // lines of what goes round and round
	fewestRounds = 3  // from which on they are shown once
	headLines    = 6  // that are kept of a story that is still too long
	mostLines    = 40
)

// counters are what differs between two rounds that do the same: revisions and the numbers of
// reconciles.
var counters = regexp.MustCompile(`\brv \d+|#\d+`)

// Excerpt is the history for a failure message. What goes round and round is shown once, and the
// middle is left out of what is still too long.
func (s *Story) Excerpt() []string {
	lines := s.History
	alike := make([]string, len(lines)) // without times and counters
	for i, l := range lines {
		_, what, _ := strings.Cut(l, " ")
		alike[i] = counters.ReplaceAllString(what, "")
	}
	var out []string
	for i := 0; i < len(lines); {
		round, times := rounds(alike[i:])
		if times < fewestRounds {
			out = append(out, lines[i])
			i++
			continue
		}
		out = append(out, lines[i:i+round]...)
		i += round * times
		until, _, _ := strings.Cut(lines[i-1], " ")
		what := "this"
		if round > 1 {
			what = fmt.Sprintf("these %d lines", round)
		}
		out = append(out, fmt.Sprintf("%-12s … %s %d times more", until, what, times-1))
	}
	if more := len(out) - mostLines; more > 0 {
		gap := fmt.Sprintf("… %d lines left out; the story has them all …", more)
		out = slices.Concat(out[:headLines], []string{gap}, out[headLines+more:])
	}
	return out
}

// rounds is how many of the first lines come round, and how often in a row: the fewest lines that
// do so often enough.
func rounds(lines []string) (round, times int) {
	for round = 1; round <= longestRound && round*fewestRounds <= len(lines); round++ {
		times = 1
		for at := round; at+round <= len(lines) && slices.Equal(lines[:round], lines[at:at+round]); at += round {
			times++
		}
		if times >= fewestRounds {
			return round, times
		}
	}
	return 0, 0
}
