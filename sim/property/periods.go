package property

import (
	"fmt"
	"time"

	"github.com/wavetank/wavetank/history"
)

// CreatedEachPeriod holds if a controller creates one of the selected objects in each period, as a
// schedule of backups does. For Always.
//
//   - One is created within period + late of the one before, or within late of the last
//     disturbance if that is later. So late is the longest back-off to which faults lead.
//   - Since the schedule began, at most one is created for each period that has begun. One that was
//     missed because of a fault may be made up for.
//   - While suspended returns true none has to come: the schedule is suspended, or does not exist.
//     It begins again after that. If suspended is nil, it begins with the run.
//
// Let several periods pass with World.Sleep. Add [CreatedExactly] for a schedule that ends.
// docs/clock.md has a scenario.
func CreatedEachPeriod(selected history.Ref, period, late time.Duration,
	suspended func(*history.History) bool) Property {
	return perRun(func() judge {
		p := &periods{selected: selected, period: period, late: late, suspended: suspended, runs: suspended == nil}
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
	runs      bool         // the schedule does, since
	since     history.Time // this time
	number    int          // of those created since
	last      history.Ref  // of them
	created   history.Time
}

func (p *periods) event(_ *history.History, e *history.Event) error {
	if p.by(e) {
		p.disturbed = e.At
	}
	for _, c := range e.Changes {
		if c.Type != "ADDED" || !selects(p.selected, c.Ref) {
			continue
		}
		before := p.before(e.At)
		p.number, p.last, p.created = p.number+1, c.Ref, e.At
		periods := 1 + int((e.At-p.since+time.Second)/p.period) // objects have times of whole seconds
		if breaks("CreatedEachPeriod: one too many", p.runs && p.number > periods) {
			return fmt.Errorf("%s was created at %s by %s, %s: it is number %d since %s, in period %d of %v each",
				c.Ref, history.Clock(e.At), e.Actor(), before, p.number, history.Clock(p.since), periods, p.period)
		}
	}
	return nil
}

func (p *periods) now(h *history.History) error {
	if p.suspended != nil && p.suspended(h) {
		p.runs = false
		return nil
	}
	if !p.runs {
		p.runs, p.since, p.created, p.number, p.last = true, h.Now(), h.Now(), 0, history.Ref{}
	}
	if breaks("CreatedEachPeriod: none for too long", overdue(h, p.created+p.period, p.disturbed, p.late)) {
		return fmt.Errorf("no %s was created by %s, %s: one is expected in each %v", p.selected.Kind,
			history.Clock(h.Now()), p.before(h.Now()), p.period)
	}
	return nil
}

// before says what was created before, or when the schedule began.
func (p *periods) before(now history.Time) string {
	what := p.last.String()
	if p.number == 0 {
		what = "the beginning of the schedule"
	}
	return fmt.Sprintf("%v after %s at %s", now-p.created, what, history.Clock(p.created))
}

// CreatedExactly holds if exactly n of the selected objects have been created in the run, including
// those that were deleted since. For Eventually.
func CreatedExactly(selected history.Ref, n int) Property {
	return perRun(func() judge {
		created, last := 0, ""
		return judge{
			event: func(_ *history.History, e *history.Event) error {
				for _, c := range e.Changes {
					if c.Type == "ADDED" && selects(selected, c.Ref) {
						created, last = created+1, fmt.Sprintf("; the last was %s at %s", c.Ref, history.Clock(e.At))
					}
				}
				return nil
			},
			now: func(h *history.History) error {
				if breaks("CreatedExactly: another number", created != n) {
					return fmt.Errorf("%d objects of kind %s were created by %s: expected %d%s", created, selected.Kind,
						history.Clock(h.Now()), n, last)
				}
				return nil
			},
		}
	})
}
