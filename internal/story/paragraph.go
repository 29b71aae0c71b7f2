package story

import (
	"fmt"
	"slices"
	"strings"
)

// Sections of a story file that explain the violation. A file may lack each of them.
const (
	whySection      = "why"
	measuredSection = "measured"
	sharesSection   = "shares"
)

// maxFaults is how many faults a paragraph names.
const maxFaults = 3

// Paragraph explains the violation: what the history shows, then what was measured. If nothing was
// measured, it names the faults and what was delayed.
func (s *Story) Paragraph() []string {
	if measured := len(s.Measured) > 0 && !strings.HasPrefix(s.Measured[0], "Not measured"); measured ||
		len(s.Why) == 0 {
		return slices.Concat(s.Why, s.Measured)
	}
	var faults []string
	for _, line := range s.History {
		if at, what, ok := strings.Cut(line, " fault: "); ok {
			faults = append(faults, fmt.Sprintf("%s at %s", what, strings.Join(strings.Fields(at), ", ")))
		}
	}
	var delays []string
	for _, delay := range s.Delays() {
		if what, ok := strings.CutPrefix(delay, "fault: "); ok {
			faults = append(faults, what)
		} else {
			delays = append(delays, strings.TrimPrefix(delay, "delay: "))
		}
	}
	out := slices.Clone(s.Why)
	for _, list := range []struct {
		what string
		all  []string
	}{{"Faults", faults}, {"Delayed", delays}} {
		if n := len(list.all); n > maxFaults {
			list.all = append(list.all[:maxFaults], fmt.Sprintf("%d more", n-maxFaults))
		}
		if len(list.all) > 0 {
			out = append(out, fmt.Sprintf("%s: %s.", list.what, strings.Join(list.all, "; ")))
		}
	}
	return append(out, s.Measured...)
}

// Share says how many continuations of a run violate its property, from a step on. They repeat the
// run until that step, and continue without further faults.
type Share struct {
	Step      int // the first step that they do not repeat
	Violating int // continuations that violate the property
	Of        int // continuations
	// Rises is set if the share rises at the step before, or if that step decides.
	Rises bool
}

// rises ends the line of a share that has risen.
const rises = " rises"

func encodeShares(shares []Share) []byte {
	var b strings.Builder
	for _, s := range shares {
		fmt.Fprintf(&b, "%d %d/%d", s.Step, s.Violating, s.Of)
		if s.Rises {
			b.WriteString(rises)
		}
		b.WriteString("\n")
	}
	return []byte(b.String())
}

func decodeShares(data string) (out []Share, err error) {
	for line := range strings.Lines(data) {
		var s Share
		line = strings.TrimSuffix(line, "\n")
		line, s.Rises = strings.CutSuffix(line, rises)
		if _, err := fmt.Sscanf(line, "%d %d/%d", &s.Step, &s.Violating, &s.Of); err != nil ||
			s.Step < 0 || s.Violating < 0 || s.Violating > s.Of {
			return nil, fmt.Errorf("line %q of section %q must read like \"12 3/20\": a step, and how many of the "+
				"continuations from there violate the property", line, sharesSection)
		}
		out = append(out, s)
	}
	return out, nil
}
