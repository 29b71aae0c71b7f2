package property

import (
	"fmt"
	"time"

	"github.com/wavetank/wavetank/history"
)

// CreatedEachPeriod holds if a controller creates one of the selected objects in each period, as a
// schedule of backups does. For Always. late is how long one may take when nothing is wrong.
//
//   - One is created within period + late of the one before, or within late of the last
//     disturbance if that is later.
//   - Once two have come at that pace, the next follows after period − late at the earliest. One
//     that makes up for a time that was missed may be followed sooner.
//   - While suspended returns true none has to come: the schedule is suspended, or does not exist.
//     The first is expected within period + late after that. If suspended is nil, the first period
//     begins with the run.
//
// Let several periods pass with [World.Sleep]. Add [CreatedExactly] for a schedule that ends.
//
// [World.Sleep]: https://pkg.go.dev/github.com/wavetank/wavetank/sim#World.Sleep
func CreatedEachPeriod(selected history.Ref, period, late time.Duration,
	suspended func(*history.History) bool) Property {
	return perRun(func() judge {
		p := &periods{selected: selected, period: period, late: late, suspended: suspended}
		return judge{event: p.event, now: p.now}
	})
}

// periods follows the creations of the selected objects.
type periods struct {
	selected     history.Ref
	period, late time.Duration
	suspended    func(*history.History) bool

	disturbances
	disturbed history.Time
	runs      bool         // it was not suspended at the last judgement
	steady    bool         // the last two came at the pace of the schedule
	last      history.Ref  // that was created; none since it was suspended
	since     history.Time // that, or when the schedule began
}

func (p *periods) event(_ *history.History, e *history.Event) error {
	if p.by(e) {
		p.disturbed = e.At
	}
	for _, c := range e.Changes {
		if c.Type != "ADDED" || !selects(p.selected, c.Ref) {
			continue
		}
		gap := e.At - p.since
		if breaks("CreatedEachPeriod: another too soon", p.steady && gap < p.period-p.late) {
			return fmt.Errorf("%s was created at %s by %s, only %v after %s: at least %v must lie between them",
				c.Ref, history.Clock(e.At), e.Actor(), gap, p.last, p.period-p.late)
		}
		p.steady = p.last.Kind != "" && (gap-p.period).Abs() <= p.late
		p.last, p.since = c.Ref, e.At
	}
	return nil
}

func (p *periods) now(h *history.History) error {
	if p.suspended != nil && p.suspended(h) {
		p.runs, p.steady, p.last = false, false, history.Ref{}
		return nil
	}
	if !p.runs && p.suspended != nil {
		p.runs, p.since = true, h.Now()
	}
	if breaks("CreatedEachPeriod: none for too long", overdue(h, p.since+p.period, p.disturbed, p.late)) {
		before := "the schedule began at " + history.Clock(p.since)
		if p.last.Kind != "" {
			before = fmt.Sprintf("the last was %s at %s", p.last, history.Clock(p.since))
		}
		return fmt.Errorf("no %s was created by %s: %s, and %v + %v have passed since", p.selected.Kind,
			history.Clock(h.Now()), before, p.period, p.late)
	}
	return nil
}

// CreatedExactly holds if exactly n of the selected objects have been created in the run, including
// those that were deleted since. For Eventually.
func CreatedExactly(selected history.Ref, n int) Property {
	return perRun(func() judge {
		created := 0
		return judge{
			event: func(_ *history.History, e *history.Event) error {
				for _, c := range e.Changes {
					if c.Type == "ADDED" && selects(selected, c.Ref) {
						created++
					}
				}
				return nil
			},
			now: func(h *history.History) error {
				if breaks("CreatedExactly: another number", created != n) {
					return fmt.Errorf("%d objects of kind %s were created by %s: expected %d", created, selected.Kind,
						history.Clock(h.Now()), n)
				}
				return nil
			},
		}
	})
}
