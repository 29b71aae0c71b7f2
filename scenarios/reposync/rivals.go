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

// tooLate is told of a write to a RepoSync that somebody else has written since it was read.
func (b *Books) tooLate(e *history.Event) {
	s := b.account(e.Ref)
	if s == nil || s.deleting == 0 {
		return
	}
	pass := e.Actor() + " " + e.Reconcile
	if s.lost[pass]++; s.lost[pass] >= tries {
		b.breaks(converges, "%s came too late for %s %d times in one go", e.Actor(), s, s.lost[pass])
	}
}

// tries are how many a writer of a finalizer needs at most.
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
