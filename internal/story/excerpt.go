package story

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

const (
	longestRound = 12                        // lines of what goes round and round
	fewestRounds = 3                         // from which on they are shown once
	fewLines     = 16                        // that are shown all
	lastLines    = 4                         // before the violation, that are shown in any case
	headLines    = 6                         // that are kept of a story that is still too long
	minLines     = headLines + lastLines + 1 // that an excerpt of any length has room for
	maxDelays    = 12                        // that are named
	notesColumn  = 34                        // where notes begin: beneath what an actor did
)

// counters are what differs between two rounds that do the same: revisions, what a write changed,
// the numbers of reconciles, how long a back-off is, and how long a key waits for a worker.
var counters = regexp.MustCompile(`\brv \d+( \(.*\))?|#\d+| (after|waited) [0-9.hmnµs]+( for a worker)?$`)

// excerptLine is a line of an excerpt. It stands for several of the history where they go round.
type excerptLine struct {
	text string
	led  bool // to the violation
	rank int  // of a line that led to it
	idle bool // see [Story.Idle]
}

// MaxLines is how many lines of a story a failure message has room for.
const MaxLines = 40

// Excerpt is the history for a failure message, in at most max lines, but at least 11. Lines that
// repeat are shown once, with their number and how the rounds ended. Of a history that is still
// long, it has the lines that led to the violation. If these are not known, the middle is left out.
func (s *Story) Excerpt(max int) (out []string) {
	if max < minLines {
		max = minLines
	}
	lines := s.folded()
	var keep []bool
	if len(lines) <= fewLines {
		for _, l := range lines {
			keep = append(keep, !l.idle)
		}
	} else {
		ranks := make([]int, len(lines))
		for i, l := range lines {
			if ranks[i] = l.rank; !l.led {
				ranks[i] = unrelated
			}
		}
		keep = chosen(ranks, max)
	}
	gaps := 0
	spans(keep, func(from, to int, kept bool) {
		switch {
		case kept:
			for _, l := range lines[from:to] {
				out = append(out, l.text)
			}
			return
		case gaps == 0:
			out = append(out, fmt.Sprintf("… %d lines left out …", to-from))
		default:
			out = append(out, fmt.Sprintf("… %d lines …", to-from))
		}
		gaps++
	})
	return shorten(out, max)
}

// Abridge cuts a long history to max lines and leaves marks in the gaps. It chooses lines as
// [Story.Excerpt] does.
func (s *Story) Abridge(max int) {
	if len(s.History) <= max {
		return
	}
	ranks := slices.Repeat([]int{unrelated}, len(s.History))
	for _, l := range s.Led {
		ranks[l.Line] = l.Rank
	}
	var history []string
	at := map[int]int{} // where a line is now
	spans(chosen(ranks, max), func(from, to int, kept bool) {
		if !kept {
			history = append(history, fmt.Sprintf("… %d lines left out; a replay has them all …", to-from))
			return
		}
		for i := from; i < to; i++ {
			at[i] = len(history)
			history = append(history, s.History[i])
		}
	})
	var led []Led
	for _, l := range s.Led {
		if line, ok := at[l.Line]; ok {
			l.Line = line
			led = append(led, l)
		}
	}
	var idle []int
	for _, n := range s.Idle {
		if line, ok := at[n]; ok {
			idle = append(idle, line)
		}
	}
	s.History, s.Led, s.Idle = history, led, idle
}

// unrelated is the rank of a line that did not lead to the violation.
const unrelated = -1

// chosen says which lines stay if there is room for max, the marks of gaps included: the last ones,
// and those that led to the violation, without the least close if there are too many. Without any
// that led to it, the first and the last lines stay.
func chosen(ranks []int, max int) []bool {
	known := slices.DeleteFunc(slices.Clone(ranks), func(rank int) bool { return rank == unrelated })
	slices.Sort(known)
	known = slices.Compact(known)
	keep := make([]bool, len(ranks))
	if len(known) == 0 {
		for i := range keep {
			keep[i] = len(keep) <= max || i < headLines || i >= len(keep)-(max-headLines-1)
		}
		return keep
	}
	for {
		size := 0
		for i, rank := range ranks {
			keep[i] = rank != unrelated && rank <= known[len(known)-1] || i >= len(ranks)-lastLines
		}
		spans(keep, func(from, to int, kept bool) {
			if kept {
				size += to - from
			} else {
				size++
			}
		})
		if size <= max || len(known) == 1 {
			return keep
		}
		known = known[:len(known)-1]
	}
}

// spans calls f for lines that stay and for those that do not, in order. A gap of one line would be
// no shorter, so that line stays.
func spans(keep []bool, f func(from, to int, kept bool)) {
	from := 0
	for i := 0; i < len(keep); {
		gap := i
		for gap < len(keep) && !keep[gap] {
			gap++
		}
		if gap-i <= 1 {
			i++
			continue
		}
		if from < i {
			f(from, i, true)
		}
		f(i, gap, false)
		i, from = gap, gap
	}
	if from < len(keep) {
		f(from, len(keep), true)
	}
}

// folded is the history with each round once.
func (s *Story) folded() (out []excerptLine) {
	lines := s.History
	alike := make([]string, len(lines)) // without times and counters
	for i, l := range lines {
		_, what, _ := strings.Cut(l, " ")
		alike[i] = counters.ReplaceAllString(what, "")
	}
	led := map[int]Led{}
	for _, l := range s.Led {
		led[l.Line] = l
	}
	for i := 0; i < len(lines); {
		round, times := rounds(alike[i:])
		if times < fewestRounds {
			out = append(out, withNotes(lines[i], led, i)...)
			out[len(out)-1].idle = slices.Contains(s.Idle, i)
			i++
			continue
		}
		from, any, rank := len(out), false, math.MaxInt
		for j := range round {
			out = append(out, withNotes(lines[i+j], led, i+j)...)
		}
		for j := i; j < i+round*times; j++ {
			if l, ok := led[j]; ok {
				any, rank = true, min(rank, l.Rank)
			}
		}
		until, _, _ := strings.Cut(lines[i+round*times-1], " ")
		what := "this"
		if round > 1 {
			what = fmt.Sprintf("these %d lines", round)
		}
		more := fmt.Sprintf("%-12s … %s %d times more", until, what, times-1)
		if ending := ended(lines[i : i+round]); ending != "" {
			more += ", each " + ending
		}
		out = append(out, excerptLine{text: more})
		for k := from; k < len(out); k++ {
			out[k].led, out[k].rank = any, rank
		}
		i += round * times
	}
	return out
}

// withNotes is a line of the history with what belongs to it.
func withNotes(line string, led map[int]Led, i int) []excerptLine {
	l, ok := led[i]
	out := []excerptLine{{text: line, led: ok, rank: l.Rank}}
	for _, note := range l.Notes {
		out = append(out, excerptLine{text: strings.Repeat(" ", notesColumn) + note, led: true, rank: l.Rank})
	}
	return out
}

// ended is how the last reconcile of a round failed, as its line says; "" if none did.
func ended(round []string) string {
	for _, line := range slices.Backward(round) {
		if _, ending, ok := strings.Cut(line, "   ends: "); ok {
			return "ends: " + ending
		}
	}
	return ""
}

// shorten leaves out the middle of what is too long.
func shorten(lines []string, max int) []string {
	if len(lines) <= max {
		return lines
	}
	more := len(lines) - max + 1
	gap := []string{fmt.Sprintf("… %d lines left out …", more)}
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

// Delays are the choices that no line of the history shows, because all that they do is delay
// something: for example, StaleCache holds a watch event back until after the violation.
func (s *Story) Delays() (out []string) {
	times := map[string]int{}
	for _, c := range s.Choices {
		if line := c.Delay(); line != "" {
			times[line]++
		}
	}
	for _, line := range slices.Sorted(maps.Keys(times)) {
		if n := times[line]; n > 1 {
			line += fmt.Sprintf(", %d times", n)
		}
		out = append(out, line)
	}
	if more := len(out) - maxDelays; more > 0 {
		out = append(out[:maxDelays], fmt.Sprintf("delay: %d more", more))
	}
	return out
}

// silent are the classes of faults that only delay something.
var silent = []string{"StaleCache", "SlowEffect", "SlowNamespace"}

// Delay is what the choice delays; "" if it is another choice, or if it has a line in the
// history, as that by which StaleCache outlasts a wait.
func (c Choice) Delay() string {
	what := strings.Join(strings.Fields(c.Verb+" "+c.What), " ")
	switch c.Kind {
	case Request, Reply:
		kind := map[Kind]string{Request: "request", Reply: "reply to"}[c.Kind]
		return fmt.Sprintf("delay: the %s %s of %s", kind, what, c.Who)
	case Step:
		return fmt.Sprintf("delay: a step of %s", strings.TrimSpace(c.Who+" "+what))
	case Upgrade:
		return "delay: the upgrade of " + c.What
	case Inject:
	default:
		return ""
	}
	if class, _, _ := strings.Cut(c.Of, "("); !slices.Contains(silent, class) || strings.HasPrefix(c.Who, "past ") {
		return ""
	}
	switch c.Verb {
	case "ADDED", "MODIFIED", "DELETED":
		return fmt.Sprintf("fault: %s delays the event %s to %s", c.Of, what, c.Who)
	}
	return fmt.Sprintf("fault: %s delays %s", c.Of, strings.TrimSpace(c.Who+" "+what))
}

// Unshown counts the faults of which neither an excerpt nor [Story.Delays] has a line.
func (s *Story) Unshown(excerpt []string) int {
	n := s.After.Faults
	for _, line := range excerpt {
		if strings.Contains(line, " fault: ") {
			n--
		}
	}
	for _, c := range s.Choices {
		if strings.HasPrefix(c.Delay(), "fault: ") {
			n--
		}
	}
	return max(n, 0)
}

// Needs describes which of faults, delays and order a story can do without; "" if it needs faults.
func (s *Story) Needs() string {
	kinds := map[Kind]bool{}
	for _, c := range s.Choices {
		kinds[c.Kind] = true
	}
	delays := kinds[Request] || kinds[Reply] || kinds[Step] || kinds[Handler]
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

// FaultClasses returns the classes of the faults that the story needs, sorted.
func (s *Story) FaultClasses() (classes []string) {
	for _, c := range s.Choices {
		if c.Kind == Arm {
			classes = append(classes, c.Of)
		}
	}
	slices.Sort(classes)
	return slices.Compact(classes)
}
