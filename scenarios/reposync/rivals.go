// This file exists for who else writes a RepoSync, and what becomes of whoever comes too late for
// that.

package reposync

import (
	"time"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// write is one of those of a RepoSync.
type write struct {
	process string
	event   int // its index
}

func (s *account) wrote(e *history.Event) { s.writes = append(s.writes, write{e.Process, e.Index}) }

// tooLate is told of a write to a RepoSync that somebody else has written since it was read. Who
// looks again before it tries again is too late only as often as others write.
func (b *Books) tooLate(e *history.Event) {
	s := b.account(e.Ref)
	if s == nil || s.deleting == 0 {
		return
	}
	pass := e.Actor() + " " + e.Reconcile.String()
	s.lost[pass]++
	others := 0
	for _, w := range s.writes {
		if w.event > b.handouts[pass] && w.process != e.Process {
			others++
		}
	}
	if n := s.lost[pass]; n >= tries && others < n {
		b.breaks(converges, "%s came too late for %s %d times in one go, and others wrote it %d times meanwhile", e.Actor(), s, n, others)
	}
}

// tries are how many a writer needs at most who comes too late, unless others have written as
// often.
const tries = 3

// contested has a user delete the RepoSync or its namespace; others write the RepoSync all the
// while, by [rivals].
func contested(s *Story) {
	if sim.Draw(s.World, "the namespace is deleted", rapid.Bool()) {
		deletesNamespace(s)
		return
	}
	deletesSync(s)
}

// rivals write the RepoSync just before the operator does.
func rivals() []fault.Fault {
	return []fault.Fault{
		fault.StaleCache(10 * time.Second),
		fault.Conflict(fault.In(Manager), fault.OfKind("RepoSync")),
		fault.Conflict(fault.In(reposync.ReconcilerName(shop)), fault.OfKind("RepoSync")),
	}
}
