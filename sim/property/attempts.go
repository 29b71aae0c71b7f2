package property

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wavetank/wavetank/history"
)

// Attempts describes attempts at something that keeps failing, for [AttemptsBounded] and
// [AttemptsSettle]. It does not matter what starts an attempt: a work queue, a timer of the
// program, or an event.
type Attempts struct {
	// Of returns the name of what an event attempts, or "" if it is no attempt. It is called once
	// for each event, in order.
	Of func(*history.Event) string
	// Period returns how long no other attempt may follow the last of these attempts at one thing.
	// 0 means that the last one is not judged.
	Period func([]Attempt) time.Duration
	// Longest is the longest period. [AttemptsSettle] expects another attempt within that time.
	Longest time.Duration
	// Lag is how long an injected fault may have an effect.
	Lag time.Duration
	// Ended returns when the scenario ended faults, see [World.EndFaults], and 0 before that.
	//
	// [World.EndFaults]: https://pkg.go.dev/github.com/wavetank/wavetank/sim#World.EndFaults
	Ended func() history.Time
}

// Attempt is one attempt.
type Attempt struct {
	At          history.Time
	Incarnation int  // of the program that made it
	Disturbed   bool // a fault was injected since the attempt before
}

// inTime is how late a watch event may be without a fault.
const inTime = 100 * time.Millisecond

// AttemptsBounded holds if each period has at most one attempt more than injected faults. A fault
// counts in each period in which it may have an effect, and so does a watch event that is late. It
// is judged until faults have ended. For Always.
func AttemptsBounded(a Attempts) Property {
	return perRun(func() judge {
		s := newSeries(a)
		return judge{event: func(_ *history.History, e *history.Event) error {
			return s.take(e, func(name string, from, to history.Time, n int) error {
				faults := 0
				for _, at := range s.faults {
					if at >= from-a.Lag && at < to {
						faults++
					}
				}
				if s.Ended() == 0 && breaks("AttemptsBounded: one attempt too many", n > 1+faults) {
					return fmt.Errorf("%s: %d attempts from %s to %s, and %d faults; "+
						"one attempt more than faults is allowed",
						name, n, history.Clock(from), history.Clock(to), faults)
				}
				return nil
			})
		}}
	})
}

// AttemptsSettle holds if each period has one attempt once faults have ended and have no effect any
// more, and if another follows within the longest period, also after a start of a process. For
// Always. End faults, and then let several of the longest periods pass with [World.Sleep].
//
// [World.Sleep]: https://pkg.go.dev/github.com/wavetank/wavetank/sim#World.Sleep
func AttemptsSettle(a Attempts) Property {
	return perRun(func() judge {
		s := newSeries(a)
		return judge{
			event: func(_ *history.History, e *history.Event) error {
				return s.take(e, func(name string, from, to history.Time, _ int) error {
					if breaks("AttemptsSettle: another attempt in a period", s.Ended() > 0 && from >= s.Ended()+a.Lag) {
						return fmt.Errorf("%s: the attempt at %s was followed by another at %s, "+
							"in a period that ends at %s",
							name, history.Clock(from), history.Clock(e.At), history.Clock(to))
					}
					return nil
				})
			},
			now: func(h *history.History) error {
				for _, name := range slices.Sorted(maps.Keys(s.of)) {
					last := s.of[name][len(s.of[name])-1].At
					late := s.Ended() > 0 && h.Now() > max(last, s.Ended()+a.Lag, s.started)+a.Longest+a.Lag
					if breaks("AttemptsSettle: no attempt any more", late) {
						return fmt.Errorf("%s: the last attempt was at %s, and none has followed by %s; "+
							"one in %v is expected", name, history.Clock(last), history.Clock(h.Now()), a.Longest)
					}
				}
				return nil
			},
		}
	})
}

// series is the attempts of a run, by name.
type series struct {
	Attempts
	of      map[string][]Attempt
	until   map[string][]history.Time // when their periods end
	faults  []history.Time            // with watch events that were late
	commits map[revisionOf]history.Time
	started history.Time // when a process last started
}

func newSeries(a Attempts) *series {
	return &series{Attempts: a, of: map[string][]Attempt{}, until: map[string][]history.Time{},
		commits: map[revisionOf]history.Time{}}
}

// take reads an event. If it is an attempt, it has each period judged into which that falls: from
// when to when it lasts, and how many attempts it has by now.
func (s *series) take(e *history.Event, judge func(name string, from, to history.Time, n int) error) error {
	for _, c := range e.Changes {
		s.commits[revisionOf{c.Ref.Cluster, c.Revision}] = c.At
	}
	switch e.Kind {
	case history.Fault:
		s.faults = append(s.faults, e.At)
	case history.Deliver:
		if at, known := s.commits[revisionOf{e.Ref.Cluster, e.Revision}]; known && e.At-at > inTime {
			s.faults = append(s.faults, e.At)
		}
	case history.Start:
		s.started = e.At
	}
	name := s.Of(e)
	if name == "" {
		return nil
	}
	before := s.of[name]
	disturbed := len(before) > 0 && len(s.faults) > 0 && s.faults[len(s.faults)-1] > before[len(before)-1].At
	all := append(before, Attempt{e.At, e.Incarnation, disturbed})
	s.of[name], s.until[name] = all, append(s.until[name], e.At+s.Period(all))
	for i, a := range before {
		if to := s.until[name][i]; e.At < to {
			if err := judge(name, a.At, to, len(all)-i); err != nil {
				return err
			}
		}
	}
	return nil
}
