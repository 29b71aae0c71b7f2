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
	fewLines     = 16 // that are shown all
	lastLines    = 4  // before the violation, that are shown in any case
	headLines    = 6  // that are kept of a story that is still too long
	mostLines    = 40
)

// counters are what differs between two rounds that do the same: revisions, what a write changed,
// and the numbers of reconciles.
var counters = regexp.MustCompile(`\brv \d+( \(.*\))?|#\d+`)

// excerptLine is a line of an excerpt. It stands for several of the history where they go round.
type excerptLine struct {
	text string
	led  bool // to the violation
}

// Excerpt is the history for a failure message. What goes round and round is shown once. Of what is
// still long, it has the lines that led to the violation. If these are not known, the middle is
// left out.
func (s *Story) Excerpt() []string {
	lines := s.folded()
	if s.Led != nil && len(lines) > fewLines {
		for i := range lines {
			lines[i].led = lines[i].led || i >= len(lines)-lastLines
		}
		return shorten(picked(lines))
	}
	var out []string
	for _, l := range lines {
		out = append(out, l.text)
	}
	return shorten(out)
}

// folded is the history with each round once.
func (s *Story) folded() (out []excerptLine) {
	lines := s.History
	alike := make([]string, len(lines)) // without times and counters
	for i, l := range lines {
		_, what, _ := strings.Cut(l, " ")
		alike[i] = counters.ReplaceAllString(what, "")
	}
	led := func(from, to int) bool {
		return slices.ContainsFunc(s.Led, func(n int) bool { return from <= n && n < to })
	}
	for i := 0; i < len(lines); {
		round, times := rounds(alike[i:])
		if times < fewestRounds {
			out = append(out, excerptLine{lines[i], led(i, i+1)})
			i++
			continue
		}
		any := led(i, i+round*times)
		for _, l := range lines[i : i+round] {
			out = append(out, excerptLine{l, any})
		}
		i += round * times
		until, _, _ := strings.Cut(lines[i-1], " ")
		what := "this"
		if round > 1 {
			what = fmt.Sprintf("these %d lines", round)
		}
		out = append(out, excerptLine{fmt.Sprintf("%-12s … %s %d times more", until, what, times-1), any})
	}
	return out
}

// picked are the lines that led to the violation, with the number of those that are left out in
// between. A gap of one line would be no shorter.
func picked(lines []excerptLine) (out []string) {
	said := false
	for i := 0; i < len(lines); {
		gap := i
		for gap < len(lines) && !lines[gap].led {
			gap++
		}
		switch n := gap - i; {
		case n <= 1:
			out = append(out, lines[i].text)
			i++
			continue
		case said:
			out = append(out, fmt.Sprintf("… %d lines …", n))
		default:
			out = append(out, fmt.Sprintf("… %d lines that did not lead to it; the story has them all …", n))
			said = true
		}
		i = gap
	}
	return out
}

// shorten leaves out the middle of what is too long.
func shorten(lines []string) []string {
	more := len(lines) - mostLines
	if more <= 0 {
		return lines
	}
	gap := []string{fmt.Sprintf("… %d lines left out; the story has them all …", more)}
	return slices.Concat(lines[:headLines], gap, lines[headLines+more:])
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

// Needs says what of faults, delays and order a story can do without; "" if it needs faults.
func (s *Story) Needs() string {
	kinds := map[Kind]bool{}
	for _, c := range s.Choices {
		kinds[c.Kind] = true
	}
	delays := kinds[Request] || kinds[Reply] || kinds[Step]
	switch {
	case s.After.Faults > 0 || kinds[Inject]:
		return ""
	case len(kinds) == 0:
		return "needs no fault, no delay and no other order: it fails on the default schedule"
	case kinds[Next] && delays:
		return "needs no fault, only delays and an order of actions"
	case kinds[Next]:
		return "needs no fault and no delay, only an order of actions"
	case delays:
		return "needs no fault, only delays"
	}
	return "needs no fault and no delay"
}
