package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
)

// This file is about how the share of violating continuations grows along the run.

// prefixes measures the share after further prefixes, at equal distances, while there is time.
func (m *measured) prefixes() {
	for i := range maxShares {
		if len(m.shares) >= maxShares {
			return
		}
		if _, ok := m.share(i * len(m.answers) / maxShares); !ok {
			return
		}
	}
}

// rises names the steps at which the share rises, other than the one that decides. A rise must be
// there with other schedules, too.
func (m *measured) rises() string {
	measured := slices.Sorted(maps.Keys(m.shares))
	var out []string
	for i := 1; i < len(measured) && len(out) < maxRises; i++ {
		low, high, ok := m.rise(measured[i-1], measured[i])
		if !ok || high == m.decided {
			continue
		}
		before, ok := m.continued(continuations, m.answers[:low], choice.Play(nil))
		if !ok {
			break
		}
		after, ok := m.continued(continuations, m.answers[:high], choice.Play(nil))
		if !ok {
			break
		}
		if after-before >= minRise {
			m.risen = append(m.risen, high)
			out = append(out, fmt.Sprintf("at %s, from %d to %d of %d", m.step(high-1), m.shares[low]+before,
				m.shares[high]+after, 2*continuations))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return fmt.Sprintf("The share of continuations that violate it rises %s.", strings.Join(out, "; "))
}

// rise finds the answer between two prefixes at which the share rises, by bisection. It reports
// false if it does not rise at one answer, or if the time is up.
func (m *measured) rise(low, high int) (before, after int, ok bool) {
	for m.shares[high]-m.shares[low] >= minRise {
		if high-low == 1 {
			return low, high, true
		}
		middle := (low + high) / 2
		n, ok := m.share(middle)
		if !ok {
			break
		}
		if n-m.shares[low] > m.shares[high]-n {
			high = middle
		} else {
			low = middle
		}
	}
	return 0, 0, false
}

// curve is how the share grows along the run.
func (m *measured) curve() (out []story.Share) {
	for _, answers := range slices.Sorted(maps.Keys(m.shares)) {
		share := story.Share{Violating: m.shares[answers], Of: continuations}
		share.Rises = answers > 0 && answers == m.decided || slices.Contains(m.risen, answers)
		if i := m.events[min(answers, len(m.events)-1)]; i < len(m.history.Events) {
			share.Step = m.history.Events[i].Step
		}
		if n := len(out); n > 0 && out[n-1].Step >= share.Step { // of the answers of one step, the first counts
			if !share.Rises {
				continue
			}
			share.Step = out[n-1].Step + 1
		}
		out = append(out, share)
	}
	return out
}
