package explain

import (
	"fmt"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// fresh states how many continuations violate the property if a cache was up to date when it was
// read. Such a run repeats the given one until the step before the read. Then the cache receives
// what it lacked, the read is made, and a fair schedule follows.
func (m *measured) fresh() string {
	if m.Freshly == nil {
		return ""
	}
	var out []string
	tried := map[run.Fresh]bool{}
	for _, read := range reports.StaleReads(m.history, m.Sequence) {
		f := run.Fresh{Step: read.Step, Process: read.Actor, Kind: read.Ref.Kind}
		if tried[f] {
			continue
		}
		if len(tried) == maxReads {
			break
		}
		tried[f] = true
		n, left, delivered, ok := m.freshly(f)
		if !ok {
			break
		}
		if delivered {
			out = append(out, fmt.Sprintf("With the cache up to date when %s read it at %s (%s, %s), %d of %d "+
				"continuations violate it%s.", read.Actor, read.Source, read.What(), history.Moment(read.At), n,
				continuations, left))
		}
	}
	return strings.Join(out, " ")
}

// freshly counts the violating continuations with a fresh cache. It reports whether each of them
// has brought the cache up to date.
func (m *measured) freshly(f run.Fresh) (n int, left string, delivered, ok bool) {
	var kept *choice.Player
	delivered = true
	n, ok = m.violations(0, func(fair choice.Source) *run.Result {
		now, given := f, 0
		var then choice.Source
		res := m.Freshly(&now, choice.Func(func(p choice.Point) int {
			if !now.Reached && given < len(m.answers) {
				given++
				return m.answers[given-1].Value
			}
			if kept == nil {
				kept = m.faultsAfter(given)
			}
			if then == nil {
				then = with(kept, fair)
			}
			return then.Choose(p)
		}))
		delivered = delivered && now.Delivered > 0
		return res
	})
	if kept != nil {
		left = unused(kept)
	}
	return n, left, delivered, ok
}
